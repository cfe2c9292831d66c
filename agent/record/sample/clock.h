// SPDX-License-Identifier: Apache-2.0
//
// The recording's clock: the TSC where the kernel itself uses it, else CLOCK_MONOTONIC. Anchors
// relate its ticks to the monotonic and the wall clock. A value. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "traces/base/units.h"
#include "traces/wire.h"

namespace penstock::record {

[[nodiscard]] TimeNs MonotonicNow();
[[nodiscard]] TimeNs RealtimeNow();
// CPU time of the calling thread, for measuring cost. It does not include time spent waiting for a
// core.
[[nodiscard]] TimeNs ThreadCpuNow();

// How far this process's clocks are ahead of those of the machine's first time namespace.
struct TimeOffsets {
  TimeNs monotonic;
  TimeNs boottime;
};
[[nodiscard]] TimeOffsets OwnTimeOffsets();
// Parses the text of /proc/self/timens_offsets.
[[nodiscard]] TimeOffsets ParseTimeOffsets(const std::string& text);

class Clock {
 public:
  // Chooses the TSC if it is invariant (cpuid 0x80000007) and is the kernel's clocksource. On
  // aarch64 there is only CLOCK_MONOTONIC (agent/core/recorder.cc, Now()).
  // Cost: some 20 ms to measure the tick rate.
  [[nodiscard]] static Clock Choose(bool force_monotonic);

  [[nodiscard]] wire::ClockKind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t ticks_per_second() const { return ticks_per_second_; }

  // Reads ticks between two readings of CLOCK_MONOTONIC. Of five tries, uses the one whose two
  // readings are closest together.
  [[nodiscard]] wire::ClockAnchor Anchor() const;

 private:
  [[nodiscard]] std::uint64_t Ticks() const;

  wire::ClockKind kind_ = wire::kClockMonotonic;
  std::uint64_t ticks_per_second_ = 1'000'000'000;
};

// Appends `anchor` to the ring of anchors in the header.
void AppendAnchor(wire::FileHeader& header, const wire::ClockAnchor& anchor);

}  // namespace penstock::record
