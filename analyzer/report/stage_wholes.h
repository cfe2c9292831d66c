// SPDX-License-Identifier: Apache-2.0
//
// The times that shares of stages refer to, and the steps of the training loops. The report and the
// dashboard count them in the same way. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// Units: seconds.
struct StageWholes {
  double making = 0;   // the workers' busy time
  double loop = 0;     // waits and steps of all training loops
  double devices = 0;  // `loop`, and the last steps, whose end is not known, up to the last work of
                       // a device
  double lives = 0;    // the workers' busy and idle time
  double run = 0;

  [[nodiscard]] double Of(traces::StageId stage) const;
  // Whether Of() has a last step in it whose end is not known, and that is a notable part.
  [[nodiscard]] bool HasUnended(traces::StageId stage) const;
};

// A part of a run: `holds` tells whether a time of the trace lies in it.
struct PartOfRun {
  std::function<bool(std::int64_t)> holds;
  double seconds = 0;
};

// `table`: the stages of the run or of `part`. Without a part, counts the whole run.
[[nodiscard]] StageWholes WholesOf(const RunModel& run, const StageTable& table,
                                   const PartOfRun* part = nullptr);

// Seconds of augmenting outside of its named transforms: other code of the samples. 0 if it has no
// named transform, or if they are all but a hundredth of it.
[[nodiscard]] double UnnamedTime(traces::StageId stage, const StageTotals& totals);

// One step of a training loop. If the loop uses several loaders together, its step belongs to the
// batch of the first one, and does not contain waits for the others.
struct LoopStep {
  const Batch* batch = nullptr;
  double seconds = 0;
  std::size_t loop = 0;                // steps with the same number follow each other
  std::vector<const Batch*> others{};  // of the other loaders, taken during the step
};

// Whether the steps of the stage table are those of StepsOf(). Otherwise they are the recorded
// spans. Spans of interleaved loaders contain waits, and overlap.
[[nodiscard]] bool DerivesSteps(const RunModel& run);
[[nodiscard]] std::vector<LoopStep> StepsOf(const RunModel& run);

}  // namespace penstock::analyzer
