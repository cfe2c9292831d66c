// SPDX-License-Identifier: Apache-2.0
//
// Finds the agent, under a path that LD_PRELOAD takes.
#pragma once

#include <functional>
#include <string>

namespace penstock::record {

// The folder of this program.
[[nodiscard]] std::string OwnFolder();

// Returns a folder for links to agents. Only this user can write into it. Makes it if it does not
// exist. It is penstock in `runtime_folder` (XDG_RUNTIME_DIR or null), or /tmp/penstock-UID if
// `runtime_folder` is null, if others can write into it, or if LD_PRELOAD cannot name it. Returns
// "" if the folder cannot be made, or others can write into it.
[[nodiscard]] std::string LinkFolder(const char* runtime_folder);

// Returns the path of the agent: `named` (PENSTOCK_AGENT) if it is not null or empty, else the
// agent in ../lib/ or ../lib/penstock/ as seen from `own_folder`. ld.so splits its list at blanks
// and colons and knows no quotes. So if the path has a blank or a colon, makes a link in
// `link_folder()` to the agent's folder (which also holds the agent's Python half), and returns the
// path through that link. "" if there is no agent, no link can be made, or the file's own name has
// a blank or a colon.
[[nodiscard]] std::string FindAgent(const char* named, const std::string& own_folder,
                                    const std::function<std::string()>& link_folder);

}  // namespace penstock::record
