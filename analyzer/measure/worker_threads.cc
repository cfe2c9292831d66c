// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/worker_threads.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/measure/contention.h"

namespace penstock::analyzer {
namespace {

// A part of a batch that computes. Reads are left out, because they wait for storage.
struct Part {
  Work Batch::*seen;
  Work Demand::*demand;
};
constexpr std::array kComputed = {
    Part{&Batch::decode, &Demand::decode}, Part{&Batch::augment, &Demand::augment},
    Part{&Batch::tokenize, &Demand::tokenize}, Part{&Batch::collate, &Demand::collate}};

// By part of a batch: CPU seconds to add for each second of wall time.
using Added = std::array<double, kComputed.size()>;

// Distributes `seconds` of CPU time for each steady batch over the parts, in proportion to the
// waiting in them. If threads of the dataset were seen, waiting in collating does not count: these
// threads make samples, so collating does not wait for them.
Added Distribute(const LoaderRun& run, const SteadyState& steady, double seconds,
                 const Pipeline& pipeline) {
  Added added = {};
  std::array<double, kComputed.size()> waited = {};
  double all = 0;
  double count = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    count += 1;
    for (std::size_t p = 0; p < kComputed.size(); ++p) {
      const Work& work = run.batches[i].*kComputed[p].seen;
      const bool samples = kComputed[p].demand != &Demand::collate || run.stage_threads == 0;
      const double waiting = samples ? std::max(0.0, work.wall - work.cpu) : 0;
      waited[p] += waiting;
      all += waiting;
    }
  }
  for (std::size_t p = 0; p < kComputed.size() && all > 0; ++p) {
    double wall = 0;
    for (const EpochDemand& epoch : pipeline.epochs) {
      for (const Demand& demand : epoch.batches) {
        if (demand.counted) wall += (demand.*kComputed[p].demand).wall;
      }
    }
    if (wall > 0) added[p] = count * seconds * waited[p] / all / wall;
  }
  return added;
}

void Add(const Added& added, double scale, Pipeline& pipeline) {
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      for (std::size_t p = 0; p < kComputed.size(); ++p) {
        Work& work = demand.*kComputed[p].demand;
        work.cpu += scale * added[p] * work.wall;
      }
    }
  }
}

// The share of the batches' time that is waiting of a worker beyond `seconds`, the CPU time that
// other threads use for a batch. Requires: the parts hold only the CPU time of the fetching thread.
double UnexplainedWaiting(double seconds, const Pipeline& pipeline) {
  double waiting = 0;
  double service = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      double waits = 0;
      for (const Part& part : kComputed) {
        const Work& work = demand.*part.demand;
        waits += std::max(0.0, work.wall - work.cpu);
      }
      waiting += std::max(0.0, waits - seconds);
      service += demand.service();
    }
  }
  return service > 0 ? waiting / service : 0;
}

// Removes up to `most` seconds of the waiting in `work`, and the CPU time of other threads in this
// waiting. `own`: CPU seconds of the thread itself, which stay. Returns the removed time.
Work TakeWait(Work& work, double own, double most) {
  const double waiting = std::max(0.0, work.wall - own);
  const double taken = std::min(waiting, most);
  if (!(taken > 0)) return {};
  const double others = std::max(0.0, work.cpu - own) * taken / waiting;
  work.wall -= taken;
  work.cpu -= others;
  return {taken, others};
}

// Seconds for each batch in which each thread of the dataset in a worker is busy. All of them count
// if the threads are busy for 90 % of the fetches' time or more. None count up to 70 %, because
// such threads do not hold the worker back. In proportion between. Source: ours; two threads that
// decoded for one worker were busy 96 % of the time. If collating took less time, the worker would
// wait for them instead.
double BusyThreads(const RecordedRun& recorded, double each) {
  constexpr double kNoneBelow = 0.7;  // of the fetch's time
  constexpr double kAllAbove = 0.9;   // likewise
  const LoaderRun& run = recorded.run;
  if (run.config.num_workers <= 0 || run.stage_threads == 0) return 0;
  double fetch = 0;
  double count = 0;
  std::set<std::uint32_t> workers;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    fetch += batch.fetch.wall;
    count += 1;
    workers.insert(static_cast<std::uint32_t>(batch.worker_process));
  }
  if (!(fetch > 0)) return 0;
  const double threads =
      static_cast<double>(run.stage_threads) / static_cast<double>(workers.size());
  const double busy = each / threads;
  const double share = busy * count / fetch;
  return busy * std::clamp((share - kNoneBelow) / (kAllAbove - kNoneBelow), 0.0, 1.0);
}

}  // namespace

