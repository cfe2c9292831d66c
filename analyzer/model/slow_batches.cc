// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_batches.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr double kSlowestShare = 0.05;
constexpr double kLeastTimes = 1.3;
constexpr std::size_t kFewestToPlace = 3;  // two slow batches may be close by chance

using traces::StageId;

constexpr std::array kMakingStages = {StageId::kRead,     StageId::kDecode,  StageId::kAugment,
                                      StageId::kTokenize, StageId::kCollate, StageId::kNone};

// Mean seconds of some batches, in the order of kMakingStages, and CPU seconds.
struct MeanMaking {
  std::array<double, kMakingStages.size()> stages{};
  double cpu = 0;

  explicit MeanMaking(const std::vector<const Batch*>& batches) {
    for (const Batch* batch : batches) {
      const std::array parts = {batch->read.wall, batch->decode.wall, batch->augment.wall,
                                batch->tokenize.wall, batch->collate.wall};
      double named = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        stages[i] += parts[i];
        named += parts[i];
      }
      stages.back() += std::max(0.0, batch->fetch.wall - named);
      cpu += batch->fetch.cpu;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, batches.size()));
    for (double& stage : stages) stage /= count;
    cpu /= count;
  }
  [[nodiscard]] double whole() const { return std::accumulate(stages.begin(), stages.end(), 0.0); }
};

void TellStage(const std::vector<const Batch*>& slow, const std::vector<const Batch*>& others,
               SlowBatches& result) {
  const MeanMaking long_ones(slow);
  const MeanMaking usual(others);
  const double extra = long_ones.whole() - usual.whole();
  double most = 0;
  for (std::size_t i = 0; i < kMakingStages.size(); ++i) {
    const double more = long_ones.stages[i] - usual.stages[i];
    if (more <= most) continue;
    most = more;
    result.stage = kMakingStages[i];
  }
  result.share = extra > 0 ? std::min(1.0, most / extra) : 0;
  const auto known = [](const Batch* batch) { return batch->cpu_known; };
  result.cpu_known = std::all_of(slow.begin(), slow.end(), known) &&
                     std::all_of(others.begin(), others.end(), known);
  result.waits = result.cpu_known && long_ones.cpu - usual.cpu < extra / 2;
}

// Worker numbers by process. Unless workers persist, each epoch has new processes with the same
// numbers. A process whose number is not known counts as a worker of its own.
std::map<std::int32_t, std::int32_t> WorkerNumbers(const LoaderRun& run) {
  std::map<std::int32_t, std::int32_t> numbers;
  for (const WorkerRun& worker : run.workers) {
    const auto process = static_cast<std::int32_t>(worker.process.value);
    numbers[process] = worker.worker_id >= 0 ? worker.worker_id : -2 - process;
  }
  return numbers;
}

void TellWorker(const LoaderRun& run, const std::vector<const Batch*>& slow,
                const std::vector<const Batch*>& others, SlowBatches& result) {
  constexpr double kMostOfThem = 0.8;
  const std::map<std::int32_t, std::int32_t> numbers = WorkerNumbers(run);
  std::set<std::int32_t> workers;
  for (const auto& [process, number] : numbers) workers.insert(number);
  if (workers.size() < 2 || slow.size() < kFewestToPlace) return;
  const auto made = [&numbers](const std::vector<const Batch*>& batches) {
    std::map<std::int32_t, double> shares;
    for (const Batch* batch : batches) {
      const auto found = numbers.find(batch->worker_process);
      shares[found == numbers.end() ? -1 : found->second] +=
          1 / static_cast<double>(batches.size());
    }
    return shares;
  };
  const std::map<std::int32_t, double> of_slow = made(slow);
  const auto most = std::max_element(
      of_slow.begin(), of_slow.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  const double usual = made(others)[most->first];
  result.several_workers = most->second < kMostOfThem;
  if (result.several_workers || usual > kMostOfThem - 0.2) return;
  if (most->first >= 0) result.worker = most->first;
}

void TellWhen(const SteadyState& steady, const std::vector<const Batch*>& slow,
              SlowBatches& result) {
  if (slow.size() < kFewestToPlace || steady.to <= steady.from) return;
  std::int64_t from = slow.front()->fetch_start;
  std::int64_t to = slow.front()->fetch_end;
  for (const Batch* batch : slow) {
    from = std::min(from, batch->fetch_start);
    to = std::max(to, batch->fetch_end);
  }
  const double part = static_cast<double>(to - from) / static_cast<double>(steady.to - steady.from);
  if (part <= 0.25) result.between = {from, to};
  result.spread = part >= 0.5;
}

std::vector<const Batch*> BatchesToCompare(const LoaderRun& run, const SteadyState& steady) {
  std::vector<const Batch*> batches;
  for (std::size_t i = 0; i < run.batches.size() && i < steady.in_window.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || !batch.was_fetched() || batch.fetch_start == kNever) continue;
    if (batch.fetch.wall > 0) batches.push_back(&batch);
  }
  return batches;
}

std::vector<double> SortedTimes(const std::vector<const Batch*>& batches) {
  std::vector<double> times;
  for (const Batch* batch : batches) times.push_back(batch->fetch.wall);
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

bool ComparedBatches::IsEven() const {
  return slowest < kLeastTimes * median;
}

ComparedBatches CompareBatches(const LoaderRun& run, const SteadyState& steady) {
  const std::vector<double> times = SortedTimes(BatchesToCompare(run, steady));
  if (times.empty()) return {};
  return {times.size(), Quantile(times, 0.5), times.back()};
}

std::optional<SlowBatches> FindSlowBatches(const LoaderRun& run, const SteadyState& steady) {
  std::vector<const Batch*> batches = BatchesToCompare(run, steady);
  if (batches.size() < ComparedBatches::kFewest) return std::nullopt;
  const std::vector<double> times = SortedTimes(batches);
  SlowBatches result;
  result.batches = batches.size();
  result.median = Quantile(times, 0.5);
  const auto count =
      static_cast<std::size_t>(std::max(1.0, kSlowestShare * static_cast<double>(times.size())));
  const double slowest =
      std::accumulate(times.end() - static_cast<std::ptrdiff_t>(count), times.end(), 0.0) /
      static_cast<double>(count);
  if (slowest < kLeastTimes * result.median) return std::nullopt;
  const double least = (result.median + slowest) / 2;
  const auto usual =
      std::stable_partition(batches.begin(), batches.end(),
                            [least](const Batch* batch) { return batch->fetch.wall > least; });
  const std::vector<const Batch*> slow(batches.begin(), usual);
  const std::vector<const Batch*> others(usual, batches.end());
  if (slow.empty() || others.empty()) return std::nullopt;
  result.slow = slow.size();
  double sum = 0;
  for (const Batch* batch : slow) sum += batch->fetch.wall;
  result.times = sum / static_cast<double>(slow.size()) / result.median;
  TellStage(slow, others, result);
  TellWorker(run, slow, others, result);
  TellWhen(steady, slow, result);
  return result;
}

}  // namespace penstock::analyzer
