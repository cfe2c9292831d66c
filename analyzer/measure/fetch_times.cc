// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/fetch_times.h"

#include <algorithm>

namespace penstock::analyzer {

FetchTimes::FetchTimes(const LoaderRun& run) {
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || batch.fetch_start == kNever) continue;
    of_worker_[batch.worker_process].emplace_back(batch.fetch_start, batch.fetch_end);
    begun_.push_back(batch.fetch_start);
    ended_.push_back(batch.fetch_end);
  }
  for (auto& [worker, times] : of_worker_) std::sort(times.begin(), times.end());
  std::sort(begun_.begin(), begun_.end());
  std::sort(ended_.begin(), ended_.end());
}

bool FetchTimes::WasFetching(std::int32_t worker_process, std::int64_t from,
                             std::int64_t to) const {
  const auto found = of_worker_.find(worker_process);
  if (found == of_worker_.end()) return false;
  const auto& times = found->second;
  // A worker process fetches one batch after the other, so the ends are in order too.
  auto fetch = std::partition_point(times.begin(), times.end(),
                                    [&](const auto& time) { return time.second <= from; });
  std::int64_t fetching = 0;
  for (; fetch != times.end() && fetch->first < to; ++fetch) {
    fetching += std::min(fetch->second, to) - std::max(fetch->first, from);
  }
  return fetching * 2 > to - from;
}

std::size_t FetchTimes::Fetching(std::int64_t at) const {
  const auto begun = std::upper_bound(begun_.begin(), begun_.end(), at) - begun_.begin();
  const auto ended = std::upper_bound(ended_.begin(), ended_.end(), at) - ended_.begin();
  return static_cast<std::size_t>(begun - ended);
}

}  // namespace penstock::analyzer
