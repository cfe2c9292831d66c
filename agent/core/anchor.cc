// SPDX-License-Identifier: Apache-2.0

#include "agent/core/anchor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"

namespace penstock::agent {

uint64_t ClockNs(clockid_t clock) {
  struct timespec t = {};
  sys::Call(SYS_clock_gettime, clock, sys::Pointer(&t));
  const uint64_t ns =
      static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
  return clock == CLOCK_MONOTONIC ? ns - static_cast<uint64_t>(g_clock_shift) : ns;
}

bool TscIsClock() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) {
    return false;
  }
  char source[32];
  return sys::ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                       sizeof source) > 0 &&
         StartsWith(source, "tsc");
#else
  return false;
#endif
}

wire::ClockAnchor TakeAnchor() {
  wire::ClockAnchor best = {};
  uint64_t best_width = ~uint64_t{0};
  // The thread may lose its core between two readings, so the closest of four tries is taken.
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = ClockNs(CLOCK_MONOTONIC);
    const uint64_t ticks = Now();
    const uint64_t after = ClockNs(CLOCK_MONOTONIC);
    if (after - before < best_width) {
      best_width = after - before;
      best.monotonic_ns = before + (after - before) / 2;
      best.ticks = g_tsc ? ticks : best.monotonic_ns;
    }
  }
  best.realtime_ns = ClockNs(CLOCK_REALTIME) - (ClockNs(CLOCK_MONOTONIC) - best.monotonic_ns);
  return best;
}

}  // namespace penstock::agent
