// SPDX-License-Identifier: Apache-2.0
//
// What a read costs: a time that does not depend on its size, a time for each byte, and the time
// that other reads at the same moment add. Also finds whether readers take turns. Values; pure.
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
  std::uint32_t reader = kNobody;  // the thread, if it reads for a batch during the whole span
  std::uint32_t consumer = 0;      // the training process of that batch
  std::uint16_t epoch = 0;         // the generation of its iterator
  bool for_batch = false;          // the thread was making a batch when it read
};

// Whether the reads of several threads are ever made at the same time.
struct ReadTurns {
  std::uint64_t reads = 0;  // number of reads in the examined epoch; 0: too few threads or reads
  double alone = 0;         // fraction of the time in which one thread reads
  double together = 0;      // fraction in which two or more read
  double by_chance = 0;     // `together` if the threads were independent of each other

  // Whether readers take turns. By chance they would read together in at least a tenth of the time,
  // but they do so in less than a tenth of that time. Source: ours, for docs/diagnosis.md R37.
  [[nodiscard]] bool taken() const { return by_chance >= kChance && together < kShare * by_chance; }
  static constexpr double kChance = 0.1;
  static constexpr double kShare = 0.1;
};

// Examines the epoch with the most reads, in the interval in which all of its threads read: from
// when the last thread begins to when the first one ends. Epochs are examined one by one, because
// each may have other threads. Threads with fewer than 64 reads do not count.
// Requires: the reads are of one loader.
// Cost:     O(n log n).
[[nodiscard]] ReadTurns MeasureTurns(const std::vector<ReadSpan>& reads);

// Whether reads end one after the other at one rate, as on a device or a link that serves them in
// order. If so, a read that already waits when another read ends will itself end after the time
// that its own bytes take. The ends of independent reads may lie at any distance.
struct ReadRate {
  std::size_t gaps = 0;  // number of gaps: distances from the end of a read to the end of the next
                         // one that waited for it
  double waiting = 0;    // fraction of the reads that already waited when the read before them
                         // ended
  double per_byte = 0;   // seconds per byte
  double off = 0;        // mean error of predicting a gap from its bytes, over the mean gap

  // With two independent readers, `off` is about twice the limit kOff. Source: ours.
  [[nodiscard]] bool limited() const { return per_byte > 0 && waiting > 0.5 && off < kOff; }
  static constexpr double kOff = 0.2;
};

// Fewer than 64 gaps give no rate. Cost: O(n log n).
[[nodiscard]] ReadRate MeasureRate(std::vector<ReadSpan> reads);

struct ReadCosts {
  std::uint64_t reads = 0;      // number of reads that were examined
  double mean = 0;              // mean seconds of a read
  double concurrency = 1;       // mean number of reads at once, while any runs
  double most_bytes_per_s = 0;  // of all reads together, while any runs
  bool split = false;           // `latency` and `per_byte` are known apart
  double latency = 0;           // seconds of a read without bytes
  double per_byte = 0;          // seconds per byte of a read without others beside it
  bool shared = false;          // reads slow each other down like jobs of one device
  double device_per_byte = 0;   // seconds per byte of that device: the inverse of its bandwidth
  bool in_order = false;        // the device serves one read after the other (MeasureRate)
  ReadTurns turns;              // of the main loader's workers; FitReads() does not set it

  // The part of the mean read that does not depend on its size. Requires: split.
  [[nodiscard]] double latency_share() const { return mean > 0 ? latency / mean : 0; }
};

// Estimator:   least squares of a read's time over 1, its bytes, and its bytes times the mean
//              number of other reads beside it; the longest hundredth is left out. `split` if the
//              standard error of the constant is below a tenth of the mean. `shared` if three
//              conditions hold for the coefficient of the other reads. It exceeds three of its
//              standard errors. It explains a tenth of the mean. And the medians of reads with few
//              and with many others beside them differ by at least half of what the fit predicts.
//              `shared` also if MeasureRate() finds one rate: if readers are never alone, the
//              number of others hardly varies, and the fit finds nothing.
// Assumes:     a device that serves all reads equally: n of them take n times as long.
// Few samples: below 64 reads, or if no read has bytes, only the means are known.
// Cost:        O(n log n).
[[nodiscard]] ReadCosts FitReads(std::vector<ReadSpan> reads);

}  // namespace penstock::analyzer
