// SPDX-License-Identifier: Apache-2.0
//
// The loader as an event simulation over the observed batches (docs/diagnosis.md 3.3, 3.4). Pure.
//
// Worker processes, as PyTorch's dataloader.py has them: prefetch * workers indices are sent at the
// start, then one for each batch handed out, to the workers in turn; a worker serves its own queue;
// the consumer takes results in order of arrival while it is in next(), keeps those that are not
// yet due, and hands out in order. With in_order=False it hands out what comes, and an index goes
// to the next worker that has credit. A pin thread takes results as they come, beside the consumer.
//
// Sample threads, as the reference loader has them: threads take the samples of the next batches
// one by one; a batch may begin when there is a free slot, and its slot is free when the consumer
// comes back for more.
//
// Loaders that the loop drains together each have their own workers, credits and results; the loop
// takes their batches in the recorded order. One without workers makes its batches in next().
//
// A worker may be slower than the others: what it takes longer stays with it, not with the batches.
// Where readers take turns, samples are made one by one: each waits for its turn to read.
//
// What a span spent computing shares the cores, with other programs too if there are any; of the
// waiting for reads, what the bytes take at full speed is served by the storage one after the
// other; the rest of the waiting shares nothing. Of a pipeline with cores for all of its threads,
// and no such storage, every cost just takes its time.
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
  double steady_time = 0;  // as SteadyState::time
  double steady_samples = 0;
  double steady_wait = 0;
  double step_time = 0;  // of all steps, slowed down by what else computes
  double making = 0;     // likewise of workers at the steady batches; not of sample threads

  [[nodiscard]] double rate() const { return steady_time > 0 ? steady_samples / steady_time : 0; }
};

// The epochs as they were recorded. Requires: prefetch >= 1, cores > 0, demands >= 0 and finite.
// Cost: O(batches log workers), some 0.2 us a batch; where `sample_tasks`, as much a sample.
[[nodiscard]] Outcome Simulate(const Pipeline& pipeline);

// A run that goes on: the steady batches again and again until the queues have filled, then each of
// them `rounds` times, once if there are many.
struct SteadyRun {
  std::size_t rounds = 1;
  double time = 0;
  double samples = 0;
  double wait = 0;
  std::vector<double> intervals;  // seconds from delivery to delivery
  std::vector<double> amounts;    // samples of each

  [[nodiscard]] double rate() const { return time > 0 ? samples / time : 0; }
};

// Requires: as Simulate, and one epoch: `steady` comes from SteadyPart().
[[nodiscard]] SteadyRun SimulateSteady(const Pipeline& steady);

// What the parts of the simulator share: one epoch, of which batch j is demands[j % size].
struct Sequence {
  const Pipeline& pipeline;
  const EpochDemand& epoch;
  std::size_t count = 0;

  [[nodiscard]] const Demand& at(std::size_t j) const {
    const std::size_t seen = epoch.batches.size();
    return epoch.batches[j < seen ? j : j % seen];  // a division costs as much as an event
  }
  // The part of its waiting that task `i` does before it computes. Real ones wait and compute by
  // turns, sample by sample, and out of step with each other; in one piece, equal tasks would fall
  // into step and compete for cores that stand idle the rest of the time.
  [[nodiscard]] static double lead(std::size_t i) {
    std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
  }
  // Whether no setting of the actors could ask for more cores than there are.
  [[nodiscard]] bool ample() const;
  // Of the waiting for a read, what it needs of the device that all reads share.
  [[nodiscard]] double device(const Demand& demand) const {
    return std::min(pipeline.device_per_sample * demand.samples,
                    std::max(0.0, demand.read.wall - demand.read.cpu));
  }
  [[nodiscard]] double device(const SampleCost& cost) const {
    return std::min(pipeline.device_per_sample,
                    std::max(0.0, static_cast<double>(cost.read - cost.read_cpu)));
  }
  // In how many pieces a batch is made where its samples' reads take turns; at most 64.
  [[nodiscard]] std::size_t pieces(const Demand& demand) const {
    if (!pipeline.turns) return 1;
    return static_cast<std::size_t>(std::clamp(demand.samples + 0.5, 1.0, 64.0));
  }
  // With how many threads at once a worker computes: what its other threads do is CPU time of the
  // batch too, which may then exceed the time that the batch takes.
  [[nodiscard]] double threads(const Demand& demand, const Work& extra) const {
    const double time = demand.service() + extra.wall - device(demand);
    return time > 0 ? std::max(1.0, (demand.cpu() + extra.cpu) / time) : 1;
  }
  // What the loader's `worker` takes for a batch beyond what any other would.
  [[nodiscard]] static Work extra(const LoaderSetup& loader, std::size_t worker,
                                  const Demand& demand) {
    if (worker >= loader.slower.size()) return {};
    const Work& each = loader.slower[worker];
    return {each.wall * demand.samples, each.cpu * demand.samples};
  }
  // Likewise for the first batch that it makes.
  [[nodiscard]] Work first(const LoaderSetup& loader, std::size_t worker,
                           const Demand& demand) const {
    const Work more = extra(loader, worker, demand);
    return {more.wall + epoch.warm_up.service(), more.cpu + epoch.warm_up.cpu()};
  }
  // When `worker` can take its first index: not before all of them have been started.
  [[nodiscard]] double start(std::size_t worker) const;
};

// By the order of delivery. Storage is reused from run to run.
struct Timeline {
  std::vector<std::size_t> batch;
  std::vector<double> entered;    // next()
  std::vector<double> delivered;  // and left it
  double end = 0;                 // of the last step
  double step_time = 0;
  double making = 0;  // from their overhead on, of the batches that are counted

  void Clear(std::size_t count);
  void Deliver(std::size_t j, double in, double out) {
    batch.push_back(j);
    entered.push_back(in);
    delivered.push_back(out);
  }
};

void RunSerial(const Sequence& sequence, Timeline& timeline);
void RunWorkers(const Sequence& sequence, Timeline& timeline);
void RunThreads(const Sequence& sequence, Timeline& timeline);

}  // namespace penstock::analyzer
