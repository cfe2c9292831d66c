// SPDX-License-Identifier: Apache-2.0
//
// Reads values of JSON for importers, through simdjson's on-demand interface. Numbers may be
// written as strings. Word() throws simdjson::simdjson_error if the text is malformed. Threads:
// any, each with its own parser.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "traces/base/units.h"

namespace penstock::traces {

// The text of a string without its quotes, or a number, true, false or null as it is written. Valid
// until the parser reads the next document.
inline std::string_view Word(simdjson::ondemand::value value) {
  if (value.type() == simdjson::ondemand::json_type::string) return value.get_string();
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

// The integer part of a number; `otherwise` if the word is not a number or is out of range.
inline std::int64_t Whole(std::string_view word, std::int64_t otherwise) {
  std::int64_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec == std::errc() && read.ptr == word.data() + word.size()) return number;
  double real = 0;
  const auto again = std::from_chars(word.data(), word.data() + word.size(), real);
  const bool fits =
      again.ec == std::errc() && again.ptr == word.data() + word.size() && std::abs(real) < 9e18;
  return fits ? static_cast<std::int64_t>(real) : otherwise;
}

// The offset after the object or array that begins at `at`; npos if it does not end. Looks only at
// brackets and quotes, so the text may be malformed. Requires: text[at] is '{' or '['.
inline std::size_t EndOfValue(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Microseconds, possibly with a fraction, as nanoseconds. Below zero if the word is not a number,
// or if the number is negative or too large. Computed as a double only if the word has an exponent:
// the last bit of a double would be 0.25 us for a time since 1970.
inline TimeNs Microseconds(std::string_view word) {
  const std::size_t point = word.find('.');
  constexpr std::int64_t kMost = std::int64_t{1} << 51;  // us; the sum of two fits 64 bits of ns
  if (word.empty() || word.find_first_of("eE") != std::string_view::npos) {
    double real = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), real);
    const bool fits =
        read.ptr == word.data() + word.size() && real >= 0 && real <= static_cast<double>(kMost);
    return TimeNs{fits ? static_cast<std::int64_t>(real * 1000) : -1};
  }
  const std::int64_t whole = Whole(word.substr(0, point), -1);
  if (whole < 0 || whole > kMost || word.front() == '-') return TimeNs{-1};
  if (point != std::string_view::npos &&
      word.find_first_not_of("0123456789", point + 1) != std::string_view::npos) {
    return TimeNs{-1};
  }
  std::int64_t fraction = 0;
  for (std::size_t i = 1; i <= 3; ++i) {
    const std::size_t at = point == std::string_view::npos ? word.size() : point + i;
    const bool digit = at < word.size() && word[at] >= '0' && word[at] <= '9';
    fraction = fraction * 10 + (digit ? word[at] - '0' : 0);
  }
  return TimeNs{whole * 1000 + fraction};
}

}  // namespace penstock::traces
