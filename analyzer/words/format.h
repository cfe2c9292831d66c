// SPDX-License-Identifier: Apache-2.0
//
// Numbers and quantities in the form in which people read them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/words/message.h"

namespace penstock::analyzer {

[[nodiscard]] std::string DurationText(double seconds);  // "1.23 ms"
// "42 min", "5.2 h", "3.0 days"; "3.0 天".
[[nodiscard]] std::string TimeAheadText(double seconds, Language language);
[[nodiscard]] std::string BytesText(std::uint64_t bytes);  // "12.3 MB", powers of 1000
[[nodiscard]] std::string BytesText(double bytes);         // as above; negative values count as 0
[[nodiscard]] std::string CountedText(std::int64_t count,
                                      std::string_view noun);  // "1 worker", "2 workers"
// "61 %"; near the ends "0.4 %", "99.8 %", so that "0 %" is nothing and "100 %" is all.
[[nodiscard]] std::string PercentText(double fraction);
// Ratios: "1.83", or ">20" above kMostTimes, where no figure is worth its digits.
inline constexpr double kMostTimes = 20;
[[nodiscard]] std::string TimesText(double times);
// A rate with three figures: "412", "7.83", "0.12".
[[nodiscard]] std::string ShortNumber(double value);
// `text` with "?" in the place of control characters (from file names and commands), cut to `most`
// columns of a terminal. A Chinese character takes two.
[[nodiscard]] std::string PlainText(std::string_view text, std::size_t most);
// The same for a path. Its beginning is cut off, because paths differ most at the end.
[[nodiscard]] std::string PathText(std::string_view path, std::size_t most);
// `text` broken at spaces into lines of `width` columns; every line after the first begins with
// `indent`. A longer word, such as a path to paste, stays whole, and "%" stays with its number.
[[nodiscard]] std::string Wrapped(std::string_view text, std::size_t width,
                                  std::string_view indent);

// `text` in parentheses after another text, with the parentheses of the language: " (text)",
// "（text）".
[[nodiscard]] std::string InParentheses(std::string_view text, Language language);
// Comma() separates two parts of a text: ", " or "，". Colon() follows a label: ": " or "：".
// SentenceGap() stands between two sentences: a blank in English, nothing in Chinese.
[[nodiscard]] std::string_view Comma(Language language);
[[nodiscard]] std::string_view Colon(Language language);
[[nodiscard]] std::string_view SentenceGap(Language language);

// A sentence as it is printed: it begins with a capital letter, unless it begins with a name, and
// has real arrows.
[[nodiscard]] std::string Typeset(std::string text);

// The layout of a report on a terminal. It is kColumns wide, the usual width of a terminal. It has
// a column of labels, and next to it text in lines of kTextWidth columns.
inline constexpr std::size_t kColumns = 80;
inline constexpr std::string_view kTextIndent = "               ";  // as wide as a RowLabel()
inline constexpr std::size_t kTextWidth = kColumns - kTextIndent.size();
[[nodiscard]] std::string RowLabel(std::string_view label);
// A label with its text next to it and a line break at the end; "" if there is no text.
[[nodiscard]] std::string Labelled(std::string_view label, std::string_view text);

// Adds terminal colours to texts if it is on; otherwise leaves texts as they are.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  [[nodiscard]] std::string Bold(std::string_view text) const { return Wrap("1", text); }
  [[nodiscard]] std::string Red(std::string_view text) const { return Wrap("31", text); }
  [[nodiscard]] std::string Yellow(std::string_view text) const { return Wrap("33", text); }
  [[nodiscard]] std::string Green(std::string_view text) const { return Wrap("32", text); }
  [[nodiscard]] std::string Dim(std::string_view text) const { return Wrap("2", text); }

 private:
  [[nodiscard]] std::string Wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

}  // namespace penstock::analyzer
