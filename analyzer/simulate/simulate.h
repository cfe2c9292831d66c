// SPDX-License-Identifier: Apache-2.0
//
// The loader as an event simulation over the observed batches (docs/diagnosis.md 3.3, 3.4). Pure.
//
// Worker processes work as in PyTorch's dataloader.py. The training process sends indices to the
// workers in turn: prefetch * workers at the start, then one for each batch that it delivers. Each
// worker has its own queue of indices. While the training process is in next(), it receives results
// in order of arrival, keeps those that are not yet due, and delivers the batches in order. With
// in_order=False it delivers each batch as it arrives, and sends the index to the next worker that
// has fewer than `prefetch` batches in flight. A pin thread receives results as they arrive, in
// parallel with the training process.
//
// Sample threads work as in the reference loader. They take samples one by one, batch after batch.
// A batch can start when a slot is free. The slot of a batch becomes free when the training loop
// asks for the next batch.
//
// Several loaders that the loop uses together have separate workers, credits and results. The
// loop takes their batches in the recorded order. A loader without workers makes its batches in
// next().
//
// A worker may be slower than the others. Its extra time is added to the batches that it makes in
// the simulation (LoaderSetup::slower). If reads take turns (Pipeline::turns), a worker makes a
// batch sample by sample, and each sample waits for its turn to read.
//
// Computing threads share the cores, also with other programs (Pipeline::others). A read needs the
// storage for a part of its waiting (Pipeline::device_per_sample), and the storage serves one read
// after the other. All other waiting is a fixed delay. If there are enough cores for all threads
// and reads share no storage, computing is a fixed delay too (Sequence::ample).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

struct Outcome {
  double time = 0;  // all epochs, start-up included
  double samples = 0;
  double steady_time = 0;  // time of counted batches, as in SteadyState::time
  double steady_samples = 0;
  double steady_wait = 0;
  double step_time = 0;  // time of all steps, including the slowdown by other threads
  double making = 0;     // time of the workers for the counted batches; 0 without worker processes

  [[nodiscard]] double rate() const { return steady_time > 0 ? steady_samples / steady_time : 0; }
};

// Simulates all epochs. Requires: prefetch >= 1, cores > 0, demands >= 0 and finite.
// Cost: O(batches log workers), about 0.2 us for a batch; with `sample_tasks`, for a sample.
[[nodiscard]] Outcome Simulate(const Pipeline& pipeline);

// A run that continues in its steady state. The simulator repeats the steady batches until the
// queues have filled. Then it measures each batch `rounds` times: once if there are many.
struct SteadyRun {
  std::size_t rounds = 1;
  double time = 0;
  double samples = 0;
  double wait = 0;
  std::vector<double> intervals;  // seconds from delivery to delivery
  std::vector<double> amounts;    // samples of each interval

  [[nodiscard]] double rate() const { return time > 0 ? samples / time : 0; }
};

// Requires: as Simulate(); `steady` comes from SteadyPart(), so it has one epoch.
[[nodiscard]] SteadyRun SimulateSteady(const Pipeline& steady);

// One epoch, as all parts of the simulator see it. Batch j has the costs epoch.batches[j % size].
struct Sequence {
  const Pipeline& pipeline;
  const EpochDemand& epoch;
  std::size_t count = 0;

  [[nodiscard]] const Demand& at(std::size_t j) const {
    const std::size_t seen = epoch.batches.size();
    return epoch.batches[j < seen ? j : j % seen];  // a division is as slow as an event
  }
  // The fraction of the waiting of task `i` that comes before its computing. It is a hash of `i`,
  // so it differs from task to task. Real tasks alternate between waiting and computing, sample by
  // sample, each at its own times. If all tasks waited first, equal tasks would run in lockstep:
  // they would all compute at the same time and leave the cores idle at the same time.
  [[nodiscard]] static double lead(std::size_t i) {
    std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
  }
  // Whether there are enough cores even if all actors compute at once. False if reads share
  // storage.
  [[nodiscard]] bool ample() const;
  // The seconds in which the batch's reads occupy the shared storage. They are a part of its
  // waiting.
  [[nodiscard]] double device(const Demand& demand) const {
    return std::min(pipeline.device_per_sample * demand.samples,
                    std::max(0.0, demand.read.wall - demand.read.cpu));
  }
  [[nodiscard]] double device(const SampleCost& cost) const {
    return std::min(pipeline.device_per_sample,
                    std::max(0.0, static_cast<double>(cost.read - cost.read_cpu)));
  }
  // The number of pieces in which a batch is made: 1 or, if reads take turns (Pipeline::turns), one
  // for each sample, at most 64.
  [[nodiscard]] std::size_t pieces(const Demand& demand) const {
    if (!pipeline.turns) return 1;
    return static_cast<std::size_t>(std::clamp(demand.samples + 0.5, 1.0, 64.0));
  }
  // The mean number of threads on which a worker computes a batch, at least 1. The CPU time of a
  // batch includes the worker's other threads, so it can exceed the time that the batch takes.
  [[nodiscard]] double threads(const Demand& demand, const Work& extra) const {
    const double time = demand.service() + extra.wall - device(demand);
    return time > 0 ? std::max(1.0, (demand.cpu() + extra.cpu) / time) : 1;
  }
  // The extra time that `worker` needs for a batch because it is slower than the other workers.
  [[nodiscard]] static Work extra(const LoaderSetup& loader, std::size_t worker,
                                  const Demand& demand) {
    if (worker >= loader.slower.size()) return {};
    const Work& each = loader.slower[worker];
    return {each.wall * demand.samples, each.cpu * demand.samples};
  }
  // The extra time for the first batch that `worker` makes, warm-up included.
  [[nodiscard]] Work first(const LoaderSetup& loader, std::size_t worker,
                           const Demand& demand) const {
    const Work more = extra(loader, worker, demand);
    return {more.wall + epoch.warm_up.service(), more.cpu + epoch.warm_up.cpu()};
  }
  // When `worker` can take its first index. All workers are started before any index is sent, so
  // each worker beyond the recorded number delays this moment by EpochDemand::one_more.
  [[nodiscard]] double start(std::size_t worker) const;
};

// The result of one simulated epoch. The vectors are in order of delivery. Clear() keeps their
// memory for the next epoch.
struct Timeline {
  std::vector<std::size_t> batch;
  std::vector<double> entered;    // when the loop called next()
  std::vector<double> delivered;  // when next() returned
  double end = 0;                 // end of the last step
  double step_time = 0;
  double making = 0;  // time of workers for the counted batches, without LoaderSetup::overhead

  void Clear(std::size_t count);
  void Deliver(std::size_t j, double in, double out) {
    batch.push_back(j);
    entered.push_back(in);
    delivered.push_back(out);
  }
};

// Each function simulates one epoch. Requires: `timeline` is cleared.
void RunSerial(const Sequence& sequence, Timeline& timeline);   // without workers
void RunWorkers(const Sequence& sequence, Timeline& timeline);  // with worker processes
void RunThreads(const Sequence& sequence, Timeline& timeline);  // with threads that share batches

}  // namespace penstock::analyzer
