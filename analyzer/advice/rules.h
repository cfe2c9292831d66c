// SPDX-License-Identifier: Apache-2.0
//
// The rules. Each looks at a diagnosis and reports at most one finding, or names what the recording
// lacks for an answer. A new rule needs a file, a line in rule_list.h and words in words/. Pure.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/advice/not_checked.h"
#include "analyzer/advice/rule_list.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/scenario.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct RuleInput {
  const traces::Trace& trace;
  const Diagnosis& diagnosis;

  // Requires for both: diagnosis.loader.
  [[nodiscard]] const LoaderRun& run() const { return diagnosis.run.loader(); }
  [[nodiscard]] const LoaderDiagnosis& loader() const { return *diagnosis.loader; }
  // Predicted effect of another number of workers and another depth.
  [[nodiscard]] Prediction With(int workers, int prefetch) const;
  // Predicted effect of making a factor free: the most that improving it can gain.
  [[nodiscard]] Prediction Without(Factor factor) const;
  // Predicted effect if one part of every batch takes `scale` times as long.
  [[nodiscard]] Prediction WithScaled(Factor part, double scale) const;
  // Predicted effect of any other setting, with the memory it takes.
  [[nodiscard]] Prediction WithSetting(const Setting& setting) const;
  // The recorded number of workers and depth, as a setting to vary.
  [[nodiscard]] Setting Recorded() const;
  // Time of a stage, divided by the time that the workers spend on data (StageTable::DataTime).
  [[nodiscard]] double ShareOfFetch(traces::StageId stage) const;
  // Whether the trace shows a GPU that the run could use.
  [[nodiscard]] bool HasGpu() const;
  [[nodiscard]] bool HasKernels() const;
  // Whether some process has at least two samples of this counter.
  [[nodiscard]] bool HasCounter(std::string_view name) const;
  // Whether worker processes make the batches. Requires: diagnosis.loader.
  [[nodiscard]] bool HasWorkerProcesses() const;
  // What the recording lacks to compare numbers of workers; empty: it lacks nothing.
  // Requires: diagnosis.loader.
  [[nodiscard]] Statement NeedsToCompareWorkers() const;
};

using Findings = std::vector<Finding>;

struct Advice {
  Findings findings;
  std::vector<NotChecked> not_checked;

  // Notes that rule `id` lacks `what` in this recording; does nothing if `what` is empty.
  void Needs(std::string_view id, Statement what) { AddNeed(id, std::move(what), not_checked); }
};

using Rule = void (*)(const RuleInput& input, Advice& out);

#define PENSTOCK_DECLARE_RULE(file, Function) void Function(const RuleInput& input, Advice& out);
PENSTOCK_RULES(PENSTOCK_DECLARE_RULE)
#undef PENSTOCK_DECLARE_RULE

// Runs all rules. The most severe findings come first, and among them the largest predicted gain.
[[nodiscard]] Advice RunRules(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
