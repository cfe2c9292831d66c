// SPDX-License-Identifier: Apache-2.0
//
// Text as JSON and CSV fields, and for a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

// Appends `text` in quotes. Control characters are escaped; bytes that are not UTF-8 (paths may
// hold any) become U+FFFD.
void AppendJson(std::string& out, std::string_view text);

// `text` with what is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string ToUtf8(std::string_view text);

// Length of the character at the front of `text`, 0 if it is none that may be shown: bytes that are
// not UTF-8, control characters (C0, DEL, C1) and what turns the direction of text around mean
// something to a terminal or hide what stands there. Requires: text is not empty.
[[nodiscard]] std::size_t ShownLength(std::string_view text);

// `text` on one line, with what may not be shown as "\x1b".
[[nodiscard]] std::string VisibleText(std::string_view text);

// Appends `text` as a field by RFC 4180: in quotes where it must be. What may not be shown is
// written as by VisibleText(), but for line ends and tabs; an apostrophe goes before what a
// spreadsheet would calculate (=1+1), unless it is a number.
void AppendCsv(std::string& out, std::string_view text);

}  // namespace penstock
