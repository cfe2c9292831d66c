// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/not_checked.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/memory/page_faults.h"

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
    missing.push_back({{}, "almost every rule: needs a loader whose batches were recorded"});
    return missing;
  }
  const RuleInput input{trace, diagnosis};
  const RunModel& model = diagnosis.run;
  const StageTable& stages = model.stages;
  const LoaderRun& run = input.run();
  const bool processes = run.config.num_workers > 0 && !run.config.sample_tasks;
  const auto needs = [&](bool absent, std::vector<std::string_view> ids, std::string what) {
    if (absent) missing.push_back({std::move(ids), std::move(what)});
  };
  needs(stages[traces::StageId::kKernel].count == 0,
        {"kernel-launch-bound", "copies-not-overlapped", "trainer-starved",
         "preprocessing-on-busy-gpu"},
        "GPU kernels in the recording");
  needs(model.device.copies.empty(), {"pageable-copies"}, "host-to-device copies in the recording");
  needs(!input.HasGpu(), {"move-decode-to-gpu", "move-augment-to-gpu"}, "a run with a GPU");
  std::string types;
  if (run.config.consumer.value < trace.processes().size()) {
    types = TextFact(trace.processes()[run.config.consumer.value].facts,
                     fmt::format("loader.{}.batch_types", run.config.id));
  }
  needs(types.empty(), {"wide-labels"}, "the data types of a batch");
  needs(RanksElsewhere(trace), {"rank-imbalance"},
        "the traces of the other ranks (penstock report takes several)");
  needs(run.epochs.size() < 2, {"cold-cache", "fits-in-ram", "repeated-work"}, "two epochs");
  needs(processes && !(HasCounter(model, "cpu_ns") && HasCounter(model, "threads")),
        {"cpu-oversubscribed"}, "CPU time and threads of the workers (a recording with collector)");
  const MemoryModel& memory = input.loader().memory;
  const bool collected = HasCounter(model, "uss_bytes") || HasCounter(model, "cpu_ns");
  needs(processes && !collected, {"worker-memory-growth", "worker-memory-leak"},
        "memory of the workers (a recording with collector)");
  const std::vector<std::string_view> faults = {"allocator-page-faults"};
  const auto cost = FaultCostOf(trace);
  const bool counted = HasCounter(model, "minor_faults") && cost;
  needs(
      processes && !counted, faults,
      "page faults of the workers and what one costs (a recording of this version with collector)");
  needs(processes && counted && model.mapped, faults,
        "files that are read (what maps them faults in their pages)");
  needs(processes && counted && !model.mapped &&
            !MeasurePageFaults(model, run, input.loader().material, memory, *cost),
        faults, "eight batches of a worker (a longer recording)");
  needs(processes && collected && !memory.known, {"worker-memory-growth", "worker-memory-leak"},
        "each worker's memory four times after its start (a longer recording, or record --memory "
        "500ms)");
  needs(processes && memory.known && !memory.attributed, {"worker-memory-leak"},
        "anonymous memory of the workers (a recording of this version)");
  needs(input.loader().cpu.crowded && run.config.num_workers > 0,
        {"too-many-workers", "prefetch-too-shallow", "stragglers"}, "a quiet machine");
  needs(!input.loader().steady.steady && !input.loader().cpu.crowded && run.config.num_workers > 0,
        {"too-many-workers", "prefetch-too-shallow", "stragglers"}, "a longer recording");
  return missing;
}

}  // namespace penstock::analyzer
