// SPDX-License-Identifier: Apache-2.0
//
// Runs NVML in a process of its own, a child of the collector. If the driver blocks or the library
// crashes, nothing else is harmed. The process sends records through a pipe, writes to shared
// memory which call it is in, and ends with the collector.
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
    kListed = 4,   // all processes of the device have been sent
    kStatus = 5,   // text, for the fact gpu.nvml
  };
  std::uint32_t kind = 0;
  std::int32_t device = -1;  // -1: of all devices
  std::int64_t at = 0;       // CLOCK_MONOTONIC nanoseconds
  std::int64_t value = 0;
  std::int64_t extra = -1;
  char key[40] = {};
  char text[184] = {};
};
// write() sends a record as a whole, since a record is smaller than PIPE_BUF (4096 bytes).
static_assert(sizeof(GpuRecord) == 256 && std::is_trivially_copyable_v<GpuRecord>);

// Shared by both processes. `call` points to a literal: parent and child have it at the same
// address, since the child is forked.
struct GpuProgress {
  std::atomic<const char*> call{"starting"};  // relaxed; only for messages
  std::atomic<std::uint64_t> count{0};        // relaxed; grows with each call, and while the child
                                              // waits
};

// If `count` does not grow for this long, the child hangs in its last call. A child that waits
// increases `count` more often than that.
inline constexpr TimeNs kNvmlSilence{2'000'000'000};

struct NvmlChild {
  int fd = -1;                      // the pipe for records
  int parent = 0;                   // pid
  GpuProgress* progress = nullptr;  // in shared memory
  TimeNs period{200'000'000};
};

// Runs in the child and does not return.
[[noreturn]] void RunNvmlChild(const NvmlChild& child);

}  // namespace penstock::record
