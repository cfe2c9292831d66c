// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/rules.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

constexpr std::array<Rule, 15> kRules = {
    ColdCache,          CollateSlow,        ComputeBound,
    CpuQuotaOrAffinity, CpuSaturated,       DecodeLargerThanNeeded,
    NoWorkerProcesses,  NormalizeOnCpu,     SharedMemoryTooSmall,
    SlowDecoder,        SlowFirstBatch,     SmallFiles,
    TooFewWorkers,      WorkerMemoryGrowth, WorkersRestartEachEpoch};

}  // namespace

Prediction RuleInput::With(int workers, int prefetch) const {
  const LoaderDiagnosis& found = loader();
  Setting setting;
  setting.workers = workers;
  setting.prefetch = prefetch + (found.pipeline.sample_tasks ? 1 : 0);  // as Suggestion has it
  return Predict(found.pipeline, Apply(found.pipeline, setting, found.facts), found.replay);
}

Prediction RuleInput::Without(Factor factor) const {
  const LoaderDiagnosis& found = loader();
  return Predict(found.pipeline, Idealise(found.pipeline, factor), found.replay);
}

Prediction RuleInput::WithScaled(Factor part, double scale) const {
  const LoaderDiagnosis& found = loader();
  Setting setting;
  setting.workers = found.pipeline.workers;
  setting.prefetch = found.pipeline.prefetch;
  setting.scale = {{part, scale}};
  return Predict(found.pipeline, Apply(found.pipeline, setting, found.facts), found.replay);
}

double RuleInput::ShareOfFetch(traces::StageId stage) const {
  const StageTable& stages = diagnosis.run.stages;
  const double whole = stages.DataTime();
  return whole > 0 ? std::min(1.0, Seconds(stages[stage].wall) / whole) : 0;
}

Findings RunRules(const traces::Trace& trace, const Diagnosis& diagnosis) {
  const RuleInput input{trace, diagnosis};
  Findings findings;
  for (const Rule rule : kRules) rule(input, findings);
  const auto gain = [](const Finding& finding) {
    return finding.predicted ? finding.predicted->speedup : 0.0;
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return gain(a) > gain(b);
  });
  return findings;
}

}  // namespace penstock::analyzer
