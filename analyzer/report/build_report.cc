// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/report/report.h"
#include "traces/host_facts.h"

namespace penstock::analyzer {
namespace {

// The upper limit of the confidence if a measurement in the same run contradicts a prediction.
constexpr double kDisproved = 0.4;

// Reads the facts about the GPU that the training process's agent recorded. If there are none,
// those of another process.
void ReadGpuFacts(const traces::Trace& trace, Report& report) {
  constexpr std::size_t kKernels = 10;
  const std::vector<KernelTime>& kernels = report.diagnosis.run.device.kernel_times;
  for (std::size_t i = 0; i < std::min(kKernels, kernels.size()); ++i) {
    report.kernels.emplace_back(trace.String(kernels[i].name), kernels[i]);
  }
  report.gpu_nvml = TextFact(trace.facts(), "gpu.nvml");
  const RunModel& run = report.diagnosis.run;
  const auto processes = trace.processes();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const Facts& facts = processes[i].facts;
    if (facts.count("gpu.level") == 0) continue;
    const bool trains = run.has_loader() && run.loader().config.consumer == ProcessId{i};
    if (!report.gpu_level.empty() && !trains) continue;
    report.gpu_level = TextFact(facts, "gpu.level");
    report.gpu_reason = TextFact(facts, "gpu.reason");
  }
}

}  // namespace

std::string RecordedCommand(const traces::Trace& trace) {
  const auto fact = trace.facts().find("command");
  if (fact != trace.facts().end()) return fact->second;
  for (const traces::ProcessInfo& process : trace.processes()) {
    if (process.role == wire::kRoleWorker || process.command.empty()) continue;
    return traces::QuoteCommand(process.command);
  }
  return "";
}

std::string SuggestedCode(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return "";
  const LoaderConfig& config = diagnosis.run.loader().config;
  const Suggestion& suggestion = diagnosis.loader->suggestion;
  if (!suggestion.changes && !config.workers_known) return "";
  return LoaderCode(config, suggestion);
}

std::string LoaderCode(const LoaderConfig& config, const Suggestion& suggestion) {
  if (config.kind == "penstock") {
    return fmt::format("penstock load ... --workers {} --prefetch {}", suggestion.workers,
                       suggestion.prefetch);
  }
  if (config.kind != "pytorch") return "";
  std::string code = "DataLoader(dataset";
  if (config.batch_size > 0) code += fmt::format(", batch_size={}", config.batch_size);
  code += fmt::format(", num_workers={}", suggestion.workers);
  if (suggestion.workers > 0) {  // without workers PyTorch refuses both arguments
    code += fmt::format(", prefetch_factor={}", suggestion.prefetch);
    if (suggestion.persistent_workers) code += ", persistent_workers=True";
  }
  if (config.pin_memory) code += ", pin_memory=True";
  if (!config.in_order && suggestion.workers > 0) code += ", in_order=False";
  return code + ")";
}

namespace {

std::optional<double> FollowingCostOf(const traces::Trace& trace) {
  double spent = 0;
  double of = 0;
  for (const traces::ProcessInfo& process : trace.processes()) {
    spent += NumberFact(process.facts, "functions.spent_ns").value_or(0);
    of += NumberFact(process.facts, "functions.of_ns").value_or(0);
  }
  return of > 0 && spent > 0 ? std::optional(spent / of) : std::nullopt;
}

// Gives `predicted` the confidence interval of `step` if both predict one change. The plan widens
// the interval of a change whose effect is known only within limits, such as a decoder's speed.
void TakeInterval(const Diagnosis& diagnosis, const PlanStep& step, Prediction& predicted) {
  constexpr double kSameRate = 1e-9;
  const Interval& of = step.predicted.rate;
  const double rate = OnBase(diagnosis, predicted).rate.estimate;
  if (!(rate > 0) || std::abs(of.estimate / rate - 1) > kSameRate) return;
  predicted.rate.low = predicted.rate.estimate * of.low / of.estimate;
  predicted.rate.high = predicted.rate.estimate * of.high / of.estimate;
}

// Whether an option of `penstock whatif` is the change of a step of the plan.
bool IsStep(std::string_view option, std::string_view step) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Pair, 6> kSame = {{{"--ram-cache", "ram_cache"},
                                          {"--pack", "pack"},
                                          {"--decoder simplejpeg", "decoder"},
                                          {"--transfer u8", "transfer_u8"},
                                          {"--gpu augment", "gpu_augment"},
                                          {"--gpu decode,augment", "gpu_decode"}}};
  return std::find(kSame.begin(), kSame.end(), Pair{option, step}) != kSame.end();
}

// The first step of the plan is predicted by itself, as findings and tried changes are.
void TakeIntervals(Report& report) {
  if (report.plan.steps.empty()) return;
  const PlanStep& first = report.plan.steps.front();
  for (Finding& finding : report.findings) {
    const auto& answered = first.findings;
    if (!finding.predicted ||
        std::find(answered.begin(), answered.end(), finding.id) == answered.end()) {
      continue;
    }
    TakeInterval(report.diagnosis, first, *finding.predicted);
  }
  for (TriedChange& change : report.changes) {
    if (IsStep(change.option, first.id)) TakeInterval(report.diagnosis, first, change.predicted);
  }
}

}  // namespace

Report BuildReport(const traces::Trace& trace, std::string path, std::string_view loader) {
  Report report;
  report.trace = std::move(path);
  report.command = RecordedCommand(trace);
  report.duration = Seconds(trace.end() - trace.begin());
  report.diagnosis = Diagnose(trace, loader);
  report.probes = MeasureProbes(trace, report.diagnosis);
  if (report.probes.disagree()) {
    report.diagnosis.confidence = std::min(report.diagnosis.confidence, kDisproved);
  }
  report.stages = BuildStageRows(trace, report.diagnosis.run);
  Advice advice = RunRules(trace, report.diagnosis);
  report.findings = std::move(advice.findings);
  report.not_checked = std::move(advice.not_checked);
  report.plan = BuildPlan(trace, report.diagnosis, report.findings,
                          {.trace = report.trace, .command = report.command});
  if (report.diagnosis.loader) report.changes = TryChanges(*report.diagnosis.loader);
  TakeIntervals(report);
  report.gpus = ReadGpuCounters(trace, report.diagnosis.run);
  ReadGpuFacts(trace, report);
  report.coverage = MeasureCoverage(trace, RuleInput{trace, report.diagnosis}.HasGpu());
  report.losses = trace.losses();
  report.overrides = Overrides(trace);
  report.following_cost = FollowingCostOf(trace);
  if (report.diagnosis.loader) {
    const LoaderRun& run = report.diagnosis.run.loader();
    report.compared_batches = CompareBatches(run, report.diagnosis.loader->steady);
    report.slow_batches = FindSlowBatches(run, report.diagnosis.loader->steady);
  }
  report.stalls = FindStalls(trace);
  report.requests = FindRequests(report.diagnosis.run);
  if (trace.realtime_offset().value != 0) {
    report.started = Seconds(trace.begin() + trace.realtime_offset());
  }
  return report;
}

}  // namespace penstock::analyzer
