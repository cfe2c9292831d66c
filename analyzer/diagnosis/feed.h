// SPDX-License-Identifier: Apache-2.0
//
// Finds which threads wait for which in a program without a loader: the thread of the loop that
// takes the samples, and the threads that make them. Also finds what each stage costs the run. The
// roles are found from what threads do (data stages, and waits for other threads and processes),
// not from the names of classes. Source: docs/diagnosis.md 3.11.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/run_model.h"
#include "analyzer/model/thread_use.h"
#include "analyzer/predict/attribution.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Why the bottleneck of the program is not known.
enum class FeedDoubt {
  kNone,     // it is known
  kNoBlock,  // no thread was seen to wait, and the loop is not a Python thread that makes all data
             // itself; or a maker may have waited in calls that are not recorded
  kFew,      // too few samples after the start
  kNoLoop,   // the thread that takes the samples was not found
  kTie,      // the makers never pause, but the loop was not seen to wait for them
};

// The steady part begins when a fifth of the samples is made and ends when 97 % are made. Shares
// are shares of the time of the steady part.
struct Feed {
  FeedDoubt doubt = FeedDoubt::kNoBlock;
  double from = 0, to = 0;  // seconds since the first data span; to <= from: no steady part
  double rate = 0;          // per second: samples, else pictures, else decodes
  bool samples = false;     // samples were seen, so `rate` and `made` count samples
  std::size_t made = 0;     // number of samples, pictures or decodes in the steady part

  double wait = 0;    // share in which the loop waited for the makers
  double own = 0;     // share in which the loop made data itself
  double other = 0;   // share in which the loop waited for something else
  double active = 0;  // share of the time in which the average maker did not wait
  std::size_t makers = 0;
  std::size_t processes = 0;  // number of processes with makers, without the loop's process

  // Gains if one factor cost nothing; `headroom`: if all data cost nothing. By operational laws a
  // sample takes as long as the slower of two sides: the makers and the loop.
  std::vector<Gain> gains;
  double headroom = 1;
  Factor bottleneck = Factor::kNone;
  bool own_code = false;  // most of the augmenting time was outside the transforms that were seen
};

[[nodiscard]] Feed FindFeed(const ThreadsUse& use, const RunModel& run, const traces::Trace& trace);

}  // namespace penstock::analyzer
