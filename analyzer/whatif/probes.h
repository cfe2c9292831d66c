// SPDX-License-Identifier: Apache-2.0
//
// What experiments inside the run measured (docs/diagnosis.md 3.12): how many times as fast the
// loop would be if one stage took less time. Also holds what the simulator predicts for the same
// change. Values; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

struct ProbedFactor {
  std::string name;         // as FactorName(); "nothing" for the check
  double speed = 1;         // the gain is for a factor that is this many times as fast
  bool seen = true;         // the recording has work of the factor; otherwise no gain is shown
  std::size_t windows = 0;  // number of windows that could be compared
  Interval gain;            // how many times as fast the loop is, 90 %; set if there are at least
                            // kFewestProbes windows
  Statement unknown;        // why the gain is not known; empty: it is known
  std::optional<Interval> predicted;
  // `gain` and `predicted` do not overlap.
  bool disagrees = false;

  [[nodiscard]] bool known() const { return unknown.empty(); }
};

// With fewer windows than this, a factor has no interval.
inline constexpr std::size_t kFewestProbes = 3;

struct Probes {
  bool any = false;  // there were windows, or a reason why there are none
  // The windows in which all work was slowed down and nothing was spared. All gains are relative to
  // the gain of these windows. If this gain is far from 1, the windows were not slowed down as
  // intended, and no gain is known.
  ProbedFactor check;
  bool sound = true;                  // the check holds; false: no gain is known
  std::vector<ProbedFactor> factors;  // in the order of the data path
  Statement missing;                  // why no gain is known; empty: some may be

  [[nodiscard]] bool disagree() const;
};

// Evaluates the windows of the main loader.
//
// Estimator:   for each window of a factor, log(slowed * rate) minus the mean of the log rates of
//              the plain windows beside it. The gain is exp(mean of these logs - mean of the
//              check's logs), with a t interval (90 %) from the errors of both means. The rate of a
//              window counts whole turns of the workers, and only batches that were begun in the
//              window. It leaves out ends of epochs and steps of more than two seconds. It is the
//              rate of making these batches or of taking them, whichever is lower.
// Assumes:     the log ratios are independent and from one normal distribution.
// Few samples: without kFewestProbes windows there is no interval. If an interval's ends differ by
//              more than a factor of 1.3, or the check does not hold, the gain is not known.
[[nodiscard]] Probes MeasureProbes(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
