// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/not_checked.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/memory/page_faults.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

bool HasCounter(const RunModel& model, std::string_view name) {
  return std::any_of(
      model.counters.begin(), model.counters.end(),
      [&](const CounterSeries& series) { return series.name == name && series.at.size() >= 2; });
}

// Ranks of this run that are not in this recording.
bool RanksElsewhere(const traces::Trace& trace) {
  std::set<std::int32_t> ranks;
  std::int32_t world = 0;
  for (const traces::ProcessInfo& process : trace.processes()) {
    world = std::max(world, process.world_size);
    if (process.rank >= 0) ranks.insert(process.rank);
  }
  return world > 1 && ranks.size() < 2;
}

}  // namespace

std::vector<NotChecked> NotCheckedRules(const traces::Trace& trace, const Diagnosis& diagnosis) {
  std::vector<NotChecked> missing;
  if (!diagnosis.loader) {
    missing.push_back({{}, Say<words::kRulesNeedLoader>()});
    return missing;
  }
  const RuleInput input{trace, diagnosis};
  const RunModel& model = diagnosis.run;
  const StageTable& stages = model.stages;
  const LoaderRun& run = input.run();
  const bool processes = run.config.num_workers > 0 && !run.config.sample_tasks;
  const auto needs = [&](bool absent, std::vector<std::string_view> ids, Statement what) {
    if (absent) missing.push_back({std::move(ids), std::move(what)});
  };
  needs(stages[traces::StageId::kKernel].count == 0,
        {"kernel-launch-bound", "copies-not-overlapped", "trainer-starved",
         "preprocessing-on-busy-gpu"},
        Say<words::kRuleNeedsKernels>());
  needs(model.device.copies.empty(), {"pageable-copies"}, Say<words::kRuleNeedsCopies>());
  needs(!input.HasGpu(), {"move-decode-to-gpu", "move-augment-to-gpu"},
        Say<words::kRuleNeedsGpu>());
  std::string types;
  if (run.config.consumer.value < trace.processes().size()) {
    types = TextFact(trace.processes()[run.config.consumer.value].facts,
                     fmt::format("loader.{}.batch_types", run.config.id));
  }
  needs(types.empty(), {"wide-labels"}, Say<words::kRuleNeedsTypes>());
  needs(RanksElsewhere(trace), {"rank-imbalance"}, Say<words::kRuleNeedsRanks>());
  needs(run.epochs.size() < 2, {"cold-cache", "fits-in-ram", "repeated-work"},
        Say<words::kRuleNeedsEpochs>());
  needs(processes && !(HasCounter(model, "cpu_ns") && HasCounter(model, "threads")),
        {"cpu-oversubscribed"}, Say<words::kRuleNeedsWorkerCpu>());
  const MemoryModel& memory = input.loader().memory;
  const bool collected = HasCounter(model, "uss_bytes") || HasCounter(model, "cpu_ns");
  needs(processes && !collected, {"worker-memory-growth", "worker-memory-leak"},
        Say<words::kRuleNeedsWorkerMemory>());
  const std::vector<std::string_view> faults = {"allocator-page-faults"};
  const auto cost = FaultCostOf(trace);
  const bool counted = HasCounter(model, "minor_faults") && cost;
  needs(processes && !counted, faults, Say<words::kRuleNeedsFaults>());
  needs(processes && counted && model.mapped, faults, Say<words::kRuleNeedsUnmapped>());
  needs(processes && counted && !model.mapped &&
            !MeasurePageFaults(model, run, input.loader().material, memory, *cost),
        faults, Say<words::kRuleNeedsBatches>());
  needs(processes && collected && !memory.known, {"worker-memory-growth", "worker-memory-leak"},
        Say<words::kRuleNeedsMemoryWalks>());
  needs(processes && memory.known && !memory.attributed, {"worker-memory-leak"},
        Say<words::kRuleNeedsAnonymous>());
  needs(input.loader().cpu.crowded && run.config.num_workers > 0,
        {"too-many-workers", "prefetch-too-shallow", "stragglers"}, Say<words::kRuleNeedsQuiet>());
  needs(!input.loader().steady.steady && !input.loader().cpu.crowded && run.config.num_workers > 0,
        {"too-many-workers", "prefetch-too-shallow", "stragglers"}, Say<words::kRuleNeedsLonger>());
  return missing;
}

}  // namespace penstock::analyzer
