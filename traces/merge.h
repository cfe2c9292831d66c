// SPDX-License-Identifier: Apache-2.0
//
// Several traces of one run, of its ranks and hosts, as one: every process of all of them, on one
// clock. How the clocks stand to each other is given; analyzer/ranks/ finds that out.
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

// What turns times of one trace into those of another: a line.
struct ClockShift {
  TimeNs offset;     // to be added at `from`
  double drift = 0;  // and for each nanosecond since then
  TimeNs from;

  [[nodiscard]] TimeNs At(TimeNs time) const;
};

struct MergePart {
  const Trace* trace = nullptr;
  std::string name;                          // of the file, for people
  ClockShift clock;                          // to the clock of the first part
  std::map<std::string, std::string> facts;  // to be kept beside its own: how sure the clock is
};

// Whether a trace is the result of a merge.
[[nodiscard]] bool IsMerged(const Trace& trace);

// Copies all parts to `out`, which must be empty, and leaves Finish() to the caller. The run's
// facts are those of the first part; those of part N stay as part.N.KEY, and each of its processes
// has the fact `part`; pids and tids of a part whose pids clash with those of another are moved by
// 10,000,000 times its number, up to part 200 (fact `pid`: what it was). What counts a whole host
// (GPUs, shared and free memory) is taken once of each host; GPUs of further hosts get numbers of
// their own behind those of the ones before. Requires: at least one part. Errors: kInput for a part
// that is a merge already.
[[nodiscard]] Result<void> MergeTraces(std::span<const MergePart> parts, Packer& out);

}  // namespace penstock::traces
