// SPDX-License-Identifier: Apache-2.0
//
// Text for JSON and CSV fields, and for a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

// Appends `text` in quotes. The control characters of ASCII are escaped; invalid UTF-8 (paths may
// contain any bytes) becomes U+FFFD.
void AppendJson(std::string& out, std::string_view text);

// `text` with invalid UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string ToUtf8(std::string_view text);

// Length in bytes of the character at the front of `text`; 0 if it must not be shown. Not shown are
// invalid UTF-8, control characters (C0, DEL, C1), separators of lines and paragraphs (U+2028,
// U+2029), and marks that set the direction of text: they control a terminal, or hide what is
// there. Requires: text is not empty.
[[nodiscard]] std::size_t ShownLength(std::string_view text);

// `text` on one line; characters that must not be shown become escapes such as "\x1b".
[[nodiscard]] std::string VisibleText(std::string_view text);

// Appends `text` as a field by RFC 4180, in quotes if needed. Characters that must not be shown are
// written as by VisibleText(), except line feeds and tabs. An apostrophe goes before text that a
// spreadsheet would calculate (=1+1). Text that has only characters of numbers gets no apostrophe:
// -0.5, but also -1-1.
void AppendCsv(std::string& out, std::string_view text);

}  // namespace penstock
