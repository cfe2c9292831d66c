// SPDX-License-Identifier: Apache-2.0
//
// What the three small programs here share: how they parse and how they fail.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "traces/base/result.h"

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
      fmt::print(stderr, "{}: {}; see --help\n", app.get_name(), error.what());
      *status = ExitStatus(ErrorKind::kUsage);
    }
  }
  return false;
}

// Prints the one line of an error and returns its exit status.
inline int Complain(const CLI::App& app, const Error& error) {
  fmt::print(stderr, "{}: {}\n", app.get_name(), error.message);
  return ExitStatus(error.kind);
}

}  // namespace penstock::traces
