// SPDX-License-Identifier: Apache-2.0
#include "traces/stand_ins.h"

#include <algorithm>
#include <array>
#include <vector>

#include "traces/host_facts.h"
#include "traces/public_names.h"

namespace penstock::traces {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Letters beyond ASCII belong to names.
bool Begins(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool Continues(char c) {
  return Begins(c) || IsDigit(c);
}

bool IsNumber(std::string_view text) {
  return text.find_first_not_of("0123456789.,+-:x") == std::string_view::npos;
}

// "python", "python3", "python3.11".
bool IsPython(std::string_view program) {
  constexpr std::string_view kName = "python";
  return program.starts_with(kName) &&
         (program.size() == kName.size() || IsNumber(program.substr(kName.size())));
}

// "17" of "train.py:17"; the size of the text if it has no line number.
std::size_t LineNumberAt(std::string_view path) {
  const std::size_t colon = path.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == path.size()) return path.size();
  const std::string_view digits = path.substr(colon + 1);
  return std::all_of(digits.begin(), digits.end(), IsDigit) ? colon : path.size();
}

// Where a path names no file of a person, up to this length: all of it, or its first folders.
std::size_t PublicBeginning(std::string_view path) {
  constexpr std::array<std::string_view, 3> kWhole = {"pipe:[", "socket:[", "anon_inode:"};
  constexpr std::array<std::string_view, 9> kFolders = {
      "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/lib/", "/lib64/",
      "/usr/bin/", "/proc/",      "/sys/",           "/dev/"};
  if (path.starts_with('<') && path.ends_with('>')) return path.size();
  for (const std::string_view whole : kWhole) {
    if (path.starts_with(whole)) return path.size();
  }
  constexpr std::string_view kShared = "/dev/shm/";  // files of the program, unlike devices
  if (path.starts_with(kShared)) return kShared.size();
  for (const std::string_view folder : kFolders) {
    if (path.starts_with(folder)) return path.size();
  }
  return 0;
}

// "numpy.libs", "torchvision-0.15.2.dist-info" and "six.py" are of the package in front.
bool IsPublicPackage(std::string_view folder) {
  return IsPublicLibrary(folder.substr(0, folder.find_first_of(".-")));
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The words of a line that QuoteCommand() has written.
std::vector<std::string> Unquoted(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  bool fresh = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !inside) {
      fresh = true;
      continue;
    }
    if (fresh) words.emplace_back();
    fresh = false;
    if (line[i] == '\'') {
      inside = !inside;
    } else if (line[i] == '\\' && !inside && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

}  // namespace

std::string StandIns::Of(Numbers& numbers, std::string_view prefix, std::string_view name) {
  ++uses_;
  const std::size_t number =
      numbers.try_emplace(std::string(name), numbers.size() + 1).first->second;
  return std::string(prefix) + std::to_string(number);
}

std::string StandIns::Component(std::string_view name, bool folder) {
  if (name.empty() || name == "." || name == "..") return std::string(name);
  const std::string_view extension = PublicExtension(name);
  folder = folder || (extension.empty() && folders_.count(std::string(name)) != 0);
  if (folder) return Of(folders_, "d", name);
  if (IsPython(name)) return std::string(name);
  return Of(files_, "f", name) + std::string(extension);
}

std::string StandIns::WholePath(std::string_view path, bool folder) {
  const std::size_t scheme = path.find("://");
  if (scheme != std::string_view::npos) {  // "s3://bucket/key?signature"
    const std::string_view rest = path.substr(scheme + 3);
    const std::string_view plain = rest.substr(0, rest.find_first_of("?#"));
    const std::size_t slash = std::min(plain.find('/'), plain.size());
    return std::string(path.substr(0, scheme + 3)) + Host(plain.substr(0, slash)) +
           WholePath(plain.substr(slash), folder);
  }
  enum class In { kPlace, kPython, kPackages, kPublic };
  const std::size_t begin = PublicBeginning(path);
  In in = begin == path.size() ? In::kPublic : In::kPlace;
  std::string out(path.substr(0, in == In::kPublic ? 0 : begin));
  const std::vector<std::string_view> parts = Split(path.substr(out.size()), '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const bool python = (part == "lib" || part == "lib64") && i + 1 < parts.size() &&
                        parts[i + 1].starts_with("python3.");
    if (i > 0) out += '/';
    if (part == "site-packages" || part == "dist-packages") {
      in = In::kPackages;
    } else if (in == In::kPackages) {
      in = IsPublicPackage(part) ? In::kPublic : In::kPlace;
    } else if (in == In::kPlace && python) {
      in = In::kPython;
    } else if (in == In::kPlace && part == "penstock_hooks") {
      in = In::kPublic;
    }
    out += in == In::kPlace ? Component(part, folder || i + 1 < parts.size()) : std::string(part);
  }
  return out;
}

std::string StandIns::Path(std::string_view path) {
  const std::size_t line = LineNumberAt(path);
  return WholePath(path.substr(0, line), false) + std::string(path.substr(line));
}

std::string StandIns::Folder(std::string_view path) {
  return WholePath(path, true);
}

std::string StandIns::Identifiers(std::string_view text, bool (*library)(std::string_view name)) {
  std::string out;
  const auto word_at = [text](std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && Continues(text[end])) ++end;
    return text.substr(at, end - at);
  };
  // The sign between the parts of "torch.nn" or "at::native" at this place.
  const auto sign_at = [text](std::size_t at) -> std::size_t {
    const std::string_view rest = text.substr(std::min(at, text.size()));
    const std::size_t size = rest.starts_with("::") ? 2 : rest.starts_with('.') ? 1 : 0;
    return size > 0 && at + size < text.size() && Begins(text[at + size]) ? size : 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (!Begins(text[i])) {
      out += text[i++];
      continue;
    }
    std::string_view word = word_at(i);
    const bool known = library != nullptr && library(word);
    for (;;) {
      const bool dunder = word.size() > 4 && word.starts_with("__") && word.ends_with("__");
      const bool stays = known || dunder || (library != nullptr && IsPublicWord(word));
      out += stays ? std::string(word) : Of(names_, "n", word);
      i += word.size();
      const std::size_t sign = sign_at(i);
      if (sign == 0) break;
      out += text.substr(i, sign);
      i += sign;
      word = word_at(i);
    }
  }
  return out;
}

std::string StandIns::Name(std::string_view text) {
  return Identifiers(text, IsPublicLibrary);
}

std::string StandIns::Builtin(std::string_view text) {
  return Identifiers(
      text, [](std::string_view name) { return IsPublicLibrary(name) || IsStandardModule(name); });
}

std::string StandIns::Function(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t open = std::min(name.find('<'), name.size());
    out += Identifiers(name.substr(0, open), nullptr);
    const std::size_t close = name.find('>', open);
    const std::size_t end = close == std::string_view::npos ? name.size() : close + 1;
    out += name.substr(open, end - open);
    name.remove_prefix(end);
  }
  return out;
}

