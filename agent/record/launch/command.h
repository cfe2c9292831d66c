// SPDX-License-Identifier: Apache-2.0
//
// Starts the command with the environment that carries the agent into it and its descendants.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "agent/record/collect/channel.h"
#include "agent/record/options.h"

namespace penstock::record {

// "NAME=value" strings. The agent is appended to LD_PRELOAD, never put in front: ASan and memory
// allocators that are there want to be first.
[[nodiscard]] std::vector<std::string> TracedEnvironment(
    const std::vector<std::string>& environment, const Options& options, const std::string& agent,
    const std::string& arena);

// The signal state the launcher was started with: the command gets it back.
struct SignalState {
  sigset_t mask{};
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

// "command not found" or what else `error` means; 127 or 126.
[[nodiscard]] int ExecStatus(int error);

// The current environment.
[[nodiscard]] std::vector<std::string> Environment();

}  // namespace penstock::record
