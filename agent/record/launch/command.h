// SPDX-License-Identifier: Apache-2.0
//
// Starts the command with an environment that loads the agent into it and its descendants.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "agent/record/collect/channel.h"
#include "agent/record/options.h"

namespace penstock::record {

// Returns `environment` ("NAME=value" strings) with the variables that the agent needs. The agent
// comes last in LD_PRELOAD, since AddressSanitizer and memory allocators in it must come first.
[[nodiscard]] std::vector<std::string> TracedEnvironment(
    const std::vector<std::string>& environment, const Options& options, const std::string& agent,
    const std::string& arena);

// The signal state with which the launcher was started. The command gets it back.
struct SignalState {
  sigset_t mask{};
  struct sigaction child {};  // what SIGCHLD does; the launcher changes it before the start
};

struct Started {
  pid_t pid = -1;
  int error = 0;  // errno of fork or exec; pid is then -1
  bool forked = true;
};
// Forks and executes; returns once exec has succeeded or failed. `channel` may be closed.
[[nodiscard]] Started Start(const std::vector<std::string>& command,
                            const std::vector<std::string>& environment, const SignalState& signals,
                            const Channel& channel);

// Replaces this program by the command; returns errno.
int Become(const std::vector<std::string>& command);

// Waits until the child has ended, and returns its wait status.
int Reap(pid_t child);

// The exit status of a shell for this errno of exec: 127 if the command is not found, else 126.
[[nodiscard]] int ExecStatus(int error);

// The current environment.
[[nodiscard]] std::vector<std::string> Environment();

}  // namespace penstock::record