void AddWorkerThreads(const LoaderRun& run, const SteadyState& steady, double seconds,
                      std::span<const double> making, Pipeline& pipeline) {
  constexpr double kMostLost = 3;
  constexpr double kNear = 0.99;
  pipeline.threads_doubt = UnexplainedWaiting(seconds, pipeline);
  const Added added = Distribute(run, steady, seconds, pipeline);
  const MakingReplay replay(pipeline, making);
  const auto is_slow = [&](double scale) {
    const double making_time = replay.Simulated([&](Pipeline& part) { Add(added, scale, part); });
    return making_time >= kNear * replay.recorded();
  };
  double low = 1;
  double high = 1 + kMostLost;
  if (is_slow(low)) high = low;
  for (int step = 0; step < 6 && low < high; ++step) {
    const double middle = 0.5 * (low + high);
    (is_slow(middle) ? high : low) = middle;
  }
  Add(added, high, pipeline);
}

void AddThreadsBeside(double seconds, Pipeline& pipeline) {
  constexpr std::array kParts = {&Demand::decode, &Demand::augment, &Demand::tokenize,
                                 &Demand::collate, &Demand::other};
  if (!(seconds > 0)) return;
  double waiting = 0;
  double count = 0;
  const auto waits = [](const Work& work) { return std::max(0.0, work.wall - work.cpu); };
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      count += 1;
      for (const auto part : kParts) waiting += waits(demand.*part);
    }
  }
  // CPU seconds for each second of waiting.
  const double share = waiting > 0 ? count * seconds / waiting : 0;
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      for (const auto part : kParts) (demand.*part).cpu += share * waits(demand.*part);
      if (!(waiting > 0)) demand.other.cpu += seconds;
    }
  }
}

void ShareWaitForThreads(const RecordedRun& recorded, Pipeline& pipeline) {
  const LoaderRun& run = recorded.run;
  const ThreadStages& stages = run.threads_stages;
  const double all = stages.sum();
  if (!(all > 0) || run.batches.empty()) return;
  constexpr double kMostHidden = 0.95;
  const double each = all / static_cast<double>(run.batches.size());
  const double busy = BusyThreads(recorded, each);
  pipeline.worker_threads = pipeline.workers > 0;
  const std::vector<Demand*> demands = BatchesOf(pipeline);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Batch& batch = run.batches[recorded.sources[i]];
    Demand& demand = *demands[i];
    const double parts = batch.read.cpu + batch.decode.cpu + batch.augment.cpu +
                         batch.tokenize.cpu + batch.collate.cpu;
    // The time of a sample that no span names counts as augmenting.
    const Work augment = TakeWait(demand.augment, batch.augment.cpu, each);
    const Work other =
        TakeWait(demand.other, std::max(0.0, batch.fetch.cpu - parts), each - augment.wall);
    // Busy threads go on while the worker collates. If it did not collate, it would wait for them
    // in this time.
    const double hidden =
        std::clamp(busy - augment.wall - other.wall, 0.0, kMostHidden * demand.collate.wall);
    demand.collate.wall -= hidden;
    for (const auto& [part, seconds] :
         {std::pair{&Demand::read, stages.read}, std::pair{&Demand::decode, stages.decode},
          std::pair{&Demand::augment, stages.augment},
          std::pair{&Demand::tokenize, stages.tokenize}}) {
      (demand.*part).wall += (augment.wall + other.wall + hidden) * seconds / all;
      (demand.*part).cpu += (augment.cpu + other.cpu) * seconds / all;
    }
  }
}

}  // namespace penstock::analyzer
