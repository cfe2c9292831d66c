// SPDX-License-Identifier: Apache-2.0
//
// The rules: each looks at a diagnosis, reports at most one finding, and names what it lacks if the
// recording cannot answer it. A new rule is its file, its line in rule_list.h and its words. Pure.
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
  // Predicted effect of another number of workers and depth.
  [[nodiscard]] Prediction With(int workers, int prefetch) const;
  // Predicted effect of making a factor free: the most that can be had from it.
  [[nodiscard]] Prediction Without(Factor factor) const;
  // Predicted effect of one part of every batch taking `scale` times as long.
  [[nodiscard]] Prediction WithScaled(Factor part, double scale) const;
  // Predicted effect of any other setting, with the memory it takes.
  [[nodiscard]] Prediction WithSetting(const Setting& setting) const;
  // The recorded number of workers and depth, to be varied.
  [[nodiscard]] Setting Recorded() const;
  // Time of a stage over the workers' time in data (StageTable::DataTime).
  [[nodiscard]] double ShareOfFetch(traces::StageId stage) const;
  // Bytes read in one pass over the dataset, by its fact, by what a sample takes, or by epochs that
  // were seen to end; 0: not known.
  [[nodiscard]] double DatasetBytes() const;
  // The trace shows that there is a GPU to work for.
  [[nodiscard]] bool HasGpu() const;
  [[nodiscard]] bool HasKernels() const;
  // Whether some process has this counter, with two samples or more.
  [[nodiscard]] bool HasCounter(std::string_view name) const;
  // Worker processes make the batches. Requires: diagnosis.loader.
  [[nodiscard]] bool HasWorkerProcesses() const;
  // What is lacking to weigh numbers of workers against each other; empty: nothing. Requires:
  // diagnosis.loader.
  [[nodiscard]] Statement NeedsToCompareWorkers() const;
};

using Findings = std::vector<Finding>;

struct Advice {
  Findings findings;
  std::vector<NotChecked> not_checked;

  // Rule `id` cannot look at this recording, which lacks `what`; nothing if that is empty.
  void Needs(std::string_view id, Statement what) { AddNeed(id, std::move(what), not_checked); }
};

using Rule = void (*)(const RuleInput& input, Advice& out);

#define PENSTOCK_DECLARE_RULE(file, Function) void Function(const RuleInput& input, Advice& out);
PENSTOCK_RULES(PENSTOCK_DECLARE_RULE)
#undef PENSTOCK_DECLARE_RULE

// All rules, most severe findings first, then by predicted gain.
[[nodiscard]] Advice RunRules(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
