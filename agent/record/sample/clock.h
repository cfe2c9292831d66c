// SPDX-License-Identifier: Apache-2.0
//
// The recording's clock: the TSC where the kernel itself trusts it, CLOCK_MONOTONIC elsewhere, and
// the anchors that tie its ticks to both of the kernel's clocks. A value; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "traces/base/units.h"
#include "traces/wire.h"

namespace penstock::record {

[[nodiscard]] TimeNs MonotonicNow();
[[nodiscard]] TimeNs RealtimeNow();
// CPU time of the calling thread: what it waited for a core cost nobody anything.
[[nodiscard]] TimeNs ThreadCpuNow();

// What this process's clocks are ahead of those of the machine's first time namespace.
struct TimeOffsets {
  TimeNs monotonic;
  TimeNs boottime;
};
[[nodiscard]] TimeOffsets OwnTimeOffsets();
// From the text of /proc/self/timens_offsets.
[[nodiscard]] TimeOffsets ParseTimeOffsets(const std::string& text);

class Clock {
 public:
  // The TSC needs an invariant counter (cpuid 0x80000007) and a kernel whose clocksource it is.
  // aarch64 has CLOCK_MONOTONIC alone: agent/core/recorder.cc, Now().
  // Cost: measures the tick rate for about 20 ms.
  [[nodiscard]] static Clock Choose(bool force_monotonic);

  [[nodiscard]] wire::ClockKind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t ticks_per_second() const { return ticks_per_second_; }

  // Ticks read between two readings of CLOCK_MONOTONIC, the tightest of five.
  [[nodiscard]] wire::ClockAnchor Anchor() const;

 private:
  [[nodiscard]] std::uint64_t Ticks() const;

  wire::ClockKind kind_ = wire::kClockMonotonic;
  std::uint64_t ticks_per_second_ = 1'000'000'000;
};

// Appends `anchor` to the ring of anchors in the header.
void AppendAnchor(wire::FileHeader& header, const wire::ClockAnchor& anchor);

}  // namespace penstock::record
