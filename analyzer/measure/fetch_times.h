// SPDX-License-Identifier: Apache-2.0
//
// When the workers of a loader fetched batches. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

class FetchTimes {
 public:
  explicit FetchTimes(const LoaderRun& run);

  // Whether the worker process was fetching for more than half of the interval. Times are as in
  // Batch.
  [[nodiscard]] bool WasFetching(std::int32_t worker_process, std::int64_t from,
                                 std::int64_t to) const;
  // The number of workers that were fetching at `at`.
  [[nodiscard]] std::size_t Fetching(std::int64_t at) const;

 private:
  // By worker process: begin and end of each fetch, in order.
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> of_worker_;
  std::vector<std::int64_t> begun_;  // of all workers, sorted
  std::vector<std::int64_t> ended_;
};

}  // namespace penstock::analyzer
