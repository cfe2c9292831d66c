// SPDX-License-Identifier: Apache-2.0
//
// What the slowest batches of the steady part do that the others do not: in which part they take
// longer, in which worker, and when. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "traces/event.h"

namespace penstock::analyzer {

struct SlowBatches {
  std::size_t batches = 0;  // that were compared
  std::size_t slow = 0;     // number of slow batches
  double median = 0;        // seconds to make a batch
  double times = 0;         // mean time of the slow ones, divided by the median
  traces::StageId stage{};  // with most of the time that the slow ones take beyond the others;
                            // kNone: code of the dataset that is in no other stage
  double share = 0;         // of that time in this stage
  bool cpu_known = false;
  bool waits = false;            // less than half of that time is CPU time
  std::optional<int> worker;     // made nearly all slow ones, and not many of the others
  bool several_workers = false;  // at least three slow ones, and not of one worker
  std::optional<std::pair<std::int64_t, std::int64_t>> between;  // at least three slow ones, all in
                                                                 // this short interval
  bool spread = false;  // at least three slow ones, from one half of the steady part to the other
};

// The batches that are compared, whether some of them are slow or not.
struct ComparedBatches {
  static constexpr std::size_t kFewest = 32;
  std::size_t batches = 0;  // below kFewest: nothing is told of them
  double median = 0;        // seconds to make a batch
  double slowest = 0;       // of the slowest one
  // Whether even the slowest one takes less than 1.3 times the median.
  [[nodiscard]] bool IsEven() const;
};
[[nodiscard]] ComparedBatches CompareBatches(const LoaderRun& run, const SteadyState& steady);

// Takes the batches of the steady part whose making was recorded. Slow are those that take longer
// than half way from the median to the mean of the slowest 5 %. Nothing is told of fewer than
// ComparedBatches::kFewest batches, or if the mean of the slowest 5 % is below 1.3 times the median
// (ours). Cost: O(n log n).
[[nodiscard]] std::optional<SlowBatches> FindSlowBatches(const LoaderRun& run,
                                                         const SteadyState& steady);

}  // namespace penstock::analyzer
