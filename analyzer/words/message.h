// SPDX-License-Identifier: Apache-2.0
//
// A message: a text with places for values, in English and Chinese side by side. Messages stand in
// the tables of this folder. The compiler reads each message and refuses it if it is malformed or
// lacks a language.
//
//   {name:kind}   a value; kinds are those of FormatKind, below
//   [text]        the text is left out if a value in it is missing
//   [name?a|b]    a if the flag `name` is true or the value `name` is present; else b, or nothing
//   \[            a literal bracket or brace
//
// In Chinese, a space comes between a Latin letter, a digit or "%" and a Chinese character where
// one of them is of a value or of another clause.
//
// Both languages have the same values and conditions, so that neither says less than the other. If
// only English grammar needs a condition, such as "one" in "[one?is|are]", its name is the
// message's fourth argument.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace penstock::analyzer {

enum class Language : std::uint8_t { kEnglish, kChinese };

// How a value is written.
enum class FormatKind : std::uint8_t {
  kText,      // {x:text}: as it is, in both languages
  kName,      // {x:name}: the name of a stage, factor or rule in the language (NameIn())
  kWords,     // {x:words}: a statement, or several one after the other
  kSentence,  // {x:sentence}: as kWords, at the beginning of a sentence
  kCount,     // {x:count}: 12; {x:count worker}: 1 worker, 2 workers
  kFixed,     // {x:.2}: 1.23; {x:+.1}: +1.2
  kGeneral,   // {x:3g}: three significant digits
  kPercent,   // {x:percent}, {x:%0}: PercentText(); {x:%1}, {x:%+0}: 1, 0 decimals
  kDuration,  // {x:duration}: 1.23 ms
  kAhead,     // {x:ahead}: 42 min
  kBytes,     // {x:bytes}: 12.3 MB
  kRate,      // {x:rate}: 412, 7.83: three figures
  kTimes,     // {x:times}: 1.83; >20 above kMostTimes
};

struct Format {
  FormatKind kind = FormatKind::kText;
  double scale = 1;
  int digits = -1;  // -1: as many as the kind usually has
  bool sign = false;
  std::string_view noun{};  // the counted noun
};

struct ValuePlace {
  std::string_view name;
  Format format;
};

// Reads the text after the colon of a value. A unit at its beginning scales the value: "ms.1" shows
// seconds as milliseconds, "MB.0" and "GB2g" show bytes as megabytes and gigabytes.
[[nodiscard]] constexpr std::optional<Format> ParseFormat(std::string_view text) {
  using Named = std::pair<std::string_view, FormatKind>;
  for (const auto& [name, kind] :
       {Named{"text", FormatKind::kText}, Named{"name", FormatKind::kName},
        Named{"words", FormatKind::kWords}, Named{"sentence", FormatKind::kSentence},
        Named{"percent", FormatKind::kPercent}, Named{"bytes", FormatKind::kBytes},
        Named{"duration", FormatKind::kDuration}, Named{"ahead", FormatKind::kAhead},
        Named{"rate", FormatKind::kRate}, Named{"count", FormatKind::kCount},
        Named{"times", FormatKind::kTimes}}) {
    if (text == name) return Format{.kind = kind};
  }
  if (text.substr(0, 6) == "count ")
    return Format{.kind = FormatKind::kCount, .noun = text.substr(6)};
  Format format;
  if (text.substr(0, 1) == "%") {
    format = {.kind = FormatKind::kPercent, .scale = 100};
    text.remove_prefix(1);
  } else {
    using Unit = std::pair<std::string_view, double>;
    for (const auto& [unit, scale] :
         {Unit{"ms", 1e3}, Unit{"ns", 1e9}, Unit{"kB", 1e-3}, Unit{"MB", 1e-6}, Unit{"GB", 1e-9}}) {
      if (text.substr(0, 2) != unit) continue;
      format.scale = scale;
      text.remove_prefix(2);
    }
  }
  if (text.substr(0, 1) == "+") {
    format.sign = true;
    text.remove_prefix(1);
  }
  const bool percent = format.kind == FormatKind::kPercent;
  if (!percent && text.size() == 2 && text[1] == 'g') {
    format.kind = FormatKind::kGeneral;
  } else if (!percent && text.size() == 2 && text[0] == '.') {
    format.kind = FormatKind::kFixed;
    text.remove_prefix(1);
  } else if (!percent || text.size() != 1) {
    return std::nullopt;
  }
  if (text[0] < '0' || text[0] > '9') return std::nullopt;
  format.digits = text[0] - '0';
  return format;
}