std::string StandIns::Word(std::string_view word) {
  constexpr std::string_view kPlain = "_.:,@%+-*";
  const auto plain = [kPlain](char c) {
    return Continues(c) || kPlain.find(c) != std::string_view::npos;
  };
  constexpr std::string_view kHidden = "***";  // a secret, which was never recorded
  if (IsNumber(word) || word.starts_with('<') || word == kHidden) return std::string(word);
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos && equals > 0 &&
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), plain)) {
    const std::string_view left = word.substr(0, equals);
    const bool stays = left.starts_with('-') ||
                       left.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    return (stays ? std::string(left) : Name(left)) + '=' + Word(word.substr(equals + 1));
  }
  if (word.find('/') != std::string_view::npos) return Path(word);
  if (word.starts_with('-') && std::all_of(word.begin(), word.end(), plain)) {
    return std::string(word);
  }
  if (!std::all_of(word.begin(), word.end(), plain)) return Of(words_, "w", word);  // code, prose
  if (!PublicExtension(word.substr(0, LineNumberAt(word))).empty()) return Path(word);
  const std::string_view head = word.substr(0, word.find_first_of(".:"));
  if (IsPython(word) || IsPublicWord(word) || IsPublicLibrary(head)) return std::string(word);
  return Of(words_, "w", word);
}

std::string StandIns::CommandLine(std::string_view text) {
  std::vector<std::string> words = Unquoted(text);
  for (std::string& word : words) word = Word(word);
  return QuoteCommand(words);
}

std::string StandIns::Sentence(std::string_view text) {
  std::string out;
  for (const std::string_view word : Split(text, ' ')) {
    if (!out.empty()) out += ' ';
    const std::size_t size = word.find_last_not_of(".,:;)") + 1;  // 0: nothing but these
    const std::string_view core = word.substr(0, size);
    const bool path = core.starts_with('/') || core.find("://") != std::string_view::npos ||
                      !PublicExtension(core).empty();  // unlike "MB/s"
    out += path ? Path(core) : std::string(core);
    out += word.substr(size);
  }
  return out;
}

std::string StandIns::Host(std::string_view host) {
  return host.empty() ? std::string() : Of(hosts_, "host", host);
}

std::string StandIns::Id(std::string_view id) {
  return id.empty() ? std::string() : Of(ids_, "id", id);
}

StandIns::Counts StandIns::counts() const {
  return {files_.size(), folders_.size(), names_.size(), hosts_.size(),
          words_.size(), ids_.size(),     uses_};
}

}  // namespace penstock::traces
