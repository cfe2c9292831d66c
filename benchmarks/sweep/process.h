// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and keeps its output. Calls are independent of each other.
#pragma once

#include <csignal>

#include <stop_token>
#include <string>
#include <vector>

#include "traces/base/result.h"

namespace penstock::sweep {

struct ProcessLimits {
  double timeout_s = 0;    // 0: none
  sigset_t signal_mask{};  // signal mask of the program
};

struct Finished {
  int status = 0;  // as from waitpid()
  bool timed_out = false;
  std::string out;  // the last 4 MiB of standard output
  std::string err;  // the last 64 KiB of standard error
  double wall_s = 0;
};

// Runs argv[0] (searched in PATH if it has no slash) in a process group of its own with an empty
// standard input. When `stop` is requested or the time is up, the group gets SIGINT, and SIGKILL
// ten seconds later.
//
// Requires: argv is not empty.
// Errors:   kEnvironment if the program cannot be started.
Result<Finished> RunProcess(const std::vector<std::string>& argv, const ProcessLimits& limits,
                            const std::stop_token& stop);

// Says how a program ended: "status 3", "killed by signal 9", "time was up"; empty for status 0.
[[nodiscard]] std::string EndOf(const Finished& finished);

// The last line of `text` that is not blank.
[[nodiscard]] std::string LastLine(const std::string& text);

}  // namespace penstock::sweep
