// SPDX-License-Identifier: Apache-2.0
//
// What --override may change of a run from outside, and how each thing is changed: by a variable of
// the command's environment, by a library in front of libc, or by the Python hooks. Nothing
// outlives the command. Values; pure but for FindAllocator(), which looks for a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/base/result.h"

namespace penstock::record {

struct Override {
  std::string key;
  std::string value;
};

// "workers=8,threads=1,malloc=keep", each key once.
// `cores`: those that the run may use, as CpuList() writes them; empty: any.
// Errors: kUsage, one line that names the part that is wrong and what would be right.
[[nodiscard]] Result<std::vector<Override>> ParseOverrides(std::string_view text,
                                                           const std::vector<int>& cores);

// As ParseOverrides() reads it.
[[nodiscard]] std::string OverridesText(const std::vector<Override>& overrides);

using Variables = std::vector<std::pair<std::string, std::string>>;

// The variables that `overrides` set. A library's own key stands above threads=N.
[[nodiscard]] Variables OverriddenVariables(const std::vector<Override>& overrides);
// Those of one key: what its fact says was applied; empty for what the Python hooks apply.
[[nodiscard]] Variables VariablesOf(const Override& one);

// The value of `key`; "" without it.
[[nodiscard]] std::string ValueOf(const std::vector<Override>& overrides, std::string_view key);

// The path of "jemalloc" or "tcmalloc" in the first of `folders` that has it.
// Errors: kUsage: it is installed in none of them.
[[nodiscard]] Result<std::string> FindAllocator(std::string_view name,
                                                const std::vector<std::string>& folders);
// Where libraries lie on this machine: LD_LIBRARY_PATH, an environment of conda, the system's.
[[nodiscard]] std::vector<std::string> LibraryFolders(const char* library_path,
                                                      const char* conda_prefix);

// LD_PRELOAD with `allocator` behind what is there and before the agent, which is added later.
// Errors: kUsage: something that serves malloc() is there already.
[[nodiscard]] Result<std::string> PreloadAllocator(std::string_view preload,
                                                   const std::string& allocator);

}  // namespace penstock::record
