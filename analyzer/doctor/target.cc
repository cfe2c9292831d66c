// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/target.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace penstock::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 1 << 20;  // bytes to read; usually with the names of libraries
constexpr int kMostHops = 8;            // scripts and launchers may call each other in a circle

std::string Variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::vector<std::string> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

template <class T>
bool LoadAt(std::string_view bytes, std::uint64_t at, T* value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + at, sizeof(T));
  return true;
}

// Up to `most` bytes of a file from `at` on; "" if there are none or it cannot be read.
std::string ReadAt(const fs::path& file, std::uint64_t at, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(at));
  std::string bytes(most, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  return bytes;
}

// `head`: the first bytes of the program's file. Some parts may lie beyond them: tools such as
// patchelf append a part to the end of the file if it no longer fits into its place.
void ParseElf(std::string_view head, Executable& program) {
#if defined(__x86_64__)
  constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned kMachine = EM_AARCH64;
#else
  constexpr unsigned kMachine = EM_NONE;
#endif
  Elf64_Ehdr header{};
  program.elf = true;
  if (!LoadAt(head, 0, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != kMachine) {
    program.own_machine = false;
    return;
  }
  const std::string segments =
      ReadAt(program.path, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!LoadAt(segments, i * sizeof segment, &segment)) break;
    if (segment.p_type != PT_INTERP) continue;
    const std::size_t length = std::min<std::uint64_t>(segment.p_filesz, PATH_MAX);
    const std::string text = ReadAt(program.path, segment.p_offset, length);
    program.interpreter = text.substr(0, text.find('\0'));
  }
  program.needs_asan = head.find("libasan.so") != std::string_view::npos;
}

bool IsPrivileged(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) == 0) {
    if ((info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid()) return true;
    if ((info.st_mode & S_ISGID) != 0 && info.st_gid != getegid()) return true;
  }
  return geteuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

// The version that pyenv would choose, or the first if it has several. Three places are tried in
// order: PYENV_VERSION, the file .python-version in `current` or a folder above it, and
// `root`/version.
std::string PyenvVersion(const fs::path& root, const Environment& environment,
                         const fs::path& current) {
  const auto forced = Split(Variable(environment, "PYENV_VERSION"), ":");
  if (!forced.empty()) return forced.front();
  for (fs::path folder = current; !folder.empty(); folder = folder.parent_path()) {
    const auto words = Split(ReadStart(folder / ".python-version", 4096), " \t\r\n");
    if (!words.empty()) return words.front();
    if (folder == folder.root_path()) break;
  }
  const auto words = Split(ReadStart(root / "version", 4096), " \t\r\n");
  return words.empty() ? std::string() : words.front();
}

std::optional<fs::path> BehindShim(const fs::path& shim, const Environment& environment,
                                   const fs::path& current) {
  if (shim.parent_path().filename() != "shims") return std::nullopt;
  const fs::path root = shim.parent_path().parent_path();
  const std::string version = PyenvVersion(root, environment, current);
  const fs::path real = root / "versions" / version / "bin" / shim.filename();
  if (!version.empty() && version != "system" && IsExecutable(real)) return real;
  return std::nullopt;
}

// A program that runs another program, which its arguments name. `letters` and `names`: its short
// and long options that take a value. `cleans`: it always cleans the environment.
struct Launcher {
  std::string_view name;
  std::string_view letters;
  std::string_view names;
  bool cleans = false;
};
constexpr std::array kLaunchers = {
    Launcher{"env", "uC", "--unset --chdir"},
    Launcher{"nice", "n", "--adjustment"},
    Launcher{"nohup", "", ""},
    Launcher{"time", "fo", "--format --output"},
    Launcher{"timeout", "ks", "--kill-after --signal"},
    Launcher{"stdbuf", "ioe", "--input --output --error"},
    Launcher{"ionice", "cn", "--class --classdata"},
    Launcher{"setsid", "", ""},
    Launcher{"sudo", "ugCpTrthDRU",
             "--user --group --close-from --prompt --command-timeout --role --type --host --chdir "
             "--chroot --other-user",
             true},
    Launcher{"doas", "uC", "", true},
    Launcher{"taskset", "", ""},
};

// Whether the word after an option, or after a group of short options, is its value.
bool TakesNextWord(const Launcher& launcher, std::string_view option) {
  if (option.starts_with("--")) {
    const auto names = Split(launcher.names, " ");
    return std::find(names.begin(), names.end(), option) != names.end();
  }
  // The value of a short option is the rest of its word or, if there is none, the next word.
  return option.find_first_of(launcher.letters, 1) == option.size() - 1;
}

const Launcher* LauncherOf(const fs::path& program) {
  for (const Launcher& launcher : kLaunchers) {
    if (program.filename() == launcher.name) return &launcher;
  }
  return nullptr;
}

// Reads the option at words[i] of env as -S or --split-string. Returns the words of its text and
// the number of words that the option takes; no words and 0 for another option.
std::pair<std::vector<std::string>, std::size_t> SplitString(const std::vector<std::string>& words,
                                                             std::size_t i) {
  const std::string& word = words[i];
  const std::string_view name = "--split-string=";
  if ((word == "-S" || word == "--split-string") && i + 1 < words.size()) {
    return {Split(words[i + 1], " \t"), 2};
  }
  if (word.rfind("-S", 0) == 0 && word.size() > 2) return {Split(word.substr(2), " \t"), 1};
  if (word.rfind(name, 0) == 0) return {Split(word.substr(name.size()), " \t"), 1};
  return {};
}

// The command after the launcher's own words; empty if there is none. Sets `cleans` if these words
// make it clean the environment.
std::vector<std::string> AfterLauncher(const Launcher& launcher, std::vector<std::string> words,
                                       bool* cleans) {
  std::size_t i = 1;
  bool skip_one = launcher.name == "timeout" || launcher.name == "taskset";  // duration, or mask
  bool options = true;                                                       // until "--"
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (options && word == "--") {
      options = false;
      continue;
    }
    const bool assignment = (launcher.name == "env" || launcher.name == "sudo") && word[0] != '-' &&
                            word.find('=') != std::string::npos;
    if (assignment) continue;
    if (launcher.name == "env" && word == "-") {  // the same as -i
      *cleans = true;
      continue;
    }
    if (options && word.size() > 1 && word[0] == '-') {
      if (const auto [split, taken] = SplitString(words, i); launcher.name == "env" && taken > 0) {
        const auto option = words.begin() + static_cast<std::ptrdiff_t>(i);
        const auto rest = words.erase(option, option + static_cast<std::ptrdiff_t>(taken));
        words.insert(rest, split.begin(), split.end());
        --i;  // continue with the first of these words
        continue;
      }
      if (word == "-i" || word == "--ignore-environment")
        *cleans = *cleans || launcher.name == "env";
      if (TakesNextWord(launcher, word)) ++i;
      continue;
    }
    if (!skip_one) break;
    skip_one = false;
  }
  if (i >= words.size()) return {};
  return {words.begin() + static_cast<std::ptrdiff_t>(i), words.end()};
}

}  // namespace

