// SPDX-License-Identifier: Apache-2.0
//
// Ticks of a recording to CLOCK_MONOTONIC nanoseconds. A value; not thread-safe while anchors are
// added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/event.h"
#include "traces/wire.h"

namespace penstock::traces {

// Piecewise linear through pooled anchors. What was frozen stays as it is: later anchors bend the
// line only after the latest tick that was frozen, so a stream keeps its order.
class ClockMap {
 public:
  // `kind`: as the file header says; anchors overrule it if they tell otherwise.
  ClockMap(wire::ClockKind kind, std::uint64_t ticks_per_second);

  void Add(const wire::ClockAnchor& anchor);
  // Takes what was added into account. Call before the first conversion and after every Add().
  // Anchors that contradict the others by more than 20 us are left out.
  // Cost: O(n log n) in the number of anchors, which is kept below a few thousand.
  void Update();

  // What `ticks` and everything before it map to stays as it is from now on.
  void Freeze(std::uint64_t ticks) {
    used_ = used_ || ticks != 0;
    converted_ = ticks > converted_ ? ticks : converted_;
  }

  // Requires: Update() was called. Monotonic in `ticks`, errors of a sound clock below 1 us.
  [[nodiscard]] TimeNs ToNs(std::uint64_t ticks);
  // Length of `ticks` at the time `at`.
  [[nodiscard]] TimeNs Length(std::uint64_t at, std::uint64_t ticks) {
    return ToNs(at + ticks) - ToNs(at);
  }

  // CLOCK_REALTIME minus CLOCK_MONOTONIC: the median over the anchors.
  [[nodiscard]] TimeNs RealtimeOffset() const;
  // Times of the earliest and latest anchor that was used; 0, 0 if there is none.
  [[nodiscard]] TimeNs first() const { return first_; }
  [[nodiscard]] TimeNs last() const { return last_; }
  [[nodiscard]] std::size_t rejected() const { return rejected_; }
  // The header's clock kind is not what the anchors say.
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
  std::uint64_t converted_ = 0;  // the latest tick that was frozen
  bool used_ = false;
  bool changed_ = true;
  bool contradicted_ = false;
  std::size_t rejected_ = 0;
  TimeNs first_;
  TimeNs last_;
};

}  // namespace penstock::traces
