// SPDX-License-Identifier: Apache-2.0
//
// Merges several traces of one run, from its ranks and hosts, into one trace with all their
// processes on one clock. The caller knows how the clocks relate; analyzer/ranks/ finds that out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"
#include "traces/pack.h"
#include "traces/trace.h"

namespace penstock::traces {

// A line that converts times of one trace to those of another.
struct ClockShift {
  TimeNs offset;     // to add at `from`
  double drift = 0;  // to add for each nanosecond since then
  TimeNs from;

  [[nodiscard]] TimeNs At(TimeNs time) const;
};

struct MergePart {
  const Trace* trace = nullptr;
  std::string name;                          // the file, for people
  ClockShift clock;                          // to the clock of the first part
  std::map<std::string, std::string> facts;  // added to its own: how exact the clock is
};

// Whether a trace is the result of a merge.
[[nodiscard]] bool IsMerged(const Trace& trace);

// Copies all parts to `out`, which must be empty; the caller calls Finish(). The run's facts are
// those of the first part. The facts of part N are kept as part.N.KEY, and each of its processes
// has the fact `part`. If a part has pids that another part has too, 10,000,000 times its number is
// added to its pids and tids, up to part 200; the fact `pid` keeps the original. Counters and facts
// of a whole host (GPUs, shared and free memory) are copied once for each host. GPUs of further
// hosts get the next free numbers.
// Requires: at least one part. Errors: kInput for a part that is a merged trace already.
[[nodiscard]] Result<void> MergeTraces(std::span<const MergePart> parts, Packer& out);

}  // namespace penstock::traces
