// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/rules.h"

#include <algorithm>
#include <variant>

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

#define PENSTOCK_NAME_RULE(file, Function) Function,
constexpr Rule kRules[] = {PENSTOCK_RULES(PENSTOCK_NAME_RULE)};
#undef PENSTOCK_NAME_RULE

// Removes a prediction that may be no gain at all, or whose rate breaks a law of predict/laws.h.
// The finding then only says what was seen. Its severity becomes info if the recorded work,
// start-up included, does not surely gain. If only the base of the report does not surely gain, the
// severity stays.
void KeepSureGains(const Diagnosis& diagnosis, Findings& findings) {
  for (Finding& finding : findings) {
    if (!finding.predicted) continue;
    if (finding.predicted->at_most && finding.predicted->refused.empty()) continue;
    const bool gains = finding.predicted->SurelyGains();
    if (gains && OnBase(diagnosis, *finding.predicted).SurelyGains()) continue;
    finding.predicted.reset();
    if (!gains) finding.severity = Severity::kInfo;
  }
}

// Tells a statement, and the statements in it, whether there is a prediction.
void SetPredicted(bool predicted, Statement& statement) {
  for (auto& [name, value] : statement.values) {
    if (name == "predicted") value = predicted;
    if (auto* inner = std::get_if<Statements>(&value)) {
      for (Statement& one : *inner) SetPredicted(predicted, one);
    }
  }
}

// An action says what a prediction assumes only if there is a prediction.
void SayAssumptions(Findings& findings) {
  for (Finding& finding : findings) SetPredicted(finding.predicted.has_value(), finding.action);
}

// If there is a finding that a host has too many workers, removes the same findings about a rank.
void KeepOneOfHost(Findings& findings) {
  const auto is = [](std::string_view id) {
    return [id](const Finding& finding) { return finding.id == id; };
  };
  if (std::none_of(findings.begin(), findings.end(), is("ranks-exceed-host"))) return;
  for (const std::string_view id : {"too-many-workers", "cpu-quota-or-affinity"}) {
    findings.erase(std::remove_if(findings.begin(), findings.end(), is(id)), findings.end());
  }
}

}  // namespace

Prediction RuleInput::WithSetting(const Setting& setting) const {
  const LoaderDiagnosis& found = loader();
  const Pipeline recorded = OfLongerRun(found);
  Prediction prediction = Predict(recorded, Apply(recorded, setting, found.facts), found.replay);
  prediction.ram = RamOf(found.pipeline, setting, found.facts);
  return prediction;
}

Setting RuleInput::Recorded() const {
  Setting setting;
  setting.workers = loader().pipeline.workers;
  setting.prefetch = loader().pipeline.prefetch;
  return setting;
}

Prediction RuleInput::With(int workers, int prefetch) const {
  Setting setting;
  setting.workers = workers;
  // `prefetch` leaves out the batch in use, as in Suggestion. If threads fill batches together, the
  // depth of a pipeline includes that batch.
  setting.prefetch = prefetch + (loader().pipeline.sample_tasks ? 1 : 0);
  return WithSetting(setting);
}

Prediction RuleInput::Without(Factor factor) const {
  const LoaderDiagnosis& found = loader();
  // What start-up gains is told of the run as it was recorded.
  const Pipeline recorded = factor == Factor::kStartup ? found.pipeline : OfLongerRun(found);
  return Predict(recorded, Idealise(recorded, factor), found.replay);
}

Prediction RuleInput::WithScaled(Factor part, double scale) const {
  Setting setting = Recorded();
  setting.scale = {{part, scale}};
  return WithSetting(setting);
}

double RuleInput::ShareOfFetch(traces::StageId stage) const {
  const StageTable& stages = diagnosis.run.stages;
  const double whole = stages.DataTime();
  return whole > 0 ? std::min(1.0, Seconds(stages[stage].wall) / whole) : 0;
}

bool RuleInput::HasKernels() const {
  return diagnosis.run.stages[traces::StageId::kKernel].count > 0;
}

bool RuleInput::HasCounter(std::string_view name) const {
  const auto& counters = diagnosis.run.counters;
  return std::any_of(counters.begin(), counters.end(), [&](const CounterSeries& series) {
    return series.name == name && series.at.size() >= 2;
  });
}

bool RuleInput::HasWorkerProcesses() const {
  return run().config.num_workers > 0 && !run().config.sample_tasks;
}

Statement RuleInput::NeedsToCompareWorkers() const {
  if (run().config.num_workers == 0) return {};
  if (loader().cpu.crowded) return Say<words::kRuleNeedsQuiet>();
  return loader().steady.steady ? Statement{} : Say<words::kRuleNeedsLonger>();
}

bool RuleInput::HasGpu() const {
  const StageTable& stages = diagnosis.run.stages;
  return trace.facts().count("gpu.model") > 0 || stages[traces::StageId::kKernel].count > 0 ||
         stages[traces::StageId::kH2d].count > 0;
}

Advice RunRules(const traces::Trace& trace, const Diagnosis& diagnosis) {
  const RuleInput input{trace, diagnosis};
  Advice advice;
  for (const Rule rule : kRules) rule(input, advice);
  if (diagnosis.loader) {
    SortNeeds(advice.not_checked);
  } else {
    advice.not_checked = {{{}, Say<words::kRulesNeedLoader>()}};
  }
  Findings& findings = advice.findings;
  KeepOneOfHost(findings);
  if (diagnosis.loader && !IsSimulated(*diagnosis.loader, diagnosis.run.loader())) {
    // The rules of these findings depend on a prediction, which needs a simulation. This loader
    // cannot be simulated.
    findings.erase(std::remove_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.predicted; }),
                   findings.end());
  }
  if (diagnosis.needs.empty()) KeepSureGains(diagnosis, findings);
  if (diagnosis.loader && !diagnosis.needs.empty()) {
    // The observation stays; the gain of a change is not known.
    for (Finding& finding : findings) {
      finding.predicted.reset();
      if (!diagnosis.loader->steady.steady) finding.severity = Severity::kInfo;
    }
  }
  SayAssumptions(findings);
  const auto gain = [](const Finding& finding) {
    return finding.predicted ? finding.predicted->speedup : 0.0;
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return gain(a) > gain(b);
  });
  return advice;
}

}  // namespace penstock::analyzer
