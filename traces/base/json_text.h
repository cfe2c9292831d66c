// SPDX-License-Identifier: Apache-2.0
//
// Text as JSON and CSV fields. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// Appends `text` in quotes. Control characters are escaped; bytes that are not UTF-8 (paths may
// hold any) become U+FFFD.
void AppendJson(std::string& out, std::string_view text);

// `text` with what is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string ToUtf8(std::string_view text);

// Appends `text` as a field by RFC 4180: in quotes where it must be.
void AppendCsv(std::string& out, std::string_view text);

}  // namespace penstock
