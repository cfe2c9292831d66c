// SPDX-License-Identifier: Apache-2.0
//
// The changes between two recordings, and whether they are more than noise. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/report/report.h"
#include "analyzer/stats/bootstrap.h"
#include "analyzer/words/refusal.h"

namespace penstock::analyzer {

// Two types, so that baseline and candidate cannot be swapped by mistake.
// `command`: RecordedCommand().
struct Baseline {
  const Diagnosis& diagnosis;
  std::string name;
  std::string command{};
};
struct Candidate {
  const Diagnosis& diagnosis;
  std::string name;
  std::string command{};
};

// One quantity in both recordings. `ratio` is after over before with its confidence interval. For
// the wait fraction it is the difference, because ratios of small fractions mislead.
struct Change {
  std::string name;
  double before = 0;
  double after = 0;
  Interval ratio;
  bool significant = false;
};

struct SideFacts {
  std::string name;
  std::string program;  // ProgramOf() its command; "": not known
  LoaderConfig config;
  Factor bottleneck = Factor::kNone;
  std::size_t batches = 0;
};

struct Comparison {
  SideFacts before, after;
  // If the samples of a run are not known, batches take the place of samples.
  Change throughput;  // samples per second, steady
  Change wait;        // fraction of the loop's time
  // Seconds per sample, for stages that occur in one run or both. "step" and "wait" add up to the
  // loop's steady time, without pauses.
  std::vector<Change> stages;
  bool enough = false;  // both have 16 steady batches; else nothing counts as significant
  Statement unit;

  // Whether the runs are of two programs. A ratio between them is then no gain or loss. The same
  // program with other options, or a program that is not known, does not count.
  [[nodiscard]] bool of_two_programs() const {
    return !before.program.empty() && !after.program.empty() && before.program != after.program;
  }
  // Whether one program read two data sets, which are told apart by their numbers of samples. These
  // may then need other work. A number that is not known does not count.
  [[nodiscard]] bool of_two_datasets() const;
};

// Estimator:   ratios, or differences, of independent moving-block bootstraps of both runs' steady
//              batches; 95 % intervals. A block has as many batches as there are credits, in a long
//              run more. Repeated runs of one program differ by 2 % on a quiet machine, but there
//              is only one recording before and one after. So the length of each side of an
//              interval is increased: its square is the sum of the squares of the bootstrap's
//              length and of 2 % (for the wait: two percentage points).
// Few samples: with fewer than eight steady batches in a run, the interval is the estimate alone.
// Significant: the interval does not contain "no change": a ratio of 1, or a difference of 0.
// Errors:      kInput if either run has no batches of a loader.
[[nodiscard]] Predicted<Comparison> Compare(const Baseline& baseline, const Candidate& candidate);

// The difference of `wait` in percentage points, as it is shown beside both shares: those are
// rounded to whole percent, and a reader subtracts what he sees.
[[nodiscard]] double ShownPoints(const Change& wait);

// Says that the runs may not do the same work. Requires: of_two_datasets().
[[nodiscard]] Statement TwoDataSets(const Comparison& comparison);

[[nodiscard]] std::string CompareText(const Comparison& comparison, Colour colour);
// One object of schema penstock.compare/1.
[[nodiscard]] std::string CompareJson(const Comparison& comparison);

}  // namespace penstock::analyzer
