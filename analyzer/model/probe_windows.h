// SPDX-License-Identifier: Apache-2.0
//
// The windows of experiments inside a run (docs/diagnosis.md 3.12), as training processes recorded
// them. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "traces/trace.h"

namespace penstock::analyzer {

struct ProbeWindow {
  wire::ProbeFactor factor = wire::kProbePlain;
  double slowed = 1;  // everything except the factor takes this many times as long
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// The windows of one process, in order. The last one ends with the trace if its end was not seen.
// Several threads of a process may ask loaders for batches and record the same window. Only the
// first record counts.
[[nodiscard]] std::vector<ProbeWindow> ProbeWindowsOf(const traces::Trace& trace,
                                                      ProcessId process);

// The time from the first window to the end of the last; nullopt if there are none.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> ProbedTime(
    const std::vector<ProbeWindow>& windows);

}  // namespace penstock::analyzer
