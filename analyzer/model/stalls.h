// SPDX-License-Identifier: Apache-2.0
//
// Finds where workers and the training loop stood still, from their stacks, which the agent
// recorded (traces/FORMAT.md, "Followed units"). Values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// All stalls at one line of the program in which the same innermost function waited.
struct Stalls {
  // The innermost function of the program. If no function of the program is on the stack, the
  // outermost function.
  std::string name;
  std::string file;
  std::uint32_t line = 0;  // the line of this function at which the thread stood still
  std::string waits_in;    // the innermost function on the stack; "": it is the function `name`
  std::string waits_file;
  std::uint32_t waits_line = 0;
  traces::StageId stage = traces::StageId::kNone;  // sample, fetch, collate or step
  bool after_epoch = false;  // the loop had already taken the last batch of an epoch
  std::size_t count = 0;
  double time = 0;     // seconds of all these stalls
  double longest = 0;  // seconds
  // The fields below describe the longest stall, as do `stage`, `after_epoch` and `waits_line`.
  TimeNs at{};  // when the stall began, since the beginning of the trace
  std::int64_t sample = wire::kNoSample;
  traces::BatchKey batch;
  std::int32_t worker = -1;  // -1: the training loop
  ProcessId process;
};

// The stalls of a trace, those with the most time first.
[[nodiscard]] std::vector<Stalls> FindStalls(const traces::Trace& trace);

// Whether Stalls::sample is an index into the dataset. Samples of an iterable dataset have none:
// they are numbered as they come.
[[nodiscard]] bool IsIndexed(const Stalls& stalls, const RunModel& run);

}  // namespace penstock::analyzer
