// SPDX-License-Identifier: Apache-2.0
//
// Converts CUPTI's time stamps (nanoseconds of CLOCK_MONOTONIC, or of CUPTI's own clock) to ticks
// of the recording. Before and after every flush both clocks are read together as a pair; the last
// 64 pairs are kept. For a time between two pairs the conversion is the line through them. Before
// all pairs it is the line through the first and the last, after all pairs the line through the
// last two. Two pairs less than a millisecond apart make no line: from the earlier one on, the
// given rate is used.
// Threads: one. No allocation.
#pragma once

#include <stdint.h>

namespace penstock::agent {

class DeviceClock {
 public:
  // Adds a pair: nanoseconds of the source, ticks of the recording. Requires: ascending order.
  void Add(uint64_t ns, uint64_t ticks);
  // Requires: one Add(). `ticks_per_ns` is used where two pairs make no line.
  [[nodiscard]] uint64_t ToTicks(uint64_t ns, double ticks_per_ns) const;
  // False if `ns` is so far from every reading of this clock that it must be a time of another
  // clock.
  [[nodiscard]] bool Covers(uint64_t ns) const;

 private:
  static constexpr uint64_t kBefore = 1000000000;  // no record is much older than the first pair
  static constexpr uint64_t kAfter = 5000000000;   // no record is much younger than the last pair
  static constexpr uint32_t kPairs = 64;
  struct Pair {
    uint64_t ns;
    uint64_t ticks;
  };
  Pair pairs_[kPairs] = {};
  uint32_t count_ = 0;  // pairs added in all
  uint64_t least_ = 0;  // of all pairs, not only those kept
  uint64_t most_ = 0;
};

}  // namespace penstock::agent
