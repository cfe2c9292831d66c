// SPDX-License-Identifier: Apache-2.0
//
// Samples that take much longer than the others: which, how often, and what they have in common.
// Values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/nesting.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One sample as it was recorded.
struct SampleTime {
  std::int64_t id = 0;     // index in the dataset
  std::int64_t start = 0;  // nanoseconds
  float time = 0;          // seconds
  float waiting = 0;       // part of `time` without CPU time, outside of reads; 0: not known
  float read = 0, decode = 0, augment = 0, tokenize = 0;
  float bytes = 0;  // bytes of its reads, without reads inside other reads; 0: no read was seen
  StringId file{};  // its first file
  std::uint32_t consumer = 0;
  std::uint32_t thread = 0;  // samples of one thread have the same number
  traces::BatchKey batch;
};

// The first samples of each thread, at most kMostTimes in all. Filled while a trace is read; not
// thread-safe.
class SampleTimes {
 public:
  static constexpr std::size_t kMostTimes = 400000;

  explicit SampleTimes(std::size_t threads);
  void BeginThread() {
    of_thread_ = 0;
    ++thread_;
  }
  void Add(const traces::Counted& sample, std::uint32_t consumer);
  [[nodiscard]] std::vector<SampleTime> Take() { return std::move(times_); }

 private:
  std::size_t most_of_thread_;
  std::vector<SampleTime> times_;
  std::size_t of_thread_ = 0;
  std::uint32_t thread_ = 0;
};

enum class SamplePart { kRead, kDecode, kAugment, kTokenize };

struct SampleTail {
  // A slow sample takes more than kSlow times the median. Noise can make many samples exceed this a
  // little. So a second condition holds: take the longest samples that together have kMostExcess of
  // all excess time of such samples (time beyond the median). A slow sample also takes more than
  // half as long as the shortest of these longest samples.
  static constexpr double kSlow = 3;
  static constexpr double kMostExcess = 0.8;

  std::size_t samples = 0;  // that were examined
  std::size_t slow = 0;     // number of slow samples; 0 if fewer than three or more than a tenth
                            // are slow, or too few samples were examined
  double for_cores = 0;     // share of the samples' waiting that does not count
  double median = 0;        // seconds of a sample
  double least = 0;         // slow samples take longer than this many seconds
  double slow_time = 0;     // mean seconds of a slow sample
  double extra_share = 0;   // time of the slow samples beyond the median, divided by all samples'
                            // time
  SamplePart part = SamplePart::kAugment;  // the part in which most of the time beyond the median
                                           // is spent
  std::vector<std::int64_t> ids;           // of the slow samples, ascending, each one once
  std::int64_t every = 0;  // `ids` are nearly all ids at multiples of this distance from
                           // ids.front(); 0: they are not
  bool repeats = false;    // samples that were slow are slow again in other epochs
  bool changes = false;    // in other epochs, other samples are slow
  double bytes_times = 0;  // mean bytes of slow samples, divided by those of the others; 0: not
                           // known, or alike
  std::string place;  // a file or folder of nearly all slow samples, and of at most half of the
                      // others
  // By KeyOf() of a batch: seconds beyond the median of its samples that took longer than `least`.
  // Only batches whose samples were examined. Filled even if `slow` is 0 because there are fewer
  // than three such samples, or more than a tenth.
  std::unordered_map<std::uint64_t, double> excess;
  std::int64_t longest_start = 0;  // of the longest sample; nanoseconds
  std::int64_t longest_time = 0;   // with its waiting

  [[nodiscard]] static std::uint64_t KeyOf(traces::BatchKey batch) {
    return std::uint64_t{batch.generation} << 32 | batch.index;
  }
};

// The samples of one loader; the samples of each worker's first batch must not be among them,
// because workers load modules and tables in that batch.
//
// `for_cores`: the share of waiting outside of reads that was for a core. This waiting does not
// count, because other programs and workers cause it, not the samples.
// Cost:   O(n log n).
[[nodiscard]] SampleTail FindSampleTail(const traces::Trace& trace, std::vector<SampleTime> times,
                                        double for_cores);

}  // namespace penstock::analyzer
