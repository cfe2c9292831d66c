// SPDX-License-Identifier: Apache-2.0
//
// The levers of a plan: changes of one kind each besides the loader's arguments, and what several
// of them make of a pipeline. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/changes.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/words/refusal.h"

namespace penstock::analyzer {

struct Lever {
  std::string id;
  Statement change{};
  Statement risk{};
  Statements notes{};  // what is assumed
  int effort = 1;      // to weigh combinations: 1 is an argument or a variable
  int lines = 0;       // of code
  double disk = 0;     // bytes
  Changes changes{};
  Setting parts{};                // its `scale` and `pin` alone
  bool apart = false;             // reads take no turns
  bool out_of_loop = false;       // transforms of whole batches move into the workers
  bool persistent = false;        // the workers stay between epochs
  Factor unsure = Factor::kNone;  // the part whose change is known within limits,
  double slow = 1;                // and how many times as long it takes at their ends
  double fast = 1;
};

// A set of levers: bit i is levers[i].
using LeverSet = std::uint32_t;
inline constexpr std::size_t kMostLevers = 12;

// One that the trace says too little about.
struct Unpredicted {
  std::string id;
  Statement change;
  Statement why;
  double most = 1;  // speedup if what it changes cost nothing
};

struct Levers {
  std::vector<Lever> all;
  std::vector<LeverSet> excludes;  // by lever: what it cannot be combined with
  std::vector<Unpredicted> unpredicted;

  [[nodiscard]] bool Allows(LeverSet set) const;
  [[nodiscard]] bool Stays(LeverSet set) const;  // workers, between epochs
};

// `outside`: those alone that penstock record --override applies, without an edit.
[[nodiscard]] Levers FindLevers(const Diagnosis& diagnosis, const std::vector<Finding>& findings,
                                bool outside);

// Errors: those of ApplyChanges().
[[nodiscard]] Predicted<Changed> ApplyLevers(const Pipeline& pipeline,
                                             const LoaderDiagnosis& loader, const Levers& levers,
                                             LeverSet set);

}  // namespace penstock::analyzer
