// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/worker_use.h"

#include <cstdint>
#include <set>

namespace penstock::analyzer {

WorkerUse WorkersUsed(const LoaderRun& run) {
  const auto all = static_cast<std::size_t>(run.config.num_workers);
  WorkerUse use;
  for (const Epoch& epoch : run.epochs) {
    if (!epoch.ended || epoch.count < 2 * all || epoch.start == kNever) continue;
    std::set<std::uint32_t> fetchers;
    bool all_fetched = true;
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      all_fetched = all_fetched && run.batches[i].was_fetched();
      fetchers.insert(run.batches[i].fetch_thread);
    }
    if (!all_fetched) continue;
    if (use.epoch != nullptr && fetchers.size() <= use.workers) continue;
    use = {fetchers.size(), &epoch};
  }
  if (use.epoch == nullptr) use.workers = all;
  return use;
}

int MostUsefulWorkers(const LoaderRun& run) {
  const int workers = run.config.num_workers;
  if (workers < 2 || run.config.sample_tasks || run.config.dataset_kind != "iterable") return 0;
  const WorkerUse use = WorkersUsed(run);
  const auto used = static_cast<int>(use.workers);
  return use.epoch != nullptr && used > 0 && used < workers ? used : 0;
}

}  // namespace penstock::analyzer
