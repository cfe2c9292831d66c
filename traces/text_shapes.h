// SPDX-License-Identifier: Apache-2.0
//
// What a piece of text looks like: a number, an address of the network, the scheme of a URL, code.
// An anonymous trace decides by it what to replace. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace penstock::traces {

[[nodiscard]] constexpr bool IsDecimal(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool IsCapital(char c) {
  return c >= 'A' && c <= 'Z';
}
// Letters beyond ASCII belong to names.
[[nodiscard]] constexpr bool BeginsName(char c) {
  return (c >= 'a' && c <= 'z') || IsCapital(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
[[nodiscard]] constexpr bool ContinuesName(char c) {
  return BeginsName(c) || IsDecimal(c);
}

// "17", "0.5", "1,2-3", "12:30:05"; false for an address.
[[nodiscard]] bool IsNumberWord(std::string_view text);

// The size of the IP address that begins at `at`: "10.12.0.5", "fe80::1%eth0"; 0 if none does. Four
// or more numbers with dots between them count as an address; they may be a version.
[[nodiscard]] std::size_t AddressAt(std::string_view text, std::size_t at);

// "s3" of "s3://bucket/key"; empty if what is in front of "://" is no scheme. Source: RFC
// 3986, 3.1.
[[nodiscard]] std::string_view SchemeOf(std::string_view text);

// Where ":17" of "train.py:17" begins; the size of the text if it has no line number.
[[nodiscard]] std::size_t LineNumberAt(std::string_view path);

// What the interpreter puts in the place of a file or a function: "<frozen os>", "<lambda>".
[[nodiscard]] bool IsInterpreterMark(std::string_view text);

// Whether a word of a command line is code, JSON or prose: it has a quote, a blank, a
// bracket or one of <>;|\ . A path from the root may have blanks.
[[nodiscard]] bool IsCode(std::string_view word);
// Blanks and control characters.
[[nodiscard]] bool HasBlank(std::string_view word);

// One of ten units such as "MB/s".
[[nodiscard]] bool IsRate(std::string_view word);

[[nodiscard]] std::vector<std::string_view> SplitAt(std::string_view text, char at);

}  // namespace penstock::traces
