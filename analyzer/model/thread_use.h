// SPDX-License-Identifier: Apache-2.0
//
// What each thread of a program without a loader did over time: data stages, and waiting for other
// threads or processes. Values; does not refer to the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/trace.h"

namespace penstock::analyzer {

// Seconds that a thread spent on each activity, by slice of time; `waits` is the number of its
// waits.
struct ThreadUse {
  ProcessId process;
  bool first = false;   // the first thread of its process
  bool python = false;  // it called libraries from Python
  std::vector<float> read, decode, augment, tokenize, collate, blocked, waits;
  std::vector<float> cpu;  // of decoding, augmenting, tokenizing and collating
};

struct ThreadsUse {
  std::int64_t begin = 0;          // start of the first slice, in ns of the trace
  double slice = 0;                // seconds
  std::vector<ThreadUse> threads;  // threads with data stages or waits
  // By slice, the number that were finished in it: samples; decodes that gave pixels; all decodes.
  std::vector<std::uint32_t> samples, pictures, decodes;

  [[nodiscard]] bool empty() const { return samples.empty(); }
};

// Measures from the first data span of any thread to the last; empty if there is none.
//
// Cost: two passes over the spans. Memory: at most 64 KiB for each thread of `threads`.
[[nodiscard]] ThreadsUse MeasureThreads(const traces::Trace& trace);

}  // namespace penstock::analyzer
