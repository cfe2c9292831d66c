// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/page_faults.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

constexpr double kPage = 4096;
// Faults of a sample that no allocator can spare: of small things, and the kernel's own (ours: 10
// to 20 of a run that keeps its memory).
constexpr double kRest = 20;

struct Made {
  double faults = 0;
  double cpu = 0;  // seconds of decode, augment and collate
  std::uint64_t batches = 0;
};

// From the end of the worker's first batch, which faults in what it imports, to the last count.
std::optional<Made> MadeBy(const RunModel& model, const LoaderRun& run,
                           const CounterSeries& series) {
  constexpr std::uint64_t kFewest = 8;
  const auto seconds = [&](std::int64_t at) {
    return static_cast<double>(at - model.begin.value) * 1e-9;
  };
  const auto is_its = [&](const Batch& batch) {
    return batch.worker_process >= 0 &&
           static_cast<std::uint32_t>(batch.worker_process) == series.process.value &&
           batch.was_fetched();
  };
  double from = -1;
  for (const Batch& batch : run.batches) {
    if (!is_its(batch)) continue;
    const double end = seconds(batch.fetch_end);
    if (from < 0 || end < from) from = end;
  }
  from = std::max(from, series.at.front());
  const double to = series.at.back();
  Made made;
  for (const Batch& batch : run.batches) {
    if (!is_its(batch)) continue;
    const double end = seconds(batch.fetch_end);
    if (end <= from || end > to) continue;
    ++made.batches;
    const double known = batch.cpu_known ? 1 : 0;
    for (const Work& work : {batch.decode, batch.augment, batch.collate}) {
      made.cpu += known * work.cpu + (1 - known) * work.wall;
    }
  }
  if (made.batches < kFewest) return std::nullopt;
  made.faults = series.ValueAt(to) - series.ValueAt(from);
  return made;
}

}  // namespace

std::optional<PageFaults> MeasurePageFaults(const RunModel& model, const LoaderRun& run,
                                            const Material& material, const MemoryModel& memory,
                                            double cost) {
  if (run.config.sample_tasks || run.config.num_workers == 0 || model.mapped) return std::nullopt;
  Made all;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "minor_faults" || series.at.size() < 2) continue;
    const bool worker = std::any_of(
        run.workers.begin(), run.workers.end(),
        [&](const WorkerRun& candidate) { return candidate.process == series.process; });
    if (!worker) continue;
    const std::optional<Made> made = MadeBy(model, run, series);
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
  double grown = 0;  // bytes a sample
  if (memory.known) {
    grown = std::max(0.0, memory.growth.fresh.per_batch.estimate) +
            std::max(0.0, memory.growth.copied.per_batch.estimate);
    grown /= static_cast<double>(std::max<std::uint64_t>(1, run.samples_per_batch));
  }
  faults.needed = (material.sample_bytes + grown) / kPage + kRest;
  faults.cpu_share = std::min(0.9, faults.avoidable() * samples * cost / all.cpu);
  return faults;
}

}  // namespace penstock::analyzer