std::string ReadStart(const fs::path& file, std::size_t most) {
  return ReadAt(file, 0, most);
}

std::optional<fs::path> FindOnPath(const std::string& name, const Environment& environment,
                                   const fs::path& current) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : current / name;
    return IsExecutable(path) ? std::optional(path) : std::nullopt;
  }
  const auto found = environment.find("PATH");
  const std::string folders = found == environment.end() ? "/bin:/usr/bin" : found->second;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    // An absolute folder replaces `current`; an empty folder means `current`.
    const fs::path path = current / folders.substr(at, end - at) / name;
    if (IsExecutable(path)) return path;
    at = end + 1;
  }
  return std::nullopt;
}

bool IsPython(const fs::path& program) {
  const std::string name = program.filename().string();
  return name.rfind("python", 0) == 0 || name.rfind("pypy", 0) == 0;
}

tl::expected<Executable, std::string> ResolveTarget(const std::vector<std::string>& command,
                                                    const Environment& environment,
                                                    const fs::path& current) {
  Executable program;
  program.words = command;
  for (int hop = 0; hop < kMostHops; ++hop) {
    const auto path = FindOnPath(program.words.front(), environment, current);
    if (!path) return tl::unexpected(program.words.front());
    program.path = *path;
    if (const Launcher* launcher = LauncherOf(*path)) {
      if (IsPrivileged(*path)) program.privileged = *path;
      bool cleans = launcher->cleans;
      const auto rest = AfterLauncher(*launcher, program.words, &cleans);
      if (cleans) {
        program.cleans_environment = true;
        program.cleaner = launcher->name;
      }
      if (rest.empty()) break;
      program.words = rest;
      continue;
    }
    if (const auto real = BehindShim(*path, environment, current)) {
      program.words.front() = real->string();
      continue;
    }
    const std::string head = ReadStart(*path, kHead);
    if (head.rfind("\x7f"
                   "ELF",
                   0) == 0) {
      if (IsPrivileged(*path)) program.privileged = *path;
      ParseElf(head, program);
      return program;
    }
    if (head.rfind("#!", 0) != 0) return program;
    std::vector<std::string> words = Split(head.substr(2, head.find('\n') - 2), " \t\r");
    if (words.empty()) return program;
    program.words.front() = path->string();
    program.words.insert(program.words.begin(), words.begin(), words.end());
  }
  return program;
}

}  // namespace penstock::analyzer
