// SPDX-License-Identifier: Apache-2.0
//
// Looks at a command before it is started: can the agent be loaded into it, and what in the
// environment is in the way? Reads files, changes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::record {

struct TargetReport {
  int status = 0;  // 126, 127: it cannot be run, as a shell would say; see `message`
  std::string message;
  bool preload = true;                // false: the agent would break it or make the loader complain
  std::vector<std::string> warnings;  // one line each
};

// `search_path`: the value of PATH. `preload`: the value of LD_PRELOAD.
[[nodiscard]] TargetReport CheckTarget(const std::string& command, std::string_view search_path,
                                       std::string_view preload);

// The file that `command` names, looked up like execvp().
[[nodiscard]] std::optional<std::filesystem::path> FindProgram(const std::string& command,
                                                               std::string_view search_path);

// What a program file is, from its first bytes.
struct ProgramFile {
  enum class Kind { kUnknown, kScript, kElf } kind = Kind::kUnknown;
  std::string interpreter;  // script: words behind #!; ELF: PT_INTERP, empty if static
  bool same_class = true;   // ELF: 64 bit, this machine
};
[[nodiscard]] ProgramFile ParseProgram(std::string_view bytes);

}  // namespace penstock::record
