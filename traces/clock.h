// SPDX-License-Identifier: Apache-2.0
//
// Converts ticks of a recording to CLOCK_MONOTONIC nanoseconds. A value; not thread-safe while
// anchors are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/event.h"
#include "traces/wire.h"

namespace penstock::traces {

// A piecewise linear function through the sound anchors. The frozen part does not change: later
// anchors bend the line only after the latest frozen tick, so the order of a stream is kept. There
// is one exception: a line of more than 16,384 segments loses every second bend of its older half.
class ClockMap {
 public:
  // `kind`: as the file header says; anchors overrule it.
  ClockMap(wire::ClockKind kind, std::uint64_t ticks_per_second);

  void Add(const wire::ClockAnchor& anchor);
  // Takes the added anchors into account. Call it before the first conversion and after every
  // Add(). An anchor is left out if it disagrees with its neighbours by more than 20 us plus the
  // error that the rate may cause over the time between them.
  // Cost: O(n log n) in the number of anchors, which is kept below a few thousand.
  void Update();

  // From now on the times of `ticks` and of all earlier ticks do not change, see above.
  void Freeze(std::uint64_t ticks) {
    used_ = used_ || ticks != 0;
    converted_ = ticks > converted_ ? ticks : converted_;
  }

  // Requires: Update() was called. Monotonic in `ticks`; with a sound clock the error is below 1
  //           us.
  [[nodiscard]] TimeNs ToNs(std::uint64_t ticks);
  // The duration of `ticks` at the time `at`.
  [[nodiscard]] TimeNs Length(std::uint64_t at, std::uint64_t ticks) {
    return ToNs(at + ticks) - ToNs(at);
  }

  // CLOCK_REALTIME minus CLOCK_MONOTONIC: the median over the anchors.
  [[nodiscard]] TimeNs RealtimeOffset() const;
  // Times of the earliest and the latest anchor that is used; 0, 0 if there is none.
  [[nodiscard]] TimeNs first() const { return first_; }
  [[nodiscard]] TimeNs last() const { return last_; }
  [[nodiscard]] std::size_t rejected() const { return rejected_; }
  // Whether the anchors contradict the clock kind in the header.
  [[nodiscard]] bool contradicted() const { return contradicted_; }

 private:
  // ns = at_ns + (ticks - at_ticks) * slope >> kShift, for ticks >= at_ticks.
  struct Segment {
    std::uint64_t at_ticks;
    std::int64_t at_ns;
    std::uint64_t slope;
  };

  [[nodiscard]] double NominalSlope() const;
  void Judge();
  void Reject(double slope, double uncertainty);
  void Rebuild();
  void Extend();
  void Thin();
  void ThinSegments();
  [[nodiscard]] std::int64_t Convert(const Segment& segment, std::uint64_t ticks) const;

  wire::ClockKind kind_;
  std::uint64_t ticks_per_second_;
  std::vector<wire::ClockAnchor> anchors_;  // ascending by ticks after Update()
  std::vector<wire::ClockAnchor> sound_;
  std::vector<std::int64_t> offsets_;  // realtime - monotonic
  std::vector<Segment> segments_;      // ascending by at_ticks; empty: identity
  std::size_t current_ = 0;
  std::uint64_t converted_ = 0;  // the latest frozen tick
  bool used_ = false;
  bool changed_ = true;
  bool contradicted_ = false;
  std::size_t rejected_ = 0;
  TimeNs first_;
  TimeNs last_;
};

}  // namespace penstock::traces
