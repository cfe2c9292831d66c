// SPDX-License-Identifier: Apache-2.0
//
// From the clock that CUPTI stamps with (nanoseconds of CLOCK_MONOTONIC, or of its own) to ticks of
// the recording, by pairs of both that were read together at every flush: between two pairs a
// line, before them the line from the first to the last, after them that of the last two. One
// thread's; no allocation.
#pragma once

#include <stdint.h>

namespace penstock::agent {

class DeviceClock {
 public:
  // Units: ns of the source, ticks of the recording. In ascending order.
  void Add(uint64_t ns, uint64_t ticks);
  // Requires: one Add(). `ticks_per_ns`: for as long as there is one pair only.
  [[nodiscard]] uint64_t ToTicks(uint64_t ns, double ticks_per_ns) const;
  // False: `ns` was read off another clock, it is too far from all that was ever read off this one.
  [[nodiscard]] bool Covers(uint64_t ns) const;

 private:
  static constexpr uint64_t kBefore = 1000000000;  // a record is not older than the first pair
  static constexpr uint64_t kAfter = 5000000000;   // nor much younger than the last
  static constexpr uint32_t kPairs = 64;
  struct Pair {
    uint64_t ns;
    uint64_t ticks;
  };
  Pair pairs_[kPairs] = {};
  uint32_t count_ = 0;  // in all
  uint64_t least_ = 0;  // of all pairs, not only those kept
  uint64_t most_ = 0;
};

}  // namespace penstock::agent
