// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loader_memory.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

Budget BudgetOf(const Host& host) {
  Budget budget;
  budget.ram = kMemoryShare * static_cast<double>(host.memory().value);
  budget.shared_memory = static_cast<double>(host.shm_size.value);
  budget.cores = host.usable_cores();
  return budget;
}

double FilledBatchBytes(const RunModel& model, const LoaderRun& run) {
  const double bytes = BatchBytes(run);
  const StageTotals& augment = model.stages[traces::StageId::kAugment];
  const StageTotals& samples = model.stages[traces::StageId::kSample];
  if (bytes > 0 || !run.config.sample_tasks || samples.count == 0) return bytes;
  return static_cast<double>(augment.bytes.value) / static_cast<double>(samples.count) *
         static_cast<double>(run.samples_per_batch);
}

double BatchBytes(const LoaderRun& run) {
  std::vector<double> sizes;
  for (const Batch& batch : run.batches) {
    if (batch.bytes > 0) sizes.push_back(static_cast<double>(batch.bytes));
  }
  return Median(std::move(sizes));
}

WorkersRead ReadWorkers(const RunModel& model, ProcessId consumer) {
  WorkersRead read;
  std::vector<double> most;
  for (const CounterSeries& series : model.counters) {
    const std::size_t process = series.process.value;
    if (series.name != "uss_bytes" || series.value.empty()) continue;
    if (process >= model.roles.size() || model.roles[process] != wire::kRoleWorker) continue;
    if (model.consumer_of[process] != consumer) continue;
    most.push_back(*std::max_element(series.value.begin(), series.value.end()));
    read.readings += series.value.size();
  }
  read.workers = most.size();
  read.bytes = Median(std::move(most));
  return read;
}

}  // namespace penstock::analyzer
