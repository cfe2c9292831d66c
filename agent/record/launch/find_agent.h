// SPDX-License-Identifier: Apache-2.0
//
// Where the agent lies, by a path that LD_PRELOAD takes.
#pragma once

#include <functional>
#include <string>

namespace penstock::record {

// The folder of this program.
[[nodiscard]] std::string OwnFolder();

// A folder of this user alone for links to agents: `runtime_folder` (XDG_RUNTIME_DIR, may be null)
// /penstock, else (another user owns it or could write there) /tmp/penstock-UID; made if need be.
// "" if another user could write there too.
[[nodiscard]] std::string LinkFolder(const char* runtime_folder);

// The agent: `named` (PENSTOCK_AGENT) if it is not null or empty, else ../lib/ or ../lib/penstock/
// from `own_folder`. ld.so splits its list at blanks and colons and knows no quotes, so a path with
// one of them is given as a link in `link_folder()` to the agent's folder, where its Python half is
// too; it is asked for only then. "" if there is none, or no link can be made.
[[nodiscard]] std::string FindAgent(const char* named, const std::string& own_folder,
                                    const std::function<std::string()>& link_folder);

}  // namespace penstock::record
