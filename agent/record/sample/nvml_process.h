// SPDX-License-Identifier: Apache-2.0
//
// NVML in a process of its own, a child of the collector: a driver that blocks or a library that
// crashes takes nothing else with it. It sends records through a pipe, says in shared memory which
// call it is in, and ends with the collector.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "traces/base/units.h"

namespace penstock::record {

struct GpuRecord {
  enum Kind : std::uint32_t {
    kFact = 1,     // key = text
    kCounter = 2,  // key had `value` at `at`
    kProcess = 3,  // process `value` has a context on the device; `extra`: its bytes there, or -1
    kListed = 4,   // these were all processes of the device
    kStatus = 5,   // text, for the fact gpu.nvml
  };
  std::uint32_t kind = 0;
  std::int32_t device = -1;  // -1: of all
  std::int64_t at = 0;       // CLOCK_MONOTONIC nanoseconds
  std::int64_t value = 0;
  std::int64_t extra = -1;
  char key[40] = {};
  char text[184] = {};
};
// Written whole by one write() (PIPE_BUF is 4096).
static_assert(sizeof(GpuRecord) == 256 && std::is_trivially_copyable_v<GpuRecord>);

// Shared by both processes. `call` points to a literal: a forked child has it at the same address.
struct GpuProgress {
  std::atomic<const char*> call{"starting"};  // relaxed; for messages only
  std::atomic<std::uint64_t> count{0};        // relaxed; calls made and signs of life so far
};

// Without a call for so long, the child hangs in the last one. It gives a sign of life more often
// while it waits.
inline constexpr TimeNs kNvmlSilence{2'000'000'000};

struct NvmlChild {
  int fd = -1;                      // where records go
  int parent = 0;                   // pid
  GpuProgress* progress = nullptr;  // in shared memory
  TimeNs period{200'000'000};
};

// Runs in the child and does not return.
[[noreturn]] void RunNvmlChild(const NvmlChild& child);

}  // namespace penstock::record
