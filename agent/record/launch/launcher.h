// SPDX-License-Identifier: Apache-2.0
//
// Runs the command with a collector beside it and ends as the command ended. The launcher is the
// parent of the command, in the same process group. It prints to standard error.
#pragma once

#include "agent/record/options.h"

namespace penstock::record {

// Settings of launcher and collector from the environment, for tests and unusual machines.
struct Settings {
  const char* agent = nullptr;           // PENSTOCK_AGENT
  const char* runtime_folder = nullptr;  // XDG_RUNTIME_DIR
  bool force_monotonic = false;          // PENSTOCK_CLOCK=monotonic: true
  int nice = 5;                          // PENSTOCK_NICE
  const char* shm_folder = nullptr;      // PENSTOCK_SHM
  bool use_memfd = true;                 // PENSTOCK_MEMFD=0: false
};

// Returns the exit status for main(). If a signal ended the command, ends this process by the same
// signal.
int Launch(Options options, const Settings& settings);

}  // namespace penstock::record
