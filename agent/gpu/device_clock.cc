// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/device_clock.h"

namespace penstock::agent {

void DeviceClock::Add(uint64_t ns, uint64_t ticks) {
  least_ = count_ == 0 || ns < least_ ? ns : least_;
  most_ = ns > most_ ? ns : most_;
  pairs_[count_++ % kPairs] = {ns, ticks};
}

bool DeviceClock::Covers(uint64_t ns) const {
  return ns + kBefore >= least_ && ns < most_ + kAfter;
}

uint64_t DeviceClock::ToTicks(uint64_t ns, double ticks_per_ns) const {
  const uint32_t kept = count_ < kPairs ? count_ : kPairs;
  const auto pair = [&](uint32_t i) -> const Pair& {  // i-th of those kept, oldest first
    return pairs_[(count_ - kept + i) % kPairs];
  };
  uint32_t at = kept > 1 ? kept - 2 : 0;
  while (at > 0 && pair(at).ns > ns) {
    --at;
  }
  const Pair& a = pair(at);
  double slope = ticks_per_ns;
  if (kept > 1) {
    // For a time before all pairs, the line goes from the first pair to the last. The first two
    // pairs are of one flush, and too close together to extrapolate from.
    const Pair& b = pair(ns < a.ns ? kept - 1 : at + 1);
    // Pairs less than a millisecond apart, or of a clock that was set back, make no line.
    if (b.ns > a.ns + 1000000 && b.ticks > a.ticks) {
      slope = static_cast<double>(b.ticks - a.ticks) / static_cast<double>(b.ns - a.ns);
    }
  }
  const double offset = static_cast<double>(static_cast<int64_t>(ns - a.ns)) * slope;
  return a.ticks + static_cast<uint64_t>(static_cast<int64_t>(offset));
}

}  // namespace penstock::agent
