// SPDX-License-Identifier: Apache-2.0
//
// Small text files with lines "key=value", which hold settings and marks.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "traces/base/result.h"

namespace penstock::gui {

// Calls `take` for every line that contains "=", in order. The views point into `text`.
void ForEachSetting(std::string_view text,
                    const std::function<void(std::string_view key, std::string_view value)>& take);

// Reads the first 64 KiB of a file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::filesystem::path& path);
// Writes a file whole or not at all, and makes its folder if there is none. Errors: kOutput.
[[nodiscard]] Result<void> WriteSmallFile(const std::filesystem::path& path,
                                          const std::string& text);

}  // namespace penstock::gui
