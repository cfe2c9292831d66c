// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_workers.h"

#include <cstdint>
#include <map>
#include <utility>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

std::vector<SlowWorker> FindSlowWorkers(std::span<const WorkerTimes> workers) {
  constexpr double kSlow = 1.5;
  constexpr std::size_t kFewestWorkers = 3;
  constexpr std::size_t kFewestBatches = 8;
  std::vector<std::size_t> compared;
  std::vector<double> means;
  std::vector<double> medians;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].batches.size() < kFewestBatches) continue;
    compared.push_back(i);
    means.push_back(workers[i].mean);
    medians.push_back(Median(workers[i].batches));
  }
  if (compared.size() < kFewestWorkers) return {};
  const double usual_mean = Median(means);
  const double usual_median = Median(medians);
  std::vector<SlowWorker> slow;
  if (usual_mean <= 0 || usual_median <= 0) return slow;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (means[i] < kSlow * usual_mean || medians[i] < kSlow * usual_median) continue;
    slow.push_back({compared[i], means[i] / usual_mean});
  }
  return slow;
}

std::vector<WorkerTimes> TimesOfWorkers(const LoaderRun& run) {
  std::map<std::uint32_t, std::vector<double>> fetches;  // by process
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || batch.worker_process < 0) continue;
    fetches[static_cast<std::uint32_t>(batch.worker_process)].push_back(batch.fetch.wall);
  }
  std::vector<WorkerTimes> workers(run.workers.size());
  std::vector<double> batches(run.workers.size());
  std::map<std::int32_t, std::size_t> first;  // the first process of each number
  for (std::size_t i = 0; i < run.workers.size(); ++i) {
    const WorkerRun& worker = run.workers[i];
    const std::size_t at =
        worker.worker_id < 0 ? i : first.try_emplace(worker.worker_id, i).first->second;
    const std::vector<double> more = std::exchange(fetches[worker.process.value], {});
    workers[at].batches.insert(workers[at].batches.end(), more.begin(), more.end());
    workers[at].mean += worker.busy;  // a sum until all are added
    batches[at] += static_cast<double>(worker.batches);
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i].mean = batches[i] > 0 ? workers[i].mean / batches[i] : 0;
  }
  return workers;
}

}  // namespace penstock::analyzer
