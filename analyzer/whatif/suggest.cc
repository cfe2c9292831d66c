// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/suggest.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// diagnosis.md 3.8: fitted on 27 constant-service runs of torch's DataLoader.
constexpr double kWorkerOverhead = 0.8e-3;
constexpr double kConsumerOverhead = 0.8e-3;
// cedar forbids worker processes near 1e8 B/s; shared-memory tensors move about ten times that.
constexpr double kSecondsPerByte = 1e-9;

std::uint64_t RamOf(int workers, int prefetch, double batch_bytes) {
  // Every credit holds a batch, and each worker builds one more.
  return static_cast<std::uint64_t>(batch_bytes * workers * (prefetch + 1));
}

}  // namespace

double BatchBytes(const LoaderRun& run) {
  std::vector<double> sizes;
  for (const Batch& batch : run.batches) {
    if (batch.bytes > 0) sizes.push_back(static_cast<double>(batch.bytes));
  }
  return Median(std::move(sizes));
}

Prediction Predict(const Pipeline& base, const Pipeline& changed, const Replay& replay,
                   const Interval& measured) {
  const Outcome before = Simulate(base);
  const Outcome after = Simulate(changed);
  Prediction prediction;
  prediction.speedup =
      before.time > 0 && after.time > 0 ? std::clamp(before.time / after.time, 1e-3, 1000.0) : 1;
  const double rate = after.rate() * replay.correction();
  const double below = measured.estimate > 0 ? 1 - measured.low / measured.estimate : 0.5;
  const double above = measured.estimate > 0 ? measured.high / measured.estimate - 1 : 0.5;
  const double doubt = std::abs(replay.error());
  prediction.rate = {rate, rate * std::max(0.0, 1 - std::hypot(below, doubt)),
                     rate * (1 + std::hypot(above, doubt))};
  return prediction;
}

Pipeline WithWorkers(const Pipeline& pipeline, int workers, int prefetch, double batch_bytes) {
  Pipeline changed = pipeline;
  changed.workers = workers;
  changed.prefetch = std::max(1, prefetch);
  const bool first_workers = pipeline.workers == 0 && workers > 0;
  if (first_workers) changed.overhead = kWorkerOverhead;
  for (EpochDemand& epoch : changed.epochs) {
    // The same batches are measured, or configurations would not compare.
    if (first_workers) {
      const auto credits = static_cast<std::size_t>(workers) * static_cast<std::size_t>(prefetch);
      epoch.warm = std::min(credits, epoch.batches.size() / 2);
    }
    for (Demand& demand : epoch.batches) {
      if (first_workers) {
        demand.serial = kConsumerOverhead + batch_bytes * kSecondsPerByte;
      } else if (workers == 0) {
        demand.put = demand.latency = demand.station = demand.serial = 0;
      }
    }
    if (workers == 0) epoch.worker_start.clear();
  }
  if (workers == 0) changed.overhead = 0;
  return changed;
}

Suggestion Suggest(const Pipeline& pipeline, const LoaderRun& run, const Replay& replay,
                   const Interval& measured, double shared_memory) {
  constexpr double kTolerance = 0.02;
  const double batch_bytes = BatchBytes(run);
  struct Candidate {
    int workers;
    int prefetch;
    double time;
    std::uint64_t ram;
  };
  std::vector<Candidate> candidates;
  const auto consider = [&](int workers, int prefetch) {
    const std::uint64_t ram = RamOf(workers, prefetch, batch_bytes);
    const bool recorded = workers == pipeline.workers;
    // diagnosis.md R24: shared memory needs half as much again.
    if (!recorded && shared_memory > 0 && 1.5 * static_cast<double>(ram) > shared_memory) return;
    const double time = Simulate(WithWorkers(pipeline, workers, prefetch, batch_bytes)).time;
    if (time > 0) candidates.push_back({workers, prefetch, time, ram});
  };
  int most = std::clamp(static_cast<int>(std::ceil(2 * pipeline.cores)), 1, 128);
  // First workers help on a crowded machine too; what more than there are would get is not known.
  if (pipeline.crowded) most = pipeline.workers == 0 ? std::max(1, most / 2) : 0;
  consider(pipeline.workers, pipeline.prefetch);
  if (!pipeline.crowded) consider(0, 1);
  for (int workers = 1; workers <= most; ++workers) {
    // A depth of 1 leaves nothing for jitter that the recording did not happen to show.
    const std::size_t before = candidates.size();
    for (const int prefetch : {2, 4, 8}) consider(workers, prefetch);
    if (candidates.size() == before) consider(workers, 1);  // shared memory has no room for more
  }
  Suggestion suggestion;
  suggestion.workers = pipeline.workers;
  suggestion.prefetch = pipeline.prefetch;
  suggestion.persistent_workers = run.config.persistent_workers;
  if (candidates.empty()) return suggestion;
  double best = candidates.front().time;
  for (const Candidate& candidate : candidates) best = std::min(best, candidate.time);
  const Candidate* chosen = nullptr;
  for (const Candidate& candidate : candidates) {  // the recorded one is the first
    if (candidate.time > best * (1 + kTolerance)) continue;
    const bool cheaper =
        chosen == nullptr || candidate.workers < chosen->workers ||
        (candidate.workers == chosen->workers && candidate.prefetch < chosen->prefetch);
    if (cheaper) chosen = &candidate;
  }
  suggestion.workers = chosen->workers;
  suggestion.prefetch = chosen->prefetch;
  if (chosen->workers > 0 && run.epochs.size() > 1) suggestion.persistent_workers = true;
  const Pipeline changed = WithWorkers(pipeline, chosen->workers, chosen->prefetch, batch_bytes);
  suggestion.predicted = Predict(pipeline, changed, replay, measured);
  suggestion.predicted.ram = chosen->ram;
  suggestion.changes = chosen->workers != pipeline.workers ||
                       (chosen->workers > 0 && chosen->prefetch != pipeline.prefetch);
  suggestion.next_bottleneck = Attribute(changed).bottleneck;
  return suggestion;
}

}  // namespace penstock::analyzer
