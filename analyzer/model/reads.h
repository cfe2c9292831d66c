// SPDX-License-Identifier: Apache-2.0
//
// What a read costs: a time that does not depend on its size, a time for each byte, and the time
// that other reads at the same moment add; and whether readers take turns. Values; pure.
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
};

// Whether the reads of several threads are ever made at the same time.
struct ReadTurns {
  std::uint64_t reads = 0;  // in the epoch that was examined; 0: too few threads or reads
  double alone = 0;         // fraction of the time in which one thread reads
  double together = 0;      // fraction in which two or more read
  double by_chance = 0;     // `together` if the threads were independent of each other

  // Whether readers take turns: by chance they would read together in at least a tenth of the time,
  // but they do so in less than a tenth of that. Source: ours, for docs/diagnosis.md R37.
  [[nodiscard]] bool taken() const { return by_chance >= kChance && together < kShare * by_chance; }
  static constexpr double kChance = 0.1;
  static constexpr double kShare = 0.1;
};

// Examines the epoch with most reads, while all of its threads read; other epochs and loaders have
// threads of their own. Threads with fewer than 64 reads do not count. Requires: the reads are of
// one loader. Cost: O(n log n).
[[nodiscard]] ReadTurns MeasureTurns(const std::vector<ReadSpan>& reads);

// Whether reads come out one after the other at one rate, as from a device or a link that serves
// them in order. Then the next read that is already waiting ends after as much time as its own
// bytes take. Reads that are independent of each other end at any distance.
struct ReadRate {
  std::size_t gaps = 0;  // distances between the ends of two such reads
  double waiting = 0;    // fraction of the reads that waited while another one ended
  double per_byte = 0;   // seconds per byte
  double off = 0;        // mean error of a gap's length by its bytes, over the mean gap

  // The limit kOff is half of what chance leaves: with two independent readers the gaps vary much
  // more. Source: ours.
  [[nodiscard]] bool limited() const { return per_byte > 0 && waiting > 0.5 && off < kOff; }
  static constexpr double kOff = 0.2;
};

// Fewer than 64 gaps give no rate. Cost: O(n log n).
[[nodiscard]] ReadRate MeasureRate(std::vector<ReadSpan> reads);

struct ReadCosts {
  std::uint64_t reads = 0;      // that were examined
  double mean = 0;              // seconds of one
  double concurrency = 1;       // mean number of reads at once, while any runs
  double most_bytes_per_s = 0;  // of all reads together, while any runs
  bool split = false;           // `latency` and `per_byte` are known apart
  double latency = 0;           // seconds of a read without bytes
  double per_byte = 0;          // seconds per byte of a read alone
  bool shared = false;          // reads slow each other down like jobs of one device
  double device_per_byte = 0;   // seconds per byte of that device: the inverse of its bandwidth
  bool in_order = false;        // it serves one read after the other (MeasureRate)
  ReadTurns turns;              // of the main loader's workers; FitReads() does not set it

  // The part of the mean read that does not depend on its size. Requires: split.
  [[nodiscard]] double latency_share() const { return mean > 0 ? latency / mean : 0; }
};

// Estimator:   least squares of a read's time over 1, its bytes, and its bytes times the mean
//              number of other reads beside it; the longest hundredth is left out. `split` if the
//              standard error of the constant is below a tenth of the mean. `shared` if the
//              coefficient of the other reads is three of its standard errors, explains a tenth of
//              the mean, and the medians of reads with few and with many others differ by at least
//              half of what the fit predicts; also if MeasureRate() finds one rate, because nothing
//              varies if readers are never alone.
// Assumes:     a device that serves all reads equally: n of them take n times as long.
// Few samples: below 64 reads only the means are known.
// Cost:        O(n log n).
[[nodiscard]] ReadCosts FitReads(std::vector<ReadSpan> reads);

}  // namespace penstock::analyzer
