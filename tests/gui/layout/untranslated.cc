// SPDX-License-Identifier: Apache-2.0
//
// Finds the words of a window that are in the other language.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "tests/gui/layout/faults.h"

namespace penstock::gui::testing {
namespace {

// Words that stay English in Chinese texts: units, names of products, keys, and words that occur in
// code or in a program's output.
constexpr std::array<std::string_view, 34> kKept = {
    "ms",         "us",     "ns",     "px",      "Penstock",   "penstock", "Python",
    "python",     "Pillow", "pillow", "Kineto",  "Nsight",     "Perfetto", "Kornia",
    "accelerate", "Numba",  "torch",  "pytorch", "simplejpeg", "Esc",      "Ctrl",
    "Shift",      "Alt",    "Home",   "Enter",   "pid",        "epoch",    "rank",
    "mmap",       "stdio",  "mean",   "std",     "autograd",   "wall"};

bool IsLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool IsUpper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

// A word without the punctuation before and after it.
std::string_view Trimmed(std::string_view word) {
  const auto keeps = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  while (!word.empty() && !keeps(word.front())) word.remove_prefix(1);
  while (!word.empty() && !keeps(word.back())) word.remove_suffix(1);
  return word;
}

// Whether a word has only letters, hyphens and apostrophes. Paths, identifiers, calls and numbers
// with a unit have other characters too.
bool IsWord(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return IsLetter(c) || c == '-' || c == '\''; });
}

// Whether a word is a name ("GPU", "DataLoader", "pH"): other words have no capitals after their
// first letter.
bool IsName(std::string_view word) {
  const auto upper = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), IsUpper));
  return word.size() < 2 || upper > 1 || (upper == 1 && !IsUpper(word.front())) ||
         std::find(kKept.begin(), kKept.end(), word) != kKept.end();
}

// Erases `part` where it is a word of its own, but not where it is a part of a word, such as "jpeg"
// in "simplejpeg" or "deepcopy" in "copy.deepcopy".
void Erase(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool begins = before != '.' && (!IsLetter(before) || !IsLetter(part.front()));
    const bool ends = end == text.size() || !IsLetter(text[end]) || !IsLetter(part.back());
    if (begins && ends) text.replace(at, part.size(), " ");
  }
}

// The end of `text` was cut off. If the text now ends with the beginning of `name`, erases that.
void EraseBeginning(std::string& text, std::string_view name) {
  const std::size_t at = text.rfind(name.substr(0, 3));
  if (at != std::string::npos && name.starts_with(std::string_view(text).substr(at))) {
    text.resize(at);
  }
}

// Whether a word is code ("read()", "--data", "mean=0.5"), not a word of a sentence.
bool IsCode(std::string_view word) {
  const std::size_t bracket = word.find('(');
  const bool call = bracket != std::string_view::npos && bracket > 0 && IsLetter(word[bracket - 1]);
  return call || word.starts_with("--") || word.find('=') != std::string_view::npos;
}

bool HasChinese(std::string_view text) {
  // U+4E00 to U+9FFF begin with one of these bytes.
  return text.find_first_of("\xe4\xe5\xe6\xe7\xe8\xe9") != std::string_view::npos;
}

// Joins lines to whole texts. All lines of a tip become one text, because a name may continue in
// the next line. Elsewhere a line that ends with a space is joined with the next line.
std::vector<SeenText> WholeTexts(const Scene& scene) {
  std::vector<SeenText> whole;
  for (const SeenText& text : scene.texts()) {
    const bool goes_on =
        !whole.empty() &&
        (text.root.starts_with("##Tooltip") || whole.back().call.text.ends_with(' ')) &&
        whole.back().root == text.root && whole.back().call.font == text.call.font;
    if (goes_on) {
      whole.back().call.text += text.call.text;
    } else {
      whole.push_back(text);
    }
  }
  return whole;
}

}  // namespace

std::string EnglishIn(std::string_view text, const std::vector<std::string>& names) {
  std::string left(text);
  if (text.ends_with(kEllipsis)) {
    left.resize(left.size() - kEllipsis.size());
    for (const std::string& name : names) EraseBeginning(left, name);
  }
  for (const std::string& name : names) Erase(left, name);
  std::string english;
  std::string_view before;
  for (std::size_t at = 0; at < left.size();) {
    // A word ends at a space, a "+" or a character beyond ASCII. A path, an identifier or a call is
    // thus one word.
    std::size_t end = at;
    while (end < left.size() && left[end] > ' ' && left[end] <= '~' && left[end] != '+') ++end;
    const std::string_view whole = std::string_view(left).substr(at, end - at);
    const std::string_view word = Trimmed(whole);
    const bool command = before == "penstock";  // "penstock record"
    before = word;
    if (!word.empty() && IsWord(word) && !IsName(word) && !IsCode(whole) && !command) {
      english += (english.empty() ? "" : " ") + std::string(word);
    }
    at = end + 1;
  }
  return english;
}

std::vector<Fault> Untranslated(const Scene& scene, const Looked& how) {
  std::vector<Fault> faults;
  std::set<std::string> known;
  for (const SeenText& text : WholeTexts(scene)) {
    const std::string& said = text.call.text;
    const auto seen = [](const Glyph& glyph) { return !glyph.seen.empty(); };
    if (std::none_of(text.glyphs.begin(), text.glyphs.end(), seen)) continue;
    if (text.call.font == how.code || !known.insert(said).second) continue;
    if (said == TextOf(Text::kLanguageTip, how.language)) continue;  // names the other language
    std::string wrong;
    if (how.language == Language::kChinese) {
      wrong = EnglishIn(said, how.names);
    } else {
      std::string left = said;
      for (const std::string& name : how.names) Erase(left, name);
      Erase(left, "中文");  // the button that switches to Chinese
      if (HasChinese(left)) wrong = left;
    }
    if (wrong.empty()) continue;
    faults.push_back({FaultKind::kUntranslated,
                      said,
                      wrong,
                      {text.call.min.x, text.call.min.y, text.call.max.x, text.call.max.y}});
  }
  return faults;
}

}  // namespace penstock::gui::testing
