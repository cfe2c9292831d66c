// SPDX-License-Identifier: Apache-2.0
//
// Small text files such as those of /proc and /sys, and the words in them. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// The contents of a small file, cut at `limit`; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> ReadFile(const std::string& path,
                                                  std::size_t limit = 4u << 20);
// `text` without the spaces, tabs and line ends around it.
[[nodiscard]] std::string_view Trimmed(std::string_view text);
// Nothing if `text` is not a whole number in decimal digits, or is 2^64 or more.
[[nodiscard]] std::optional<std::uint64_t> ParseNumber(std::string_view text);
// The lines of `text` without their line feeds, as views of `text`.
[[nodiscard]] std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace penstock
