// SPDX-License-Identifier: Apache-2.0
//
// Shared by the small programs: reading the command line, printing and reporting errors.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "traces/base/command_line.h"
#include "traces/base/json_text.h"
#include "traces/base/result.h"
#include "traces/base/say.h"

namespace penstock::traces {

// Reads the command line. Returns true if the program is to go on; otherwise `*status` is its exit
// status: 0 after --help or --version, 2 for a wrong command line.
inline bool ParseCommandLine(CommandLine& line, int argc, char** argv, int* status) {
  line.AddVersion(line.name());
  const auto print = line.Read({argv + 1, argv + argc});
  if (!print) {
    SayError(line.name(), VisibleText(print.error().message + "; see --help"));
    *status = ExitStatus(print.error().kind);
    return false;
  }
  if (!*print) return true;
  static_cast<void>(std::fputs((*print)->c_str(), stdout));
  *status = 0;
  return false;
}

// Writes all of `text` to standard output. A reader that ends early (| head) is not an error.
// Errors: kOutput.
inline Result<void> ToStandardOutput(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return {};
  }
  if (errno == EPIPE) return {};
  return Fail(ErrorKind::kOutput, fmt::format("standard output cannot be written: {}",
                                              std::generic_category().message(errno)));
}

// Prints an error in one line and returns its exit status.
inline int Complain(const CommandLine& line, const Error& error) {
  SayError(line.name(), VisibleText(error.message));
  return ExitStatus(error.kind);
}

}  // namespace penstock::traces
