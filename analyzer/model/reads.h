// SPDX-License-Identifier: Apache-2.0
//
// What a read costs: a time that does not depend on its size, a time for each byte, and what other
// reads at the same moment add to it; and whether readers take turns. Values; pure.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::analyzer {

// One read as it was recorded. Units: nanoseconds, bytes.
struct ReadSpan {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::uint32_t reader = kNobody;  // the thread, where it reads for a batch all of the time; then
  std::uint32_t consumer = 0;      // the process that iterates,
  std::uint16_t epoch = 0;         // and the generation of its iterator
};

// Whether the reads of several threads are ever made at the same time.
struct ReadTurns {
  std::uint64_t reads = 0;  // of the epoch that was looked at; 0: too few threads, or reads of each
  double alone = 0;         // fractions of the time: one thread reads
  double together = 0;      // two or more do
  double by_chance = 0;     // `together`, if the threads knew nothing of each other

  // Chance alone would let them meet in a tenth of the time or more, and they meet in less than a
  // tenth of that. Source: ours, for docs/diagnosis.md R37.
  [[nodiscard]] bool taken() const { return by_chance >= kChance && together < kShare * by_chance; }
  static constexpr double kChance = 0.1;
  static constexpr double kShare = 0.1;
};

// Of the epoch with most reads, while all of its threads read: other epochs and loaders have
// threads of their own. Requires: the reads are of one loader. Cost: O(n log n).
[[nodiscard]] ReadTurns MeasureTurns(const std::vector<ReadSpan>& reads);

// Whether reads come out one after the other at one rate, as from a device, or a link, that serves
// them in order: where a read ends, the next one that was waiting already ends as much later as its
// own bytes take. Reads that know nothing of each other end at any time after one another.
struct ReadRate {
  std::size_t gaps = 0;  // between such ends
  double waiting = 0;    // of all reads, those that waited while another ended
  double per_byte = 0;   // seconds
  double off = 0;        // mean distance of a gap from what its bytes take, of the mean gap

  // Half of what chance leaves: of two readers with times of their own the gaps are all over.
  // Source: ours.
  [[nodiscard]] bool limited() const { return per_byte > 0 && waiting > 0.5 && off < kOff; }
  static constexpr double kOff = 0.2;
};

// Fewer than 64 gaps tell nothing. Cost: O(n log n).
[[nodiscard]] ReadRate MeasureRate(std::vector<ReadSpan> reads);

struct ReadCosts {
  std::uint64_t reads = 0;      // that were looked at
  double mean = 0;              // seconds of one
  double concurrency = 1;       // mean number of reads at once, while there is one
  double most_bytes_per_s = 0;  // of all together while any runs
  bool split = false;           // sizes differ enough to tell `latency` from `per_byte`
  double latency = 0;           // seconds of a read of nothing
  double per_byte = 0;          // seconds a byte, alone
  bool shared = false;          // reads slow each other down like jobs of one device
  double device_per_byte = 0;   // seconds a byte of that device: its bandwidth's inverse
  bool in_order = false;        // it serves one read after the other (MeasureRate)
  ReadTurns turns;              // of the main loader's workers; FitReads() leaves it alone

  // Of the mean read, the part that its size does not change. Requires: split.
  [[nodiscard]] double latency_share() const { return mean > 0 ? latency / mean : 0; }
};

// Estimator:   least squares of a read's time over 1, its bytes, and its bytes times the number of
//              other reads beside it (their mean over the read's time); the longest hundredth is
//              left out. `split` and `shared` where the coefficient is three of its standard errors
//              and explains a tenth of the mean; `shared` only where the medians of reads with few
//              and with many others beside them differ by half of what the fit says, and also where
//              MeasureRate() says so, for where readers are never alone nothing varies.
// Assumes:     a device that serves all reads equally: n of them take n times as long.
// Few samples: below 64 nothing but the means is told.
// Cost:        O(n log n).
[[nodiscard]] ReadCosts FitReads(std::vector<ReadSpan> reads);

}  // namespace penstock::analyzer
