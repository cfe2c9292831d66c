// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/build_interleaved.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/measure/build_pipeline.h"
#include "analyzer/measure/corrections.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// A batch as the loop took it.
struct Taken {
  std::int64_t entered = 0;
  std::int64_t delivered = 0;
  std::uint32_t loader = 0;
  std::size_t batch = 0;  // index into the batches of its loader
};

bool IsInside(const SteadyState& steady, const Batch& batch) {
  return std::any_of(steady.windows.begin(), steady.windows.end(), [&](const auto& window) {
    return batch.delivered > window.first && batch.delivered <= window.second;
  });
}

// The steady part of another loader: the windows of the main loader.
SteadyState SteadyOf(const LoaderRun& other, const SteadyState& steady) {
  SteadyState out;
  out.steady = steady.steady;
  out.time = steady.time;
  out.windows = steady.windows;
  out.from = steady.from;
  out.to = steady.to;
  out.paused.assign(other.batches.size(), false);  // SetSteps() judges the steps of the loop
  for (const Batch& batch : other.batches) {
    const bool inside = IsInside(steady, batch);
    out.in_window.push_back(inside);
    out.batches += inside ? 1U : 0U;
    out.wait += inside ? batch.wait() : 0;
    out.samples += inside ? SamplesOf(other, batch) : 0;
  }
  return out;
}

bool CanBeSimulated(const LoaderRun& run, std::uint32_t thread) {
  if (run.config.sample_tasks || run.config.fixed_batch || run.batches.empty()) return false;
  std::size_t fetched = 0;
  for (const Batch& batch : run.batches) {
    if (batch.wait_thread != thread) return false;
    fetched += batch.was_fetched() ? 1U : 0U;
  }
  return 2 * fetched >= run.batches.size();
}

bool OftenBegins(const LoaderRun& run, const SteadyState& steady) {
  constexpr double kOften = 0.05;  // ours
  double firsts = 0;
  double all = 0;
  for (const Epoch& epoch : run.epochs) {
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      const std::int64_t delivered = run.batches[i].delivered;
      if (delivered <= steady.from || delivered > steady.to) continue;
      all += 1;
      firsts += i == epoch.first ? 1 : 0;
    }
  }
  return firsts > kOften * all;
}

std::vector<Taken> InOrder(const std::vector<const LoaderRun*>& runs) {
  std::vector<Taken> taken;
  for (std::uint32_t loader = 0; loader < runs.size(); ++loader) {
    for (std::size_t i = 0; i < runs[loader]->batches.size(); ++i) {
      const Batch& batch = runs[loader]->batches[i];
      taken.push_back({batch.wait_start, batch.delivered, loader, i});
    }
  }
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.delivered < b.delivered; });
  return taken;
}

// For each batch of `taken`: whether the main loader `run` pauses or begins its next epoch in the
// interval around this batch, from one batch of `run` to the next. The pause may follow a batch of
// any loader in this interval.
std::vector<bool> PausedOf(const std::vector<Taken>& taken, const LoaderRun& run,
                           const SteadyState& steady) {
  std::vector<bool> pauses_after = steady.paused;
  for (std::size_t e = 1; e < run.epochs.size(); ++e) {
    if (run.epochs[e].first > 0) pauses_after[run.epochs[e].first - 1] = true;
  }
  std::vector<bool> paused;
  bool pauses = false;
  for (const Taken& one : taken) {
    if (one.loader == 0) pauses = pauses_after[one.batch];
    paused.push_back(pauses);
  }
  return paused;
}

