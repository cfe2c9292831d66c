// SPDX-License-Identifier: Apache-2.0
#include "traces/stand_ins.h"

#include <algorithm>
#include <array>
#include <vector>

#include "traces/host_facts.h"
#include "traces/public_facts.h"
#include "traces/public_names.h"
#include "traces/text_shapes.h"

namespace penstock::traces {
namespace {

// "python", "python3", "python3.11".
bool IsPython(std::string_view program) {
  constexpr std::string_view kName = "python";
  return program.starts_with(kName) &&
         (program.size() == kName.size() || IsNumberWord(program.substr(kName.size())));
}

// The paths of /proc and /dev/fd are public. What follows a process's link to a folder (cwd, root,
// fd/3) may be a file of a person.
std::size_t PublicBeginningOfProc(std::string_view path) {
  const std::vector<std::string_view> parts = SplitAt(path, '/');
  std::size_t size = 0;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    size += parts[i].size() + 1;
    const bool descriptor = i > 0 && parts[i - 1] == "fd";  // of a folder, since more follows
    if (parts[i] == "cwd" || parts[i] == "root" || descriptor) return size;
  }
  return path.size();
}

// The names of devices are public, except those of volumes and links by label: somebody gave them.
std::size_t PublicBeginningOfDev(std::string_view path) {
  constexpr std::array<std::string_view, 8> kFolders = {"char", "dri", "infiniband", "input",
                                                        "net",  "pts", "snd",        "nvidia-caps"};
  constexpr std::string_view kDev = "/dev/";
  const std::string_view rest = path.substr(kDev.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return path.size();
  const std::string_view folder = rest.substr(0, slash);
  if (std::find(kFolders.begin(), kFolders.end(), folder) != kFolders.end()) return path.size();
  const bool known = folder == "shm" || folder == "mapper" || folder == "disk";
  return known ? kDev.size() + slash + 1 : kDev.size();
}

// The length of the beginning of a path that names nothing of a person: all of it, its first
// folders, or 0.
std::size_t PublicBeginning(std::string_view path) {
  constexpr std::array<std::string_view, 3> kWhole = {"pipe:[", "socket:[", "anon_inode:"};
  constexpr std::array<std::string_view, 6> kFolders = {"/usr/lib/", "/usr/lib64/", "/lib/",
                                                        "/lib64/",   "/usr/bin/",   "/sys/"};
  // Below these places, an administrator or a scheduler of jobs has named the folders.
  constexpr std::array<std::string_view, 2> kPlaces = {"/usr/local/", "/sys/fs/cgroup/"};
  if (IsInterpreterMark(path)) return path.size();
  for (const std::string_view whole : kWhole) {
    if (path.starts_with(whole)) return path.size();
  }
  if (path.starts_with("/proc/") || path.starts_with("/dev/fd/"))
    return PublicBeginningOfProc(path);
  if (path.starts_with("/dev/")) return PublicBeginningOfDev(path);
  for (const std::string_view place : kPlaces) {
    if (path.starts_with(place)) return place.size();
  }
  for (const std::string_view folder : kFolders) {
    if (path.starts_with(folder)) return path.size();
  }
  return 0;
}

// Whether WholePath() would keep more of a path than its extension.
bool HasPublicPart(std::string_view path) {
  constexpr std::array<std::string_view, 3> kParts = {"-packages/", "/python3.",
                                                      "/penstock_hooks/"};
  return PublicBeginning(path) > 0 ||
         std::any_of(kParts.begin(), kParts.end(), [path](std::string_view part) {
           return path.find(part) != std::string_view::npos;
         });
}

// "libjpeg" of "libjpeg-turbo8.so.62": reports say by this name what a library is. Empty: unknown.
std::string_view PublicNativeLibrary(std::string_view file) {
  constexpr std::array<std::string_view, 14> kNames = {
      "libjpeg", "libturbojpeg", "libpng",   "libwebp",    "libtiff",   "libopenjp2", "libjxl",
      "libheif", "libavif",      "libdav1d", "libavcodec", "libcufile", "libnvcuvid", "libnvjpeg"};
  if (file.find(".so") == std::string_view::npos) return "";
  for (const std::string_view name : kNames) {
    const std::string_view rest = file.substr(std::min(name.size(), file.size()));
    if (file.starts_with(name) && !rest.empty() && !BeginsName(rest[0])) return name;
  }
  return "";
}

// "numpy.libs", "torchvision-0.15.2.dist-info" and "six.py" belong to the package whose name they
// begin with.
bool IsPublicPackage(std::string_view folder) {
  return IsPublicLibrary(folder.substr(0, folder.find_first_of(".-")));
}

// Whether a word has an address, and otherwise only numbers and signs: "10.12.0.5:29400",
// "[fe80::1]".
bool HasOnlyAddresses(std::string_view word) {
  bool any = false;
  std::string rest;
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t size = AddressAt(word, i);
    any = any || size > 0;
    if (size == 0 && word[i] != '[' && word[i] != ']') rest += word[i];
    i += std::max<std::size_t>(size, 1);
  }
  return any && IsNumberWord(rest);
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
  // A path may end with a folder. It has that folder's stand-in if the folder was seen before.
  folder = folder || (extension.empty() && folders_.count(std::string(name)) != 0);
  if (folder) return Of(folders_, "d", name);
  if (IsPython(name)) return std::string(name);
  if (const std::string_view known = PublicNativeLibrary(name); !known.empty()) {
    return std::string(known) + ".so";
  }
  return Of(files_, "f", name) + std::string(extension);
}

std::string StandIns::WholePath(std::string_view path, bool folder) {
  if (const std::string_view scheme = SchemeOf(path); !scheme.empty()) {
    const std::string_view rest = path.substr(scheme.size() + 3);  // "s3://bucket/key?signature"
    const std::string_view plain = rest.substr(0, rest.find_first_of("?#"));
    const std::size_t slash = std::min(plain.find('/'), plain.size());
    const std::string_view key = plain.substr(slash);
    // "/dev/cats.tar" of a bucket is no device.
    const std::size_t begin = scheme == "file" ? PublicBeginning(key) : 0;
    return Scheme(scheme) + "://" + HostAndPort(plain.substr(0, slash)) +
           PathBehind(key, begin, folder);
  }
  return PathBehind(path, PublicBeginning(path), folder);
}

std::string StandIns::PathBehind(std::string_view path, std::size_t begin, bool folder) {
  enum class In { kPlace, kPython, kPackages, kPublic };
  // The beginning of a path with ".." does not say where the path leads: "/usr/lib/../../home/ann".
  if (path.find("/../") != std::string_view::npos) begin = 0;
  In in = begin > 0 && begin == path.size() ? In::kPublic : In::kPlace;
  std::string out(path.substr(0, in == In::kPublic ? 0 : begin));
  const std::vector<std::string_view> parts = SplitAt(path.substr(out.size()), '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const bool python = (part == "lib" || part == "lib64") && i + 1 < parts.size() &&
                        parts[i + 1].starts_with("python3.");
    if (i > 0) out += '/';
    if (part == "..") {
      in = In::kPlace;
    } else if (part == "site-packages" || part == "dist-packages") {
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

std::string StandIns::PublicParts(std::string_view word) {
  std::size_t at = PublicPrefix(word);
  if (at == 0) return Of(names_, "n", word);
  std::string out(word.substr(0, at));
  if (word.starts_with("_Z")) {  // mangled: lengths of names would have to fit
    return at == word.size() ? out : out + Of(names_, "n", word.substr(at));
  }
  while (at < word.size()) {
    const std::size_t size = WordPartSize(word.substr(at));
    const std::string_view part = word.substr(at, std::max<std::size_t>(size, 1));
    out += size == 0 || IsTechnicalWord(part) ? std::string(part) : Of(names_, "n", part);
    at += part.size();
  }
  return out;
}

std::string StandIns::Identifiers(std::string_view text, Known known) {
  std::string out;
  const auto word_at = [text](std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && ContinuesName(text[end])) ++end;
    return text.substr(at, end - at);
  };
  // The sign between the parts of "torch.nn" or "at::native" at this place.
  const auto sign_at = [text](std::size_t at) -> std::size_t {
    const std::string_view rest = text.substr(std::min(at, text.size()));
    const std::size_t size = rest.starts_with("::") ? 2 : rest.starts_with('.') ? 1 : 0;
    return size > 0 && at + size < text.size() && BeginsName(text[at + size]) ? size : 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t address = AddressAt(text, i); address > 0) {
      out += Host(text.substr(i, address));
      i += address;
      continue;
    }
    if (!BeginsName(text[i])) {
      out += text[i++];
      continue;
    }
    std::string_view word = word_at(i);
    const std::string_view head = word;
    // All names below a library are public. If the library's name is a common word, only the names
    // that consist of technical words are.
    bool all = known != Known::kNothing && IsUniqueLibrary(head);
    all = all || (known == Known::kModules && IsStandardModule(head));
    const bool listed = known != Known::kNothing && (all || IsPublicLibrary(head));
    for (;;) {
      const bool own =
          known != Known::kNothing && (IsPublicWord(word) || (listed && IsTechnical(word)));
      if (all || own || IsSpecialMethod(word)) {
        out += word;
      } else {
        out += known == Known::kNothing ? Of(names_, "n", word) : PublicParts(word);
      }
      if (head == "torch" && word == "ops") all = false;  // operators that the program registers
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
  return Identifiers(text, Known::kLibraries);
}

std::string StandIns::Builtin(std::string_view text) {
  return Identifiers(text, Known::kModules);
}

std::string StandIns::Function(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t open = std::min(name.find('<'), name.size());
    out += Identifiers(name.substr(0, open), Known::kNothing);
    const std::size_t close = name.find('>', open);
    const std::size_t end = close == std::string_view::npos ? name.size() : close + 1;
    const std::string_view mark = name.substr(open, end - open);
    out += IsInterpreterMark(mark) ? std::string(mark) : Identifiers(mark, Known::kNothing);
    name.remove_prefix(end);
  }
  return out;
}

std::string StandIns::Word(std::string_view word) {
  constexpr std::string_view kPlain = "_.:,@%+-*";
  const auto plain = [kPlain](char c) {
    return ContinuesName(c) || kPlain.find(c) != std::string_view::npos;
  };
  constexpr std::string_view kHidden = "***";  // a secret, which was never recorded
  if (IsNumberWord(word) || IsInterpreterMark(word) || word == kHidden) return std::string(word);
  if (HasOnlyAddresses(word)) return Name(word);
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos && equals > 0 &&
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), plain)) {
    const std::string_view left = word.substr(0, equals);
    const bool stays = left.starts_with('-') ||
                       left.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    return (stays ? std::string(left) : Name(left)) + '=' + Word(word.substr(equals + 1));
  }
  const std::string_view front = word.substr(0, LineNumberAt(word));  // "cuda" of "cuda:0"
  // Behind such a sign another path may follow: "/usr/lib/x:/home/ann/y".
  const bool several =
      SchemeOf(word).empty() && front.find_first_of(":,=") != std::string_view::npos;
  if (IsCode(word) || (HasPublicPart(word) && (HasBlank(word) || several))) {
    const std::string_view starter = StarterOfWorkers(word);
    return starter.empty() ? Of(words_, "w", word) : std::string(starter);
  }
  if (word.find('/') != std::string_view::npos) return Path(word);
  const bool all_plain = std::all_of(word.begin(), word.end(), plain);
  if (!all_plain) return Of(words_, "w", word);
  if (word.starts_with('-')) return std::string(word);
  if (!PublicExtension(front).empty()) return Path(word);
  if (IsPython(word) || IsPublicWord(front)) return std::string(word);
  if (IsPublicLibrary(word.substr(0, word.find_first_of(".:")))) return Name(word);
  return Of(words_, "w", word);
}

