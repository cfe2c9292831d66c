// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/copied_memory.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace penstock::analyzer {
namespace {

const CounterSeries* SeriesOf(const RunModel& model, ProcessId process, std::string_view name) {
  for (const CounterSeries& series : model.counters) {
    if (series.process == process && series.name == name && !series.at.empty()) return &series;
  }
  return nullptr;
}

// The last walk of a process's page tables before the process ended.
struct LastWalk {
  double at = 0;  // seconds
  double anonymous = 0;
};

std::optional<LastWalk> FindLastWalk(const CounterSeries& anonymous) {
  for (std::size_t i = anonymous.at.size(); i-- > 0;) {
    if (anonymous.value[i] > 0) return LastWalk{anonymous.at[i], anonymous.value[i]};
  }
  return std::nullopt;
}

std::optional<double> ExactlyAt(const CounterSeries* series, double at) {
  if (series == nullptr) return std::nullopt;
  const auto found = std::lower_bound(series->at.begin(), series->at.end(), at);
  if (found == series->at.end() || *found != at) return std::nullopt;
  return series->value[static_cast<std::size_t>(found - series->at.begin())];
}

// The sample nearest to `at`. Requires: there are samples.
double NearestTo(const CounterSeries& series, double at) {
  const auto after = std::lower_bound(series.at.begin(), series.at.end(), at);
  auto i = static_cast<std::size_t>(after - series.at.begin());
  if (i == series.at.size() || (i > 0 && at - series.at[i - 1] < series.at[i] - at)) --i;
  return series.value[i];
}

std::optional<CopiedMemory> MeasureOne(const RunModel& model, const LoaderRun& run,
                                       ProcessId worker, double page_bytes) {
  const CounterSeries* anonymous = SeriesOf(model, worker, "anonymous_bytes");
  const CounterSeries* counted = SeriesOf(model, worker, "rss_anon_bytes");
  const CounterSeries* faults = SeriesOf(model, worker, "minor_faults");
  if (anonymous == nullptr || counted == nullptr || faults == nullptr) return std::nullopt;
  const std::optional<LastWalk> walk = FindLastWalk(*anonymous);
  if (!walk) return std::nullopt;
  const auto dirty = ExactlyAt(SeriesOf(model, worker, "private_dirty_bytes"), walk->at);
  if (!dirty) return std::nullopt;
  CopiedMemory one;
  one.seen = std::max(0.0, walk->at - counted->at.front());
  one.faults = faults->LastUntil(walk->at).value_or(0);
  // The worker may have allocated memory before its first sample. So the training process's memory
  // at the time of that sample is an upper bound.
  one.parent = counted->value.front();
  if (const auto* forked = SeriesOf(model, run.config.consumer, "rss_anon_bytes")) {
    one.parent = std::min(one.parent, NearestTo(*forked, counted->at.front()));
  }
  one.private_bytes = std::min(*dirty, walk->anonymous);
  const double workers = std::max(1, run.config.num_workers);
  if (const auto part = ExactlyAt(SeriesOf(model, worker, "pss_anon_bytes"), walk->at)) {
    // Pss_Anon is private + shared / (workers + 1), and walk->anonymous is private + shared.
    const double by_share = (*part * (workers + 1) - walk->anonymous) / workers;
    one.private_bytes = std::clamp(by_share, 0.0, one.private_bytes);
  }
  one.fresh = std::max(0.0, walk->anonymous - one.parent);
  const double most = std::min({one.parent, one.private_bytes, one.faults * page_bytes});
  one.copied = std::clamp(one.private_bytes - one.fresh, 0.0, most);
  return one;
}

}  // namespace

std::optional<CopiedMemory> MeasureCopiedMemory(const RunModel& model, const LoaderRun& run,
                                                double page_bytes) {
  if (run.config.sample_tasks || run.config.start_method != "fork") return std::nullopt;
  std::vector<CopiedMemory> seen;
  for (const WorkerRun& worker : run.workers) {
    const std::uint32_t process = worker.process.value;
    if (process >= model.roles.size() || model.roles[process] != wire::kRoleWorker) continue;
    if (const auto one = MeasureOne(model, run, worker.process, page_bytes)) seen.push_back(*one);
  }
  if (seen.empty()) return std::nullopt;
  // Takes all values from one worker, because medians of single fields would not add up.
  std::sort(seen.begin(), seen.end(),
            [](const CopiedMemory& a, const CopiedMemory& b) { return a.copied < b.copied; });
  CopiedMemory median = seen[(seen.size() - 1) / 2];
  median.workers = seen.size();
  return median;
}

}  // namespace penstock::analyzer
