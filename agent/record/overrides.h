// SPDX-License-Identifier: Apache-2.0
//
// The values that --override may change in a run from outside. They are changed by environment
// variables of the command, by a library that is preloaded, by the Python hooks, or (warm=1) by the
// launcher before the command starts. No change remains after the command.
// Values. Pure, except FindAllocator(), which looks for a file.
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

// Parses "workers=8,threads=1,malloc=keep"; each key may come once. `cores`: numbers of the cores
// that the run may use; empty: any.
// Errors: kUsage, with one line that names the wrong part and what would be right.
[[nodiscard]] Result<std::vector<Override>> ParseOverrides(std::string_view text,
                                                           const std::vector<int>& cores);

// The text that ParseOverrides() reads.
[[nodiscard]] std::string OverridesText(const std::vector<Override>& overrides);

using Variables = std::vector<std::pair<std::string, std::string>>;

// The variables that `overrides` set. A key for one variable has priority over threads=N and
// malloc=keep, which set several.
[[nodiscard]] Variables OverriddenVariables(const std::vector<Override>& overrides);
// The variables of one key; empty if the Python hooks apply it.
[[nodiscard]] Variables VariablesOf(const Override& one);

// The value of `key`; "" if it is not given.
[[nodiscard]] std::string ValueOf(const std::vector<Override>& overrides, std::string_view key);

// The path of "jemalloc" or "tcmalloc" in the first of `folders` that has it and that LD_PRELOAD
// can name. Errors: kUsage if there is none.
[[nodiscard]] Result<std::string> FindAllocator(std::string_view name,
                                                const std::vector<std::string>& folders);
// The folders of libraries on this machine: those in LD_LIBRARY_PATH, those of a conda environment,
// and those of the system.
[[nodiscard]] std::vector<std::string> LibraryFolders(const char* library_path,
                                                      const char* conda_prefix);

// LD_PRELOAD with `allocator` appended; the agent is added after it, later.
// Errors: kUsage if LD_PRELOAD has an allocator already.
[[nodiscard]] Result<std::string> PreloadAllocator(std::string_view preload,
                                                   const std::string& allocator);

}  // namespace penstock::record
