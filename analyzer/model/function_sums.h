// SPDX-License-Identifier: Apache-2.0
//
// Sums of the time that followed units spend in each function and line, and how much each unit
// counts in them. Values, whose keys refer to strings of the trace; pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/follow_correction.h"
#include "traces/call_trees.h"

namespace penstock::analyzer {

using CallTreeList = std::vector<const traces::CallTree*>;

// Followed units of a stage. Units that take much longer than the median are rare, so chance
// decides how many of them were followed. Together they count as much as all such units of the run
// have of the time of the stage.
struct FollowedUnits {
  CallTreeList ordinary;  // each has the weight 1
  CallTreeList slow;      // each has `weight`
  double weight = 0;
  // The part of the stage's time in slow units, if no slow unit was followed; else 0.
  double unseen = 0;

  // `slow_share`: the part of the stage's time in slow units, less than 1.
  FollowedUnits(CallTreeList ordinary_units, CallTreeList slow_units, double slow_share);

  template <class Add>
  void ForEach(Add add) const {
    for (const traces::CallTree* tree : ordinary) add(*tree, 1.0);
    if (!(weight > 0)) return;
    for (const traces::CallTree* tree : slow) add(*tree, weight);
  }
};

// Times in nanoseconds, and calls, summed over units with their weights.
struct CalledSum {
  double time = 0;
  double count = 0;
};

using CalledSums = std::map<std::pair<std::string_view, std::string_view>, CalledSum>;

struct LineSum {
  double time = 0;
  double own = 0;
  double count = 0;
  CalledSums called;
};

struct FunctionSum {
  double time = 0;
  double own = 0;
  double total = 0;
  double count = 0;
  CalledSums called;
  std::map<std::uint32_t, LineSum> lines;
};

struct FunctionSums {
  double units = 0;  // sum of the weights
  double whole = 0;
  std::map<FunctionKey, FunctionSum> functions;
};

[[nodiscard]] FunctionSums SumOf(const traces::Trace& trace, const FollowedUnits& units,
                                 const FollowCorrection& correction);

}  // namespace penstock::analyzer
