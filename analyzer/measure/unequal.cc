// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/unequal.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/measure/made.h"
#include "analyzer/model/slow_workers.h"

namespace penstock::analyzer {
namespace {

// The number of each worker process. A worker that replaces another in a later epoch has the same
// number.
std::map<std::uint32_t, int> NumbersOf(const LoaderRun& run) {
  std::map<std::uint32_t, int> numbers;  // by process
  for (const WorkerRun& worker : run.workers) numbers[worker.process.value] = worker.worker_id;
  return numbers;
}

void ShareDevice(const ReadCosts& reads, double each, Pipeline& pipeline) {
  const double queued = each * (reads.concurrency - 1);
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      const double least = std::min(demand.read.wall, demand.read.cpu + each * demand.samples);
      demand.read.wall = std::max(least, demand.read.wall - queued * demand.samples);
    }
    for (SampleCost& cost : epoch.samples) {
      const float least = std::min(cost.read, cost.read_cpu + static_cast<float>(each));
      cost.read = std::max(least, cost.read - static_cast<float>(queued));
    }
  }
}

// An upper bound of the CPU seconds of reads: the CPU time of fetches outside of their other parts.
// Infinite if the CPU time was not measured.
double ComputingOfReads(const LoaderRun& run) {
  double most = 0;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched()) continue;
    if (!batch.cpu_known) return std::numeric_limits<double>::infinity();
    most += std::max(0.0, batch.fetch.cpu - batch.decode.cpu - batch.augment.cpu -
                              batch.tokenize.cpu - batch.collate.cpu);
  }
  return most;
}

}  // namespace

void ShareStorage(const RunModel& model, const LoaderRun& run, Pipeline& pipeline) {
  const ReadCosts& reads = model.reads;
  const double samples = model.samples();
  const bool turns = reads.turns.taken() && pipeline.workers > 1 && !pipeline.sample_tasks;
  if (!(reads.shared || turns) || !(samples > 0)) return;
  const StageTotals& read = model.stages[traces::StageId::kRead];
  // Reads that mostly compute compete for the cores, not for storage. Reads that take turns wait
  // for each other, so their computing does not matter.
  const double computing = read.cpu_known() ? Seconds(read.cpu) : ComputingOfReads(run);
  const bool computes = computing > 0.5 * Seconds(read.wall);
  if (!turns && computes) return;
  if (!turns) {
    const double each = static_cast<double>(read.bytes.value) / samples * reads.device_per_byte;
    pipeline.device_per_sample = each;
    pipeline.turns = reads.in_order && pipeline.workers > 1 && !pipeline.sample_tasks;
    ShareDevice(reads, each, pipeline);
    return;
  }
  pipeline.turns = true;
  pipeline.device_per_sample = Seconds(read.wall - read.queued) / samples;
  for (Demand* demand : BatchesOf(pipeline)) {
    Work& reading = demand->read;
    reading.wall = std::max(reading.cpu, reading.wall - run.batches[demand->source].queued);
  }
}

void SetSlowWorkersApart(const LoaderRun& run, const SteadyState& steady, Pipeline& pipeline) {
  if (pipeline.sample_tasks) return;
  const std::map<std::uint32_t, int> numbers = NumbersOf(run);
  const std::vector<Demand*> batches = BatchesOf(pipeline);
  std::vector<int> worker_of(batches.size(), -1);
  std::map<int, Made> workers;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Batch& source = run.batches[batches[i]->source];
    const auto found = numbers.find(static_cast<std::uint32_t>(source.worker_process));
    if (source.was_fetched() && found != numbers.end()) worker_of[i] = found->second;
    const int worker = worker_of[i];
    const bool counts = run.batches[i].was_fetched() && steady.in_window[i];
    if (worker >= 0 && counts && batches[i]->samples > 0) {
      workers[worker].Add(*batches[i]);
    }
  }
  std::vector<WorkerTimes> times;
  for (const auto& [worker, made] : workers) times.push_back({made.services, made.mean()});
  Made healthy;
  std::map<int, Made> slow;
  const std::vector<SlowWorker> found = FindSlowWorkers(times);
  auto next = found.begin();
  std::size_t index = 0;
  for (const auto& [worker, made] : workers) {
    if (next != found.end() && next->index == index) {
      slow.emplace(worker, made);
      ++next;
    } else {
      healthy.Add(made);
    }
    ++index;
  }
  if (slow.empty()) return;
  std::map<int, std::vector<Demand*>> theirs;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (slow.count(worker_of[i]) > 0) theirs[worker_of[i]].push_back(batches[i]);
  }
  for (const auto& [worker, made] : slow) {
    const Demand parts = TakeOffBeyond(made, healthy, theirs[worker]);
    Work beyond = {parts.service() / made.samples, parts.cpu() / made.samples};
    beyond.cpu = std::min(beyond.cpu, beyond.wall);
    pipeline.slower.push_back(beyond);
  }
  // Slow workers get the first worker numbers, not their recorded ones: a loader with another
  // number of workers is assumed to have as many slow workers.
  std::sort(pipeline.slower.begin(), pipeline.slower.end(),
            [](const Work& a, const Work& b) { return a.wall > b.wall; });
}

}  // namespace penstock::analyzer
