// SPDX-License-Identifier: Apache-2.0
//
// Finds the program that a command line starts in the end, through PATH, #! lines, launchers such
// as env and sudo, and shims of pyenv. Only reads files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace penstock::analyzer {

using Environment = std::map<std::string, std::string>;

struct Executable {
  std::filesystem::path path;
  std::vector<std::string> words;  // of the command: this program's name and its arguments
  std::string interpreter;         // PT_INTERP; empty if static
  bool elf = false;
  bool own_machine = true;  // false: an ELF file that is not 64-bit code for this kind of processor
  bool needs_asan = false;  // built with AddressSanitizer
  // The last program on the way that has capabilities, or that is setuid or setgid for another user
  // or group; empty: none.
  std::filesystem::path privileged;
  bool cleans_environment = false;  // env -i, sudo: LD_PRELOAD does not reach the program
  std::string cleaner;              // the launcher that cleans the environment
};

// The file that execvp() would run; nullopt if there is none.
[[nodiscard]] std::optional<std::filesystem::path> FindOnPath(const std::string& name,
                                                              const Environment& environment,
                                                              const std::filesystem::path& current);

// Follows launchers to the program that will do the work. The error is the name of a program on the
// way that was not found. Requires: !command.empty().
[[nodiscard]] tl::expected<Executable, std::string> ResolveTarget(
    const std::vector<std::string>& command, const Environment& environment,
    const std::filesystem::path& current);

[[nodiscard]] bool IsPython(const std::filesystem::path& program);

// The first `most` bytes of a file; "" if it cannot be read.
[[nodiscard]] std::string ReadStart(const std::filesystem::path& file, std::size_t most);

}  // namespace penstock::analyzer
