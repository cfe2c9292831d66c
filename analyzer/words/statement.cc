// SPDX-License-Identifier: Apache-2.0
#include "analyzer/words/statement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "analyzer/words/names.h"

namespace penstock::analyzer {
namespace {

const Value* Find(const Statement& statement, std::string_view name) {
  for (const auto& [key, value] : statement.values) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string NumberText(const Format& format, double value, Language language) {
  const double scaled = value * format.scale;
  switch (format.kind) {
    case FormatKind::kCount:
      if (!format.noun.empty()) {
        return CountedText(static_cast<std::int64_t>(std::llround(value)), format.noun);
      }
      return fmt::format("{:.0f}", value);
    case FormatKind::kFixed:
      return format.sign ? fmt::format("{:+.{}f}", scaled, format.digits)
                         : fmt::format("{:.{}f}", scaled, format.digits);
    case FormatKind::kGeneral:
      return fmt::format("{:.{}g}", scaled, format.digits);
    case FormatKind::kPercent:
      if (format.digits <= 0 && !format.sign) return PercentText(value);
      return format.sign ? fmt::format("{:+.{}f} %", scaled, format.digits)
                         : fmt::format("{:.{}f} %", scaled, format.digits);
    case FormatKind::kDuration:
      return DurationText(value);
    case FormatKind::kAhead:
      return TimeAheadText(value, language);
    case FormatKind::kBytes:
      return BytesText(value);
    case FormatKind::kRate:
      return ShortNumber(value);
    case FormatKind::kTimes:
      return TimesText(value);
    case FormatKind::kText:
    case FormatKind::kName:
    case FormatKind::kWords:
    case FormatKind::kSentence:
      break;
  }
  return "";
}

// Whether `letter` begins with a Chinese character: U+4000 to U+9FFF have three bytes.
bool IsHan(std::string_view letter) {
  const auto lead = static_cast<unsigned char>(letter.empty() ? '\0' : letter.front());
  return letter.size() >= 3 && lead >= 0xe4u && lead <= 0xe9u;
}

bool IsLatin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '%';
}

// Adds `piece` to `out`. Chinese next to a Latin letter, a digit or "%" gets a space between: what
// a value ends with, and whether a clause follows it, is known only here.
void AddSpaced(std::string_view piece, std::string& out) {
  if (piece.empty()) return;
  if (!out.empty()) {
    const std::string_view before = out;
    const bool han = IsHan(before.substr(before.size() - std::min<std::size_t>(3, before.size())));
    const bool gap = (han && IsLatin(piece.front())) || (IsLatin(before.back()) && IsHan(piece));
    if (gap) out += ' ';
  }
  out += piece;
}

class Renderer {
 public:
  Renderer(const Statement& statement, Language language)
      : statement_(statement), language_(language) {}

  // Writes `text` to `out`. Returns whether the statement has all values that `text` needs.
  bool Write(std::string_view text, std::string& out) const {
    bool whole = true;
    while (!text.empty()) {
      const std::size_t open = text.find_first_of("{[\\");
      AddSpaced(text.substr(0, open), out);
      if (open == std::string_view::npos) break;
      text.remove_prefix(open);
      if (text.front() == '\\') {
        out += text.substr(1, 1);
        text.remove_prefix(2);
      } else if (text.front() == '{') {
        const std::size_t end = text.find('}');
        whole = WritePlace(text.substr(1, end - 1), out) && whole;
        text.remove_prefix(end + 1);
      } else {
        const TextClause clause = ParseClause(text);
        WriteClause(clause, out);
        text.remove_prefix(clause.size);
      }
    }
    return whole;
  }

 private:
  bool WritePlace(std::string_view text, std::string& out) const {
    const auto place = ParsePlace(text);
    const Value* value = place ? Find(statement_, place->name) : nullptr;
    if (value == nullptr) return false;
    if (const auto* number = std::get_if<double>(value)) {
      AddSpaced(NumberText(place->format, *number, language_), out);
    }
    if (const auto* said = std::get_if<std::string>(value)) {
      AddSpaced(place->format.kind == FormatKind::kName ? NameIn(*said, language_) : *said, out);
    }
    if (const auto* parts = std::get_if<Statements>(value)) {
      for (const Statement& part : *parts) {
        const bool first = &part == &parts->front();
        if (!first) out += language_ == Language::kChinese ? "、" : ", ";
        std::string said = Render(part, language_);
        const bool begins = first && place->format.kind == FormatKind::kSentence && !said.empty();
        if (begins && said.front() >= 'a' && said.front() <= 'z') {
          said.front() = static_cast<char>(said.front() - 'a' + 'A');
        }
        AddSpaced(said, out);
      }
    }
    return true;
  }

  void WriteClause(const TextClause& clause, std::string& out) const {
    std::string said;
    if (clause.flag.empty()) {
      if (Write(clause.yes, said)) AddSpaced(said, out);
      return;
    }
    const Value* value = Find(statement_, clause.flag);
    const bool* flag = value == nullptr ? nullptr : std::get_if<bool>(value);
    Write(value != nullptr && (flag == nullptr || *flag) ? clause.yes : clause.no, out);
  }

  const Statement& statement_;
  Language language_;
};

}  // namespace

std::string Render(const Statement& statement, Language language) {
  std::string text;
  if (statement.empty()) return text;
  const Message& message = *statement.message;
  Renderer(statement, language)
      .Write(language == Language::kChinese ? message.chinese : message.english, text);
  return text;
}

std::string English(const Statement& statement) {
  return Render(statement, Language::kEnglish);
}

void SortAndMerge(Statements& statements) {
  std::map<std::string, Statement> sorted;
  for (Statement& one : statements) sorted.emplace(English(one), std::move(one));
  statements.clear();
  for (auto& [text, one] : sorted) statements.push_back(std::move(one));
}

}  // namespace penstock::analyzer
