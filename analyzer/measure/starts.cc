// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/starts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

namespace penstock::analyzer {
namespace {

// Mean seconds from the moment when one worker of an epoch was first seen to the same moment of the
// next worker.
std::optional<double> BetweenStarts(const LoaderRun& run, const Epoch& epoch) {
  std::set<std::int32_t> processes;
  for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
    if (run.batches[i].was_fetched()) processes.insert(run.batches[i].worker_process);
  }
  std::vector<std::int64_t> seen;
  for (const WorkerRun& worker : run.workers) {
    const bool here = processes.count(static_cast<std::int32_t>(worker.process.value)) > 0;
    if (here && worker.seen >= epoch.start) seen.push_back(worker.seen);
  }
  if (seen.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(seen.begin(), seen.end());
  return Seconds(TimeNs{*last - *first}) / static_cast<double>(seen.size() - 1);
}

}  // namespace

double Amortised(const LoaderRun& run, const Epoch& epoch, double ended_mean) {
  if (epoch.ended) return 1;
  const auto seen = static_cast<double>(epoch.count);
  const double whole =
      run.config.epoch_batches > 0 || !(ended_mean > 0) ? run.config.whole_epoch() : ended_mean;
  return whole > 0 ? std::min(1.0, seen / whole) : 0;
}

std::vector<double> WorkerStarts(const LoaderRun& run, const Epoch& epoch, double charged) {
  std::vector<double> starts;
  if (run.config.sample_tasks && run.config.num_workers > 0) {
    for (const WorkerRun& worker : run.workers) {
      const bool known = epoch.start != kNever && worker.first != kNever;
      starts.push_back(known ? std::max(0.0, Seconds(TimeNs{worker.first - epoch.start})) * charged
                             : 0);
    }
    return starts;
  }
  const std::size_t slots = std::min<std::size_t>(
      static_cast<std::size_t>(std::max(1, run.config.num_workers)), epoch.count);
  if (epoch.start == kNever || run.batches[epoch.first].key.index != 0) return starts;
  for (std::size_t w = 0; w < slots; ++w) {
    const Batch& batch = run.batches[epoch.first + w];
    const std::int64_t begun = run.config.num_workers == 0 ? batch.wait_start : batch.fetch_start;
    const double delay = begun == kNever ? 0 : Seconds(TimeNs{begun - epoch.start});
    starts.push_back(std::max(0.0, delay) * charged);
    if (run.config.num_workers == 0) break;
  }
  return starts;
}

double OneMoreStart(const LoaderRun& run, const Epoch& epoch, const std::vector<double>& starts,
                    double charged) {
  constexpr double kFork = 0.05;  // seconds to fork a Python process with torch; assumed
  const std::int64_t sent = run.batches[epoch.first].index_sent;
  const bool seen = epoch.start != kNever && sent != kNever && sent >= epoch.start;
  if (!run.config.sample_tasks && run.config.num_workers > 0 && seen) {
    const double most = Seconds(TimeNs{sent - epoch.start}) / run.config.num_workers;
    const double each =
        run.config.num_workers == 1 ? kFork : BetweenStarts(run, epoch).value_or(most);
    return std::min(each, most) * charged;
  }
  if (starts.size() < 2) return kFork * charged;
  return std::max(0.0, starts.back() - starts.front()) / static_cast<double>(starts.size() - 1);
}

}  // namespace penstock::analyzer