// Sets the steps of the loop: each lasts from one batch to the next batch of any loader. Some steps
// do not count: those outside the steady part, and those in an interval with a pause or the end of
// an epoch. Such a step, and its copies, get at most the median length of the other steps after
// batches of the same loader.
void SetSteps(const std::vector<Taken>& taken, const std::vector<bool>& paused, std::size_t loaders,
              EpochDemand& epoch) {
  std::vector<std::vector<double>> steps(loaders);
  std::vector<std::vector<double>> copies(loaders);
  for (std::size_t k = 0; k < taken.size(); ++k) {
    Demand& demand = epoch.batches[k];
    const bool last = k + 1 == taken.size();
    const double step =
        last ? 0 : static_cast<double>(taken[k + 1].entered - taken[k].delivered) * 1e-9;
    demand.h2d = std::clamp(demand.h2d, 0.0, std::max(0.0, step));
    demand.step = std::max(0.0, step - demand.h2d);
    if (!demand.counted || paused[k] || last) continue;
    steps[demand.loader].push_back(demand.step);
    copies[demand.loader].push_back(demand.h2d);
  }
  std::vector<double> usual_steps;  // by loader; 0 if none of its steps counts
  std::vector<double> usual_copies;
  for (std::vector<double>& of : steps) usual_steps.push_back(Median(std::move(of)));
  for (std::vector<double>& of : copies) usual_copies.push_back(Median(std::move(of)));
  for (std::size_t k = 0; k < taken.size(); ++k) {
    Demand& demand = epoch.batches[k];
    if (demand.counted && !paused[k]) continue;
    demand.step = std::min(demand.step, usual_steps[demand.loader]);
    demand.h2d = std::min(demand.h2d, usual_copies[demand.loader]);
  }
}

// Sets the load of the steps from the CPU time that the counter of the training process shows.
void MeasureStepLoad(const RunModel& model, const std::vector<const LoaderRun*>& runs,
                     const std::vector<Taken>& taken, const SteadyState& steady,
                     Pipeline& pipeline) {
  const auto consumer = CpuInWindows(model, steady, wire::kRoleConsumer);
  double transfer = 0;
  double step = 0;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    const Demand& demand = pipeline.epochs.front().batches[k];
    if (!demand.counted) continue;
    const Batch& batch = runs[demand.loader]->batches[taken[k].batch];
    const bool here = runs[demand.loader]->config.num_workers == 0;
    transfer += pipeline.setup(demand.loader).get_share * demand.get + demand.next + batch.pin.cpu +
                (here ? batch.fetch.cpu : 0);
    step += demand.step + demand.h2d;
  }
  const double computed = consumer ? *consumer * steady.time : 0;
  SetStepLoad(std::max(0.0, computed - transfer), step, steady.time, pipeline);
}

}  // namespace

std::optional<Pipeline> BuildInterleaved(const RunModel& model, const LoaderRun& run,
                                         const SteadyState& steady, const CpuLoad& load) {
  std::vector<const LoaderRun*> runs = DrainedWith(model, run);
  runs.insert(runs.begin(), &run);
  if (runs.size() < 2 || run.batches.empty()) return std::nullopt;
  const std::uint32_t thread = run.batches.front().wait_thread;
  std::vector<Pipeline> apart;
  for (const LoaderRun* one : runs) {
    if (!CanBeSimulated(*one, thread) || OftenBegins(*one, steady)) return std::nullopt;
    const bool main = one == &run;
    const SteadyState its = main ? steady : SteadyOf(*one, steady);
    apart.push_back(
        BuildPipeline(model, *one, its, main ? load : MeasureCpuLoad(model, *one, its)));
  }
  std::vector<std::vector<const Demand*>> demands(runs.size());  // by loader and batch
  for (std::size_t loader = 0; loader < runs.size(); ++loader) {
    for (const EpochDemand& epoch : apart[loader].epochs) {
      for (const Demand& demand : epoch.batches) demands[loader].push_back(&demand);
    }
  }
  Pipeline together = apart.front();
  together.epochs.assign(1, {});
  for (std::size_t loader = 1; loader < runs.size(); ++loader) {
    LoaderSetup& setup = together.beside.emplace_back(apart[loader]);
    setup.batch_bytes = FilledBatchBytes(model, *runs[loader]);
    setup.pinned = runs[loader]->config.pin_memory;
  }
  const std::vector<Taken> taken = InOrder(runs);
  std::vector<Demand>& all = together.epochs.front().batches;
  for (const Taken& one : taken) {
    all.push_back(*demands[one.loader][one.batch]);
    all.back().loader = one.loader;
  }
  bool counts = false;  // whether the next batch of `run` is counted
  for (std::size_t k = taken.size(); k-- > 0;) {
    if (taken[k].loader == 0) counts = steady.in_window[taken[k].batch];
    all[k].counted = counts;
  }
  SetSteps(taken, PausedOf(taken, run, steady), runs.size(), together.epochs.front());
  MeasureStepLoad(model, runs, taken, steady, together);
  return together;
}

}  // namespace penstock::analyzer
