// SPDX-License-Identifier: Apache-2.0
//
// Small text files of "key=value" lines, which settings and marks are kept in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "traces/base/result.h"

namespace penstock::gui {

// Calls `take` for every line with a "=" in it, in their order; views are of `text`.
void ForEachSetting(std::string_view text,
                    const std::function<void(std::string_view key, std::string_view value)>& take);

// The first 64 KiB of a file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::filesystem::path& path);
// Makes its folder where there is none; the file is whole or not there. Errors: kOutput.
[[nodiscard]] Result<void> WriteSmallFile(const std::filesystem::path& path,
                                          const std::string& text);

}  // namespace penstock::gui
