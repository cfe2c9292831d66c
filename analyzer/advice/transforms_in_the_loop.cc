// SPDX-License-Identifier: Apache-2.0
//
// The training loop augments whole batches itself, on the CPU. Workers could do this during the
// step.
// Threshold: augmenting takes a tenth of the loop's time, the loop waits less than a fifth of its
// time, and the move gains 5 % (ours). Source: docs/diagnosis.md R39.
#include "analyzer/advice/loop_transforms.h"

#include <algorithm>
#include <cmath>

#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {
namespace {

// Predicts the recorded setting, changed to `workers` workers that also do the loop's transforms.
Prediction InWorkers(const RuleInput& input, int workers) {
  const LoaderDiagnosis& found = input.loader();
  Setting setting = input.Recorded();
  setting.workers = workers;
  Pipeline changed = Apply(found.pipeline, setting, found.facts);
  MoveLoopTransforms(changed);
  return Predict(found.pipeline, changed, found.replay);
}

}  // namespace

void MoveLoopTransforms(Pipeline& pipeline) {
  const double threads = std::max(1.0, pipeline.step_load);
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      const double moved = pipeline.step_transforms * demand.step;
      demand.step -= moved;
      demand.augment.wall += threads * moved;
      demand.augment.cpu += threads * moved;
    }
  }
  pipeline.step_transforms = 0;
}

std::optional<LoopTransforms> FindLoopTransforms(const RuleInput& input) {
  constexpr double kShare = 0.1;
  constexpr double kWaits = 0.2;  // beyond it, workers are already too slow; other rules say so
  constexpr double kGain = 1.05;
  constexpr double kMore = 1.02;  // the least gain of one more worker
  if (!input.diagnosis.loader) return std::nullopt;
  const Pipeline& pipeline = input.loader().pipeline;
  if (pipeline.sample_tasks || !pipeline.beside.empty()) return std::nullopt;
  LoopTransforms found;
  found.share = pipeline.step_transforms * (1 - input.diagnosis.wait_fraction);
  if (found.share < kShare || input.diagnosis.wait_fraction >= kWaits) return std::nullopt;
  found.workers = std::max(1, pipeline.workers);
  found.predicted = InWorkers(input, found.workers);
  const int most = std::max(found.workers, static_cast<int>(std::ceil(pipeline.cores)));
  for (int workers = found.workers + 1; workers <= std::min(most, 64); ++workers) {
    const Prediction more = InWorkers(input, workers);
    if (more.speedup < kMore * found.predicted.speedup) break;
    found.predicted = more;
    found.workers = workers;
  }
  // Other rules report the gain of more workers, so only the gain beyond it counts.
  Setting setting = input.Recorded();
  setting.workers = found.workers;
  const double workers = std::max(1.0, input.WithSetting(setting).speedup);
  if (found.predicted.speedup < kGain * workers) return std::nullopt;
  return found;
}

void TransformsInTheLoop(const RuleInput& input, Advice& out) {
  const std::optional<LoopTransforms> found = FindLoopTransforms(input);
  if (!found) return;
  Finding finding;
  finding.id = "transforms-in-the-loop";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kTransformsInTheLoop>(Give<"loop_share">(found->share));
  finding.evidence = {{"loop_share", found->share}, {"threshold", 0.1}};
  const bool same = found->workers == input.loader().pipeline.workers;
  finding.action = Say<words::kTransformInWorkers>(
      Give<"predicted">(true),
      Give<"workers">(same ? std::nullopt : std::optional(found->workers)));
  finding.predicted = found->predicted;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
