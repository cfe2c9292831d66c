// SPDX-License-Identifier: Apache-2.0
#include "traces/text_shapes.h"

#include <algorithm>
#include <array>

#include "traces/public_names.h"

namespace penstock::traces {
namespace {

bool IsHex(char c) {
  return IsDecimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || IsCapital(c);
}

// Four or more numbers with single dots between them.
std::size_t DottedSize(std::string_view text) {
  std::size_t end = 0;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < text.size() && IsDecimal(text[i]);) {
    while (i < text.size() && IsDecimal(text[i])) ++i;
    ++numbers;
    end = i;
    if (i >= text.size() || text[i] != '.') break;
    ++i;
  }
  return numbers >= 4 ? end : 0;
}

// Groups of hexadecimal digits with colons between them. An IPv6 address has at least three colons,
// or two next to each other. A time or the PCI address of a device has neither.
std::size_t ColonsSize(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (IsHex(text[end]) || text[end] == ':')) ++end;
  const std::string_view run = text.substr(0, end);
  const auto colons = std::count(run.begin(), run.end(), ':');
  const auto digits = static_cast<std::ptrdiff_t>(run.size()) - colons;
  if (digits == 0 || (colons < 3 && run.find("::") == std::string_view::npos)) return 0;
  if (end < text.size() && text[end] == '.') {  // "::ffff:10.12.0.5"
    const std::size_t last = run.rfind(':') + 1;
    if (const std::size_t size = DottedSize(text.substr(last)); size > 0) end = last + size;
  }
  if (end < text.size() && text[end] == '%') {  // the interface
    ++end;
    while (end < text.size() && ContinuesName(text[end])) ++end;
  }
  return end < text.size() && ContinuesName(text[end]) ? 0 : end;  // "c10::Half"
}

}  // namespace

bool IsNumberWord(std::string_view text) {
  if (text.find_first_not_of("0123456789.,+-:x") != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (AddressAt(text, i) > 0) return false;
  }
  return true;
}

std::size_t AddressAt(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const char before = at == 0 ? ' ' : text[at - 1];
  const bool in_number = before == '.' && at >= 2 && IsDecimal(text[at - 2]);
  if (ContinuesName(before) || in_number) return 0;
  const std::string_view rest = text.substr(at);
  if (const std::size_t dotted = DottedSize(rest); dotted > 0) return dotted;
  return before == ':' || before == '.' ? 0 : ColonsSize(rest);
}

std::string_view SchemeOf(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0 || !IsLetter(text[0])) return "";
  const std::string_view scheme = text.substr(0, end);
  const bool good = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return IsLetter(c) || IsDecimal(c) || c == '+' || c == '.' || c == '-';
  });
  return good ? scheme : "";
}

std::size_t LineNumberAt(std::string_view path) {
  const std::size_t colon = path.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == path.size()) return path.size();
  const std::string_view digits = path.substr(colon + 1);
  return std::all_of(digits.begin(), digits.end(), IsDecimal) ? colon : path.size();
}

bool IsInterpreterMark(std::string_view text) {
  constexpr std::array<std::string_view, 14> kMarks = {
      "<string>",   "<stdin>",
      "<stdout>",   "<stderr>",
      "<lambda>",   "<listcomp>",
      "<dictcomp>", "<setcomp>",
      "<genexpr>",  "<module>",
      "<locals>",   "<unknown>",
      "<console>",  "<__array_function__ internals>"};
  if (std::find(kMarks.begin(), kMarks.end(), text) != kMarks.end()) return true;
  constexpr std::string_view kFrozen = "<frozen ";
  if (!text.starts_with(kFrozen) || !text.ends_with('>')) return false;
  const std::string_view module = text.substr(kFrozen.size(), text.size() - kFrozen.size() - 1);
  return IsStandardModule(module.substr(0, module.find('.')));
}

bool HasBlank(std::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

bool IsCode(std::string_view word) {
  if (word.find_first_of("'\"`()[]{}<>;|\\") != std::string_view::npos) return true;
  return HasBlank(word) && (!word.starts_with('/') || word.find("://") != std::string_view::npos);
}

bool IsRate(std::string_view word) {
  constexpr std::array<std::string_view, 10> kRates = {
      "B/s", "kB/s", "KB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s", "batches/s", "samples/s"};
  return std::find(kRates.begin(), kRates.end(), word) != kRates.end();
}

std::vector<std::string_view> SplitAt(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace penstock::traces
