// SPDX-License-Identifier: Apache-2.0
//
// Checks a command before it is started: whether the agent can be loaded into it, and whether the
// environment prevents that. Reads files and changes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::record {

struct TargetReport {
  int status = 0;  // 126 or 127, as in a shell: the command cannot be run; `message` says why
  std::string message;
  bool preload = true;                // false: the agent would break the program, or ld.so would
                                      // complain
  std::vector<std::string> warnings;  // one line each
};

// `search_path` is the value of PATH, `preload` that of LD_PRELOAD.
[[nodiscard]] TargetReport CheckTarget(const std::string& command, std::string_view search_path,
                                       std::string_view preload);

// The file that `command` names, looked up as execvp() does.
[[nodiscard]] std::optional<std::filesystem::path> FindProgram(const std::string& command,
                                                               std::string_view search_path);

// The kind of a program file, from its first bytes.
struct ProgramFile {
  enum class Kind { kUnknown, kScript, kElf } kind = Kind::kUnknown;
  std::string interpreter;  // script: words behind #!; ELF: PT_INTERP, empty if static
  bool is_native = true;    // ELF: 64 bit, for this machine
};
[[nodiscard]] ProgramFile ParseProgram(std::string_view bytes);

}  // namespace penstock::record
