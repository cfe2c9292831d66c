// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/shared_memory_use.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/model/loader_memory.h"

namespace penstock::analyzer {
namespace {

constexpr double kTellable = 1e6;     // bytes; a smaller use cannot be told from the use by other
                                      // programs
constexpr double kNegligible = 0.05;  // share of the bytes that batches in flight would take

// The greatest number of batches that were made and not yet given back. The loop holds a batch
// until it has the next batch. A pin thread holds a batch until it has copied it.
int MostBatches(const LoaderRun& run) {
  std::vector<std::pair<std::int64_t, int>> changes;
  std::map<std::uint32_t, std::vector<std::int64_t>> delivered;  // by thread of the loop
  for (const Batch& batch : run.batches) {
    if (batch.delivered != kNever) delivered[batch.wait_thread].push_back(batch.delivered);
  }
  for (auto& [thread, times] : delivered) std::sort(times.begin(), times.end());
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || batch.delivered == kNever) continue;
    const auto& times = delivered[batch.wait_thread];
    const auto next = std::upper_bound(times.begin(), times.end(), batch.delivered);
    std::int64_t end = next != times.end() ? *next : std::max(batch.delivered, batch.step_end);
    if (batch.pin.wall > 0 && batch.got != kNever) {
      end = batch.got + static_cast<std::int64_t>(batch.pin.wall * 1e9);
    }
    changes.emplace_back(batch.fetch_end, 1);
    changes.emplace_back(end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0;
  int most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

}  // namespace

SharedMemoryUse MeasureSharedMemory(const RunModel& model, const LoaderRun& run) {
  SharedMemoryUse use;
  use.size = static_cast<double>(model.host.shm_size.value);
  use.most_batches = MostBatches(run);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = kNever;
  for (const Batch& batch : run.batches) {
    if (batch.fetch_start != kNever) first = std::min(first, batch.fetch_start);
    last = std::max({last, batch.delivered, batch.step_end});
  }
  for (const CounterSeries& series : model.counters) {
    if (series.name != "shm_used_bytes" || series.value.empty() || last == kNever) continue;
    if (!model.OnOurHost(series.process)) continue;
    const double begin = static_cast<double>(first - model.begin.value) * 1e-9;
    const double end = static_cast<double>(last - model.begin.value) * 1e-9;
    std::size_t inside = 0;
    use.before = series.LastUntil(begin).value_or(series.value.front());
    for (std::size_t i = 0; i < series.at.size(); ++i) {
      const bool runs = series.at[i] >= begin && series.at[i] <= end;
      if (runs) ++inside;
      if (runs) use.most = std::max(use.most, series.value[i]);
      if (series.at[i] > end) use.before = std::min(use.before, series.value[i]);
    }
    // This many samples are likely to include the greatest use.
    constexpr std::size_t kEnough = 10;
    use.measured = inside >= kEnough;
    // Without workers no batch passes through /dev/shm, so nothing is known of batches from
    // workers.
    const bool passes = run.config.num_workers > 0;
    const double expected = BatchBytes(run) * use.most_batches;
    use.unused = passes && use.measured && expected > kTellable &&
                 use.most - use.before < kNegligible * expected;
  }
  return use;
}

}  // namespace penstock::analyzer
