// SPDX-License-Identifier: Apache-2.0
//
// Subcommands that live in other programs: `penstock NAME` runs penstock-NAME beside itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penstock::analyzer {

// Folder of the running program; empty if it is not known.
[[nodiscard]] std::filesystem::path OwnFolder();

// Names of the penstock-NAME programs in `folder`, sorted.
[[nodiscard]] std::vector<std::string> FindExternals(const std::filesystem::path& folder);

// Replaces this process by penstock-`name` of `folder`, with `arguments`. Returns only on failure,
// for example if `folder` is empty. It then returns the exit status, after one line on standard
// error.
[[nodiscard]] int RunExternal(const std::filesystem::path& folder, const std::string& name,
                              const std::vector<std::string>& arguments);

}  // namespace penstock::analyzer