std::string StandIns::CommandLine(std::string_view text) {
  std::vector<std::string> words = UnquoteCommand(text);
  for (std::string& word : words) word = Word(word);
  return QuoteCommand(words);
}

// A path in a sentence may have blanks: it ends at a sign that ends a part of a sentence, or else
// at the last word that looks like a part of a path.
std::string StandIns::Sentence(std::string_view text) {
  constexpr std::string_view kOpen = "'\"`([{";
  constexpr std::string_view kClose = ".,:;)'\"`]}";
  const std::vector<std::string_view> words = SplitAt(text, ' ');
  const auto begin_of = [&](std::string_view word) {
    return std::min(word.find_first_not_of(kOpen), word.size());
  };
  const auto end_of = [&](std::string_view word) {
    return std::max(word.find_last_not_of(kClose) + 1, begin_of(word));
  };
  const auto core_of = [&](std::string_view word) {
    return word.substr(begin_of(word), end_of(word) - begin_of(word));
  };
  const auto in_path = [](std::string_view core) {
    return !IsRate(core) &&
           (core.find('/') != std::string_view::npos || !PublicExtension(core).empty());
  };
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ' ';
    std::size_t last = i;
    const bool from_root = core_of(words[i]).starts_with('/');
    for (std::size_t j = i + 1; from_root && j < words.size(); ++j) {
      if (end_of(words[j - 1]) < words[j - 1].size()) break;
      const std::string_view core = core_of(words[j]);
      if (core.starts_with('/')) break;  // the next path
      if (in_path(core)) last = j;
    }
    const std::size_t begin = begin_of(words[i]);
    const char* const from = words[i].data() + begin;
    const char* const to = words[last].data() + end_of(words[last]);
    const std::string_view core(from, static_cast<std::size_t>(to - from));
    out += words[i].substr(0, begin);
    if (in_path(core)) {
      out += Path(core);
    } else {
      out += HasOnlyAddresses(core) ? Name(core) : std::string(core);
    }
    out += words[last].substr(end_of(words[last]));
    i = last;
  }
  return out;
}

