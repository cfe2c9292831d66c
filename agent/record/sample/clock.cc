// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <limits>
#include <sstream>
#include <string>

#include "agent/record/sample/proc_fs.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace penstock::record {
namespace {

// Asks the kernel directly, since a preloaded library may return another time.
std::int64_t Read(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool TscIsTrusted() {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) == 0 || (edx & (1u << 8)) == 0) return false;
  const auto source = ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source.has_value() && Trimmed(*source) == "tsc";
#else
  return false;
#endif
}

}  // namespace

TimeNs MonotonicNow() {
  return TimeNs{Read(CLOCK_MONOTONIC)};
}
TimeNs RealtimeNow() {
  return TimeNs{Read(CLOCK_REALTIME)};
}
TimeNs ThreadCpuNow() {
  return TimeNs{Read(CLOCK_THREAD_CPUTIME_ID)};
}

TimeOffsets ParseTimeOffsets(const std::string& text) {
  TimeOffsets offsets;
  std::istringstream lines(text);
  std::string name;
  for (std::int64_t seconds = 0, ns = 0; lines >> name >> seconds >> ns;) {
    const TimeNs offset{seconds * 1'000'000'000 + ns};
    if (name == "monotonic") offsets.monotonic = offset;
    if (name == "boottime") offsets.boottime = offset;
  }
  return offsets;
}

TimeOffsets OwnTimeOffsets() {
  return ParseTimeOffsets(ReadFile("/proc/self/timens_offsets").value_or(""));
}

std::uint64_t Clock::Ticks() const {
#if defined(__x86_64__)
  if (kind_ == wire::kClockTsc) return __rdtsc();
#endif
  return static_cast<std::uint64_t>(Read(CLOCK_MONOTONIC));
}

wire::ClockAnchor Clock::Anchor() const {
  wire::ClockAnchor best{};
  std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = Read(CLOCK_MONOTONIC);
    const std::uint64_t ticks = Ticks();
    const std::int64_t realtime = Read(CLOCK_REALTIME);
    const std::int64_t after = Read(CLOCK_MONOTONIC);
    if (after - before >= best_gap) continue;
    best_gap = after - before;
    // Without the TSC ticks are monotonic time, so both values of the anchor must be equal.
    const std::uint64_t middle = static_cast<std::uint64_t>(before + best_gap / 3);
    best = {ticks, kind_ == wire::kClockTsc ? middle : ticks, static_cast<std::uint64_t>(realtime)};
  }
  return best;
}

Clock Clock::Choose(bool force_monotonic) {
  Clock clock;
  if (force_monotonic || !TscIsTrusted()) return clock;
  clock.kind_ = wire::kClockTsc;
  const wire::ClockAnchor first = clock.Anchor();
  const timespec pause{0, 20'000'000};
  nanosleep(&pause, nullptr);
  const wire::ClockAnchor second = clock.Anchor();
  const double seconds = static_cast<double>(second.monotonic_ns - first.monotonic_ns) * 1e-9;
  const double rate = static_cast<double>(second.ticks - first.ticks) / seconds;
  if (second.ticks <= first.ticks || rate < 1e6 || rate > 1e11) return Clock{};
  clock.ticks_per_second_ = static_cast<std::uint64_t>(rate);
  return clock;
}

void AppendAnchor(wire::FileHeader& header, const wire::ClockAnchor& anchor) {
  const std::uint32_t count = __atomic_load_n(&header.anchor_count, __ATOMIC_RELAXED);
  header.anchors[count % wire::kMaxAnchors] = anchor;
  __atomic_store_n(&header.anchor_count, count + 1, __ATOMIC_RELEASE);
}

}  // namespace penstock::record
