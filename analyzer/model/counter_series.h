// SPDX-License-Identifier: Apache-2.0
//
// Counters of processes over time. Values; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/batch.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One counter of one process over time.
struct CounterSeries {
  std::string name;  // "cpu_ns", "uss_bytes", ...: traces/FORMAT.md
  ProcessId process;
  std::vector<double> at;  // seconds since Trace::begin()
  std::vector<double> value;

  // The value at `time`, by linear interpolation between samples. Before the first and after the
  // last sample the value is that of the nearest sample.
  // Requires: there are samples.
  [[nodiscard]] double ValueAt(double time) const;
  // The last value at or before `seconds`; nullopt before the first.
  [[nodiscard]] std::optional<double> LastUntil(double seconds) const;
};

// How much a counter grew, and in which time.
struct CounterGrowth {
  double value = 0;
  double seconds = 0;
};

// The growth of a cumulative counter within `windows` (times of the trace), as far as its samples
// cover them. `begin`: Trace::begin(). A window in which the counter fell, because it was reset,
// adds its time and no growth. Nothing if there are fewer than two samples.
[[nodiscard]] CounterGrowth GrowthWithin(
    const CounterSeries& series, std::span<const std::pair<std::int64_t, std::int64_t>> windows,
    TimeNs begin);

// Removes what page tables of workers told after their training process had ended. A page that a
// worker shared with that process alone then counts as the worker's own. `consumer_of`: by process,
// the training process that it works for. Keeps pss_bytes, whose sum over the processes stays
// right.
void RemoveWalksOfOrphans(std::span<const wire::ProcessRole> roles,
                          std::span<const ProcessId> consumer_of,
                          std::vector<CounterSeries>& counters);

// All counters of a trace, by name and process. The counter "threads" counts only the program's
// threads, without those of the agent.
[[nodiscard]] std::vector<CounterSeries> ReadCounters(const traces::Trace& trace);

}  // namespace penstock::analyzer
