// SPDX-License-Identifier: Apache-2.0
//
// What the small programs share: how they parse, print and fail.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "traces/base/json_text.h"
#include "traces/base/result.h"
#include "traces/base/say.h"

namespace penstock::traces {

// Parses; true if the program goes on, else `*status` is its exit status: 0 after --help or
// --version, 2 for a wrong command line.
inline bool ParseCommandLine(CLI::App& app, int argc, char** argv, int* status) {
  app.set_version_flag("--version", app.get_name() + " " PENSTOCK_VERSION);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      *status = app.exit(error);
    } else {
      SayError(app.get_name(), std::string(error.what()) + "; see --help");
      *status = ExitStatus(ErrorKind::kUsage);
    }
  }
  return false;
}

// Writes all of `text` to standard output. A reader that went away (| head) has seen enough.
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

// Prints the one line of an error and returns its exit status.
inline int Complain(const CLI::App& app, const Error& error) {
  SayError(app.get_name(), VisibleText(error.message));
  return ExitStatus(error.kind);
}

}  // namespace penstock::traces
