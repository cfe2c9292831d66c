// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom in a program without a loader: which thread is the loop that takes the
// samples, which threads make them, and what each of the stages holds back. It is found from what
// threads do (data stages, and waits for other threads and processes), not from the names of
// classes. docs/diagnosis.md 3.11
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/thread_use.h"
#include "analyzer/predict/attribution.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Why it is not known what holds the program back.
enum class FeedDoubt {
  kNone,     // it is known
  kNoBlock,  // nothing was seen to wait, and nobody makes its data alone
  kFew,      // too few samples after the start
  kNoLoop,   // no thread was seen to wait for those that make the data
  kTie,      // the makers work all the time, and the loop was not seen to wait for them
};

// The steady part, from a fifth of the samples to nearly the last. Fractions of its time.
struct Feed {
  FeedDoubt doubt = FeedDoubt::kNoBlock;
  double from = 0, to = 0;  // seconds since the first data span; to <= from: no steady part
  double rate = 0;          // samples, or pictures, per second
  bool samples = false;     // the rate counts samples
  std::size_t made = 0;     // in the steady part

  double wait = 0;    // the loop waited for the makers
  double own = 0;     // the loop read, decoded and augmented itself
  double other = 0;   // the loop waited for something else
  double active = 0;  // a maker, on average, did not wait
  std::size_t makers = 0;
  std::size_t processes = 0;  // that they belong to, beside the loop's

  // By operational laws: the time of a sample is that of the slower of the two sides, longer by
  // what it is longer now. Gains of making a factor free; of all data.
  std::vector<Gain> gains;
  double headroom = 1;
  Factor bottleneck = Factor::kNone;
  bool own_code = false;  // of kAugment: most of it was in no transform that was seen
};

[[nodiscard]] Feed FindFeed(const ThreadsUse& use, const RunModel& run, const traces::Trace& trace);

}  // namespace penstock::analyzer
