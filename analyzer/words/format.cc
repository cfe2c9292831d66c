// SPDX-License-Identifier: Apache-2.0
#include "analyzer/words/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "traces/base/json_text.h"

namespace penstock::analyzer {
namespace {

bool Continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u;
}

// The first character of a text in UTF-8. Requires: text is not empty.
std::string_view FirstLetter(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && Continues(text[length])) ++length;
  return text.substr(0, length);
}

// Whether a terminal shows a character in two columns: Chinese, Japanese, Korean, pictures.
// Source: Unicode's EastAsianWidth.txt, by blocks.
bool IsWide(std::string_view letter) {
  std::uint32_t code = 0;
  for (const char c : letter.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  const auto lead = static_cast<unsigned char>(letter.front());
  if (letter.size() == 3) code |= (lead & 0x0fu) << 12;
  if (letter.size() == 4) code |= (lead & 0x07u) << 18;
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 8> kWide = {
      std::pair{0x1100u, 0x115fu}, {0x2e80u, 0xa4cfu}, {0xac00u, 0xd7a3u}, {0xf900u, 0xfaffu},
      {0xfe30u, 0xfe6fu},          {0xff00u, 0xff60u}, {0xffe0u, 0xffe6u}, {0x1f300u, 0x3fffdu}};
  return letter.size() >= 3 && std::any_of(kWide.begin(), kWide.end(), [&](const auto& block) {
           return code >= block.first && code <= block.second;
         });
}

// The columns that a text takes on a terminal.
std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::string_view letter = FirstLetter(text);
    columns += IsWide(letter) ? std::size_t{2} : std::size_t{1};
    text.remove_prefix(letter.size());
  }
  return columns;
}

}  // namespace

std::string DurationText(double seconds) {
  if (seconds <= 0) return "0 s";
  const auto three = [](double value, std::string_view unit) {
    const int digits = value < 9.995 ? 2 : (value < 99.95 ? 1 : 0);
    return fmt::format("{:.{}f} {}", value, digits, unit);
  };
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return three(seconds * 1e6, "us");
  if (seconds < 1) return three(seconds * 1e3, "ms");
  return three(seconds, "s");
}

std::string TimeAheadText(double seconds, Language language) {
  const bool chinese = language == Language::kChinese;
  if (seconds < 120) return fmt::format("{:.0f} {}", seconds, chinese ? "秒" : "s");
  if (seconds < 7200) return fmt::format("{:.0f} {}", seconds / 60, chinese ? "分钟" : "min");
  if (seconds < 2 * 86400) {
    return fmt::format("{:.1f} {}", seconds / 3600, chinese ? "小时" : "h");
  }
  return fmt::format("{:.1f} {}", seconds / 86400, chinese ? "天" : "days");
}

std::string InParentheses(std::string_view text, Language language) {
  return language == Language::kChinese ? fmt::format("（{}）", text) : fmt::format(" ({})", text);
}

std::string_view Comma(Language language) {
  return language == Language::kChinese ? "，" : ", ";
}

std::string_view Colon(Language language) {
  return language == Language::kChinese ? "：" : ": ";
}

std::string_view SentenceGap(Language language) {
  return language == Language::kChinese ? "" : " ";
}

std::string TimesText(double times) {
  return times > kMostTimes ? fmt::format(">{:.0f}", kMostTimes) : fmt::format("{:.2f}", times);
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0),
                     kUnits[unit]);
}

std::string CountedText(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string BytesText(double bytes) {
  return BytesText(static_cast<std::uint64_t>(std::min(std::max(0.0, bytes), 1e19)));
}

std::string PercentText(double fraction) {
  const double percent = 100 * fraction;
  const double from_end = std::min(percent, 100 - percent);
  const bool exact = from_end < 0.005;  // beyond 0 and 100 too
  const int digits = exact ? 0 : from_end < 0.05 ? 2 : percent < 0.95 || percent > 99 ? 1 : 0;
  return fmt::format("{:.{}f} %", percent, digits);
}

std::string PlainText(std::string_view text, std::size_t most) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t length = ShownLength(text);
    plain.append(length > 0 ? text.substr(0, length) : std::string_view("?"));
    text.remove_prefix(std::max<std::size_t>(length, 1));
    // Skips the rest of a character that is not shown.
    while (length == 0 && !text.empty() && Continues(text[0])) text.remove_prefix(1);
  }
  if (ColumnsOf(plain) <= most) return plain;
  const std::size_t room = most > 3 ? most - 3 : 0;
  std::size_t cut = 0;
  for (std::size_t column = 0;;) {
    const std::string_view letter = FirstLetter(std::string_view(plain).substr(cut));
    column += ColumnsOf(letter);
    if (column > room) return plain.substr(0, cut) + "...";
    cut += letter.size();
  }
}

std::string PathText(std::string_view path, std::size_t most) {
  const std::string plain = PlainText(path, std::string_view::npos);
  std::string_view rest = plain;
  std::size_t columns = ColumnsOf(rest);
  if (columns <= most) return plain;
  const std::size_t room = most > 3 ? most - 3 : 0;
  while (columns > room) {
    const std::string_view letter = FirstLetter(rest);
    columns -= ColumnsOf(letter);
    rest.remove_prefix(letter.size());
  }
  return "..." + std::string(rest);
}

std::string Typeset(std::string text) {
  const std::string_view first = std::string_view(text).substr(0, text.find(' '));
  const bool name = first.find_first_of("_./=()0123456789") != std::string_view::npos;
  if (!text.empty() && !name && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  for (std::size_t at = text.find(" -> "); at != std::string::npos; at = text.find(" -> ", at)) {
    text.replace(at, 4, " → ");
  }
  return text;
}

std::string RowLabel(std::string_view label) {
  return fmt::format("  {:<13}", label);
}

std::string Labelled(std::string_view label, std::string_view text) {
  return text.empty() ? "" : RowLabel(label) + Wrapped(text, kTextWidth, kTextIndent) + "\n";
}

std::string Wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    std::size_t space = text.find(' ');
    if (space != std::string_view::npos && text.substr(space + 1, 1) == "%") {
      space = text.find(' ', space + 1);
    }
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const std::size_t columns = ColumnsOf(word);
    if (column > 0 && column + 1 + columns > width) {
      lines += '\n';
      lines += indent;
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns;
  }
  return lines;
}

std::string Paint::Wrap(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace penstock::analyzer
