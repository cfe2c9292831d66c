// SPDX-License-Identifier: Apache-2.0
//
// Finds the agent, under a path that LD_PRELOAD takes.
#pragma once

#include <functional>
#include <string>

namespace penstock::record {

// The folder of this program.
[[nodiscard]] std::string OwnFolder();

// Returns a folder of this user alone for links to agents, and makes it if need be:
// `runtime_folder`/penstock (`runtime_folder` is XDG_RUNTIME_DIR or null), or, if another user owns
// that or could write there, /tmp/penstock-UID. "" if another user could write to both.
[[nodiscard]] std::string LinkFolder(const char* runtime_folder);

// Returns the path of the agent: `named` (PENSTOCK_AGENT) if it is not null or empty, else the
// agent in ../lib/ or ../lib/penstock/ as seen from `own_folder`. ld.so splits its list at blanks
// and colons and knows no quotes. So if the path has one of these, a link to the agent's folder,
// which also holds its Python half, is made in `link_folder()`, and the path through that link is
// returned. "" if there is no agent, or no link can be made.
[[nodiscard]] std::string FindAgent(const char* named, const std::string& own_folder,
                                    const std::function<std::string()>& link_folder);

}  // namespace penstock::record
