// SPDX-License-Identifier: Apache-2.0
//
// Counters that are drawn below the spans: CPU, memory, finished batches. Values; pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gui/model/words/texts.h"
#include "traces/trace.h"

namespace penstock::analyzer {
struct Report;
}  // namespace penstock::analyzer

namespace penstock::gui {

struct Analysis;

// kMemory: the memory of each process, in which shared pages count in parts (PSS). kMapped: all
// that each process has mapped (RSS), used where PSS was not recorded for most of the run.
enum class CounterKind : std::uint8_t { kCpu, kMemory, kReadyBatches, kGpuBusy, kDisk, kMapped };

struct CounterPoint {
  std::int64_t at = 0;  // ns since the trace began
  double value = 0;     // holds until the next point: cores, bytes, batches, a fraction, bytes/s
};

struct CounterTrack {
  static constexpr std::uint32_t kAll = 0xffffffffu;
  CounterKind kind = CounterKind::kCpu;
  std::uint32_t process = kAll;  // index into Trace::processes(), or the whole run
  std::vector<CounterPoint> points;
  double most = 0;
  bool limit = false;  // `most` is the most that is possible, not the most that was recorded
};

// Builds the tracks of the counters that were recorded: finished batches; the share of time in
// which kernels run on any stream of a device, the mean over the devices; CPU of the run and of
// each process; reads from the disk; memory of the run and of each process (PSS, else RSS).
[[nodiscard]] std::vector<CounterTrack> BuildCounters(const traces::Trace& trace,
                                                      const Analysis& analysis);

// The value that holds at `at`; 0 before the first point.
[[nodiscard]] double ValueAt(const CounterTrack& track, std::int64_t at);

// At most about 2 * `columns` points that draw the same picture: the first and the last point, and
// in each of `columns` equal parts of the time the lowest and the highest one.
[[nodiscard]] std::vector<CounterPoint> Thinned(const CounterTrack& track, std::size_t columns);

// The highest value in each of `columns` equal parts of [from, to); -1 where there is none.
[[nodiscard]] std::vector<float> Resample(const CounterTrack& track, std::int64_t from,
                                          std::int64_t to, std::size_t columns);

// The name of a kind of track. Two kinds of memory are not the same, so each kind has its own.
[[nodiscard]] Text CounterName(CounterKind kind);
// Whether a track adds up the RSS of all processes, in which shared memory counts several times.
[[nodiscard]] bool IsSumOfMapped(const CounterTrack& track);
// The name of a track. That of the finished batches says whose they are if there are several ranks
// or loaders: "Finished batches  ·  rank 1  ·  train.py:88".
[[nodiscard]] std::string CounterTitle(const CounterTrack& track, const analyzer::Report& report,
                                       Language language);
// A value of a track with its unit.
[[nodiscard]] std::string CounterText(const CounterTrack& track, double value);

}  // namespace penstock::gui
