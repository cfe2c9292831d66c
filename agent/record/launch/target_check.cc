// SPDX-License-Identifier: Apache-2.0
#include "agent/record/launch/target_check.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "agent/record/sample/proc_fs.h"

namespace penstock::record {
namespace {

// The part of a file that is read: enough for headers and, in practice, for names of libraries.
constexpr std::size_t kHead = 1 << 20;

template <class T>
std::optional<T> Load(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr unsigned char kOwnMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#else
    EM_NONE;
#endif

ProgramFile ParseElf(std::string_view bytes) {
  ProgramFile file;
  file.kind = ProgramFile::Kind::kElf;
  const auto header = Load<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kOwnMachine) {
    file.is_native = false;
    return file;
  }
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        Load<Elf64_Phdr>(bytes, header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_INTERP) continue;
    if (segment->p_offset >= bytes.size()) {
      file.interpreter = "?";  // the interpreter's name lies beyond the part that was read
      break;
    }
    const std::string_view text = bytes.substr(segment->p_offset, segment->p_filesz);
    file.interpreter = text.substr(0, text.find('\0'));
  }
  return file;
}

// The program that runs a script, from the words after #!. If it is env, the program that env
// starts.
std::string ScriptProgram(const std::string& line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const auto end = std::min(line.find_first_of(" \t", at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  if (words.empty()) return {};
  if (std::filesystem::path(words[0]).filename() != "env") return words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i][0] != '-' && words[i].find('=') == std::string::npos) return words[i];
  }
  return words[0];
}

void CheckPreloads(std::string_view preload, TargetReport& report) {
  while (!preload.empty()) {
    const auto end = std::min(preload.find_first_of(": "), preload.size());
    const std::string name = std::filesystem::path(preload.substr(0, end)).filename().string();
    preload.remove_prefix(std::min(end + 1, preload.size()));
    for (const std::string_view other : {"libdarshan", "librecorder", "libdftracer", "libscorep"}) {
      if (name.rfind(other, 0) == 0) {
        report.warnings.push_back(fmt::format(
            "{} is preloaded too: both intercept file reads; take it out if the run misbehaves",
            name));
      }
    }
  }
}

bool IsPrivileged(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) == 0) {
    if ((info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid()) return true;
    if ((info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0 &&
        info.st_gid != getegid()) {
      return true;
    }
  }
  return geteuid() != 0 && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
}

void CheckFile(const std::filesystem::path& file, std::string_view search_path,
               std::string_view preload, int depth, TargetReport& report) {
  const std::string name = file.filename().string();
  const auto head = ReadFile(file.string(), kHead);
  if (!head) return;  // exec needs no read permission, so the program may still run
  const ProgramFile program = ParseProgram(*head);
  if (program.kind == ProgramFile::Kind::kScript) {
    const auto next = FindProgram(ScriptProgram(program.interpreter), search_path);
    if (next && depth < 4) CheckFile(*next, search_path, preload, depth + 1, report);
    return;
  }
  if (program.kind != ProgramFile::Kind::kElf) return;
  if (!program.is_native) {
    report.preload = false;
    report.warnings.push_back(
        fmt::format("{} is a program for another machine or word size: "
                    "it runs untraced",
                    name));
  } else if (program.interpreter.empty()) {
    report.warnings.push_back(
        fmt::format("{} is statically linked: the agent can record only the "
                    "programs that it starts",
                    name));
  } else if (program.interpreter.find("musl") != std::string::npos) {
    report.preload = false;
    report.warnings.push_back(
        fmt::format("{} is linked with musl, the agent needs glibc: "
                    "it runs untraced",
                    name));
  } else if (head->find("libasan.so") != std::string::npos &&
             preload.find("libasan") == std::string_view::npos) {
    // AddressSanitizer ends a program in which another library is loaded before it.
    report.preload = false;
    report.warnings.push_back(
        fmt::format("{} is built with AddressSanitizer: it runs untraced; "
                    "with libasan.so in LD_PRELOAD it can be traced",
                    name));
  } else if (IsPrivileged(file)) {
    report.warnings.push_back(
        fmt::format("{} is setuid or has capabilities: the loader keeps the "
                    "agent out of it",
                    name));
  }
}

}  // namespace

ProgramFile ParseProgram(std::string_view bytes) {
  ProgramFile file;
  if (bytes.substr(0, 4) == std::string_view(ELFMAG, SELFMAG)) return ParseElf(bytes);
  if (bytes.substr(0, 2) == "#!") {
    file.kind = ProgramFile::Kind::kScript;
    file.interpreter = Trimmed(bytes.substr(2, bytes.find('\n') - 2));
  }
  return file;
}

std::optional<std::filesystem::path> FindProgram(const std::string& command,
                                                 std::string_view search_path) {
  const auto usable = [](const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
  };
  if (command.find('/') != std::string::npos) {
    return usable(command) ? std::optional<std::filesystem::path>(command) : std::nullopt;
  }
  if (command.empty()) return std::nullopt;
  while (true) {
    const auto colon = search_path.find(':');
    const std::string_view folder = search_path.substr(0, colon);
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / command;
    if (usable(file)) return file;
    if (colon == std::string_view::npos) return std::nullopt;
    search_path.remove_prefix(colon + 1);
  }
}

TargetReport CheckTarget(const std::string& command, std::string_view search_path,
                         std::string_view preload) {
  TargetReport report;
  const auto file = FindProgram(command, search_path);
  if (!file) {
    struct stat info {};
    if (command.find('/') != std::string::npos && stat(command.c_str(), &info) == 0) {
      report.status = 126;
      report.message = fmt::format("{}: {}", command,
                                   S_ISDIR(info.st_mode) ? "is a directory" : "permission denied");
    } else {
      report.status = 127;
      report.message = fmt::format(
          "{}: {}", command,
          command.find('/') == std::string::npos ? "command not found" : "no such file");
    }
    return report;
  }
  CheckFile(*file, search_path, preload, 0, report);
  CheckPreloads(preload, report);
  return report;
}

}  // namespace penstock::record
