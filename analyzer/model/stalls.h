// SPDX-License-Identifier: Apache-2.0
//
// Where workers and the training loop stood still, from the stacks that the agent read of them
// (traces/FORMAT.md, "Followed units"). Values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Stalls at one line of the program.
struct Stalls {
  std::string name;  // the innermost function of the program
  std::string file;
  std::uint32_t line = 0;  // that it was at
  std::string waits_in;    // the innermost function, where that is not the program's; "": it is
  std::string waits_file;
  std::uint32_t waits_line = 0;
  traces::StageId stage = traces::StageId::kNone;  // sample, fetch, collate or step
  bool after_epoch = false;  // the loop had had the last batch of an epoch: of the longest one
  std::size_t count = 0;
  double time = 0;     // seconds of all of them
  double longest = 0;  // seconds
  TimeNs at{};         // when the longest one began, since the begin of the trace
  std::int64_t sample = wire::kNoSample;  // of the longest one
  traces::BatchKey batch;                 // of the longest one
  std::int32_t worker = -1;               // of the longest one; -1: the training loop
  ProcessId process;                      // of the longest one
};

// The line with the most time first.
[[nodiscard]] std::vector<Stalls> FindStalls(const traces::Trace& trace);

// Whether Stalls::sample is an index into the dataset. Samples of an iterable dataset have none:
// they are numbered as they come.
[[nodiscard]] bool IsIndexed(const Stalls& stalls, const RunModel& run);

}  // namespace penstock::analyzer