// Reads "name:kind", the text between the braces.
[[nodiscard]] constexpr std::optional<ValuePlace> ParsePlace(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto format = ParseFormat(text.substr(colon + 1));
  if (!format) return std::nullopt;
  return ValuePlace{text.substr(0, colon), *format};
}

// The size of the bracket that opens at text[0], and the parts within it.
struct TextClause {
  std::string_view flag;  // the condition's name; "" if there is none
  std::string_view yes;
  std::string_view no;
  std::size_t size = 0;  // 0: the bracket does not end
};

[[nodiscard]] constexpr TextClause ParseClause(std::string_view text) {
  TextClause clause;
  std::size_t begin = 1;
  while (begin < text.size() &&
         ((text[begin] >= 'a' && text[begin] <= 'z') || text[begin] == '_')) {
    ++begin;
  }
  if (begin > 1 && begin < text.size() && text[begin] == '?') {
    clause.flag = text.substr(1, begin - 1);
    ++begin;
  } else {
    begin = 1;
  }
  int depth = 0;
  std::size_t bar = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '[') ++depth;
    if (text[i] == '|' && depth == 0 && bar == 0 && !clause.flag.empty()) bar = i;
    if (text[i] != ']' || depth-- > 0) continue;
    clause.yes = text.substr(begin, (bar > 0 ? bar : i) - begin);
    if (bar > 0) clause.no = text.substr(bar + 1, i - bar - 1);
    clause.size = i + 1;
    return clause;
  }
  return clause;
}

// Calls use(ValuePlace, guarded) for each value of `text`, and flag(name) for each condition.
// `guarded`: whether the value is in a bracket. Returns false if `text` is malformed.
template <class Use, class Flag>
constexpr bool ForEachPlace(std::string_view text, bool guarded, const Use& use, const Flag& flag) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && ++i < text.size()) continue;
    if (text[i] == ']' || text[i] == '}') return false;
    if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) return false;
      const auto place = ParsePlace(text.substr(i + 1, end - i - 1));
      if (!place) return false;
      use(*place, guarded);
      i = end;
    } else if (text[i] == '[') {
      const TextClause clause = ParseClause(text.substr(i));
      if (clause.size == 0) return false;
      if (!clause.flag.empty()) flag(clause.flag);
      if (!ForEachPlace(clause.yes, true, use, flag)) return false;
      if (!ForEachPlace(clause.no, true, use, flag)) return false;
      i += clause.size - 1;
    }
  }
  return true;
}

// The names of the values and conditions of a text. With this list, the compiler's work is in
// proportion to the length of the text; clang allows a million steps for a constant.
struct NameList {
  static constexpr std::size_t kMost = 32;
  std::array<std::string_view, kMost> names{};
  std::size_t count = 0;

  [[nodiscard]] constexpr bool Has(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == name) return true;
    }
    return false;
  }
  constexpr void Add(std::string_view name) {
    if (!Has(name)) names.at(count++) = name;
  }
};

// Requires: `text` is not malformed.
[[nodiscard]] constexpr NameList NamesOf(std::string_view text) {
  NameList list;
  ForEachPlace(
      text, false, [&](const ValuePlace& place, bool) { list.Add(place.name); },
      [&](std::string_view flag) { list.Add(flag); });
  return list;
}

// Whether `other` has all values and conditions of `text`; the name `but` need not be there.
[[nodiscard]] constexpr bool HasAllNames(const NameList& other, const NameList& text,
                                         std::string_view but = "") {
  for (std::size_t i = 0; i < text.count; ++i) {
    if (text.names[i] != but && !other.Has(text.names[i])) return false;
  }
  return true;
}

struct Message {
  std::string_view id;  // stable, because reports contain it
  std::string_view english;
  std::string_view chinese;

  consteval Message(std::string_view name, std::string_view in_english, std::string_view in_chinese,
                    std::string_view only_english = "")
      : id(name), english(in_english), chinese(in_chinese) {
    if (id.empty()) throw "a message needs an id";
    if (english.empty() || chinese.empty()) throw "a message needs both languages";
    for (const std::string_view text : {english, chinese}) {
      const bool well = ForEachPlace(
          text, false, [](const ValuePlace&, bool) {}, [](std::string_view) {});
      if (!well) throw "a place of a message is malformed, or of no known kind";
    }
    const NameList in_one = NamesOf(english);
    const NameList in_other = NamesOf(chinese);
    if (!HasAllNames(in_other, in_one, only_english)) throw "the Chinese leaves a value out";
    if (!HasAllNames(in_one, in_other)) throw "the English leaves a value out";
    if (!only_english.empty() && in_other.Has(only_english)) throw "the Chinese has it, too";
  }
};

}  // namespace penstock::analyzer
