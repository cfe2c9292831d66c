// SPDX-License-Identifier: Apache-2.0
//
// The levers of a plan: single changes, other than of the number of workers and the prefetch depth,
// and the effect of several levers on a loader model. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/changes.h"
#include "analyzer/predict/even_samples.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/words/refusal.h"

namespace penstock::analyzer {

struct Lever {
  std::string id;
  Statement change{};
  Statement risk{};
  Statements notes{};  // the assumptions
  int effort = 1;      // effort of the change, in units of one argument or variable
  int lines = 0;       // lines of code
  double disk = 0;     // bytes
  Changes changes{};
  Setting parts{};                // only its `scale`, `pin` and `in_order` are used
  std::string also{};             // another finding for which the lever is a remedy; "": none
  bool apart = false;             // reads no longer take turns
  bool out_of_loop = false;       // transforms of whole batches move into the workers
  bool persistent = false;        // the workers stay between epochs
  bool even_samples = false;      // slow samples take as long as the median
  Factor unsure = Factor::kNone;  // a part whose new time is known only within limits
  double slow = 1;                // its longest time, over the assumed time
  double fast = 1;                // its shortest time, over the assumed time
};

// A set of levers: bit i stands for Levers::all[i].
using LeverSet = std::uint32_t;
inline constexpr std::size_t kMostLevers = 31;

// A lever whose gain cannot be predicted from the trace.
struct Unpredicted {
  std::string id;
  Statement change;
  Statement why;
  double most = 1;  // speed-up if the part that it changes cost nothing
};

struct Levers {
  std::vector<Lever> all;
  std::vector<LeverSet> excludes;  // by lever: the levers that it cannot be combined with
  std::vector<Unpredicted> unpredicted;
  EvenSamples even;  // for levers with `even_samples`

  [[nodiscard]] bool Allows(LeverSet set) const;
  [[nodiscard]] bool Stays(LeverSet set) const;  // whether workers stay between epochs
};

// With `outside`, finds only persistent_workers and malloc: penstock record --override can apply
// these without an edit of the program.
[[nodiscard]] Levers FindLevers(const Diagnosis& diagnosis, const std::vector<Finding>& findings,
                                bool outside);

// Errors: those of ApplyChanges().
[[nodiscard]] Predicted<Changed> ApplyLevers(const Pipeline& pipeline,
                                             const LoaderDiagnosis& loader, const Levers& levers,
                                             LeverSet set);

}  // namespace penstock::analyzer
