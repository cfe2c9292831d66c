// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/page_faults.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

// Page faults per sample that no allocator can avoid: from small allocations and the kernel itself.
// Source: ours; a run whose allocator keeps memory has 10 to 20 per sample.
constexpr double kUnavoidable = 20;

struct FaultsMade {
  double faults = 0;
  double cpu = 0;  // CPU seconds of all parts but reading; wall time if CPU is not known
  std::uint64_t batches = 0;
};

// Counts from the first counter sample after the worker's first batch to the end of its last
// delivered batch. The first batch is left out because it also faults in the imported modules.
// Faults after the last delivered batch are in the counter, but belong to no batch of `run`.
std::optional<FaultsMade> MadeBy(const RunModel& model, const LoaderRun& run,
                                 const CounterSeries& series) {
  constexpr std::uint64_t kFewest = 8;
  std::vector<std::pair<double, const Batch*>> ends;  // seconds
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || batch.worker_process < 0 ||
        static_cast<std::uint32_t>(batch.worker_process) != series.process.value) {
      continue;
    }
    ends.emplace_back(static_cast<double>(batch.fetch_end - model.begin.value) * 1e-9, &batch);
  }
  if (ends.empty()) return std::nullopt;
  std::sort(ends.begin(), ends.end());
  const auto first = std::lower_bound(series.at.begin(), series.at.end(), ends.front().first);
  if (first == series.at.end()) return std::nullopt;
  const double from = *first;
  double to = from;
  FaultsMade made;
  for (const auto& [end, batch] : ends) {
    if (end <= from || end > series.at.back()) continue;
    to = end;
    ++made.batches;
    for (const Work& work : {batch->decode, batch->augment, batch->tokenize, batch->collate}) {
      made.cpu += batch->cpu_known ? work.cpu : work.wall;
    }
  }
  if (made.batches < kFewest) return std::nullopt;
  made.faults = series.ValueAt(to) - series.ValueAt(from);
  return made;
}

}  // namespace

std::optional<FaultCost> FaultCostOf(const traces::Trace& trace) {
  const auto nanoseconds = NumberFact(trace.facts(), "host.fault_ns");
  if (!nanoseconds || *nanoseconds <= 0) return std::nullopt;
  FaultCost cost;
  cost.seconds = *nanoseconds * 1e-9;
  const auto page = NumberFact(trace.facts(), "host.page_bytes");
  if (page && *page > 0) cost.page = *page;
  return cost;
}

std::optional<PageFaults> MeasurePageFaults(const RunModel& model, const LoaderRun& run,
                                            const Material& material, const MemoryModel& memory,
                                            const FaultCost& cost) {
  if (run.config.sample_tasks || run.config.num_workers == 0 || model.mapped) return std::nullopt;
  FaultsMade all;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "minor_faults" || series.at.size() < 2) continue;
    const bool worker = std::any_of(
        run.workers.begin(), run.workers.end(),
        [&](const WorkerRun& candidate) { return candidate.process == series.process; });
    if (!worker) continue;
    const std::optional<FaultsMade> made = MadeBy(model, run, series);
    if (!made) continue;
    all.faults += made->faults;
    all.cpu += made->cpu;
    all.batches += made->batches;
  }
  if (all.batches == 0 || !(all.cpu > 0)) return std::nullopt;
  PageFaults faults;
  faults.batches = all.batches;
  const double samples = static_cast<double>(all.batches) *
                         static_cast<double>(std::max<std::uint64_t>(1, run.samples_per_batch));
  faults.per_sample = all.faults / samples;
  double grown = 0;  // bytes per sample
  if (memory.known) {
    grown = std::max(0.0, memory.growth.fresh.per_batch.estimate) +
            std::max(0.0, memory.growth.copied.per_batch.estimate);
    grown /= static_cast<double>(std::max<std::uint64_t>(1, run.samples_per_batch));
  }
  faults.needed = (material.sample_bytes + grown) / cost.page + kUnavoidable;
  faults.cpu_share = std::min(0.9, faults.avoidable() * samples * cost.seconds / all.cpu);
  return faults;
}

}  // namespace penstock::analyzer