std::string StandIns::VersionAndPath(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return Word(text);
  return Word(text.substr(0, blank)) + ' ' + WholePath(text.substr(blank + 1), false);
}

std::string StandIns::Scheme(std::string_view scheme) {
  return IsPublicScheme(scheme) ? std::string(scheme) : Of(words_, "w", scheme);
}

std::string StandIns::HostAndPort(std::string_view text) {
  const std::size_t port = LineNumberAt(text);
  return Host(text.substr(0, port)) + std::string(text.substr(port));
}

std::string StandIns::Host(std::string_view host) {
  return host.empty() ? std::string() : Of(hosts_, "host", host);
}

std::string StandIns::Counter(std::string_view name) {
  const std::size_t at = std::min(name.find('@'), name.size());
  const std::string_view what = name.substr(0, at);
  std::string out = IsOurCounter(what) ? std::string(what) : Name(what);
  if (at < name.size()) out += '@' + HostAndPort(name.substr(at + 1));
  return out;
}

std::string StandIns::Id(std::string_view id) {
  return id.empty() ? std::string() : Of(ids_, "id", id);
}

StandIns::Counts StandIns::counts() const {
  return {files_.size(), folders_.size(), names_.size(), hosts_.size(),
          words_.size(), ids_.size(),     uses_};
}

}  // namespace penstock::traces
