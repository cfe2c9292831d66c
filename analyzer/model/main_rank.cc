// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/main_rank.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/model/steady.h"

namespace penstock::analyzer {

void PutSlowestRankFirst(RunModel& model) {
  constexpr double kEqual = 0.02;
  if (model.ranks.places.size() < 2 || model.loaders.empty()) return;
  struct Candidate {
    std::size_t loader;
    std::int32_t rank;
    double share;  // of waiting in the time of its loop
  };
  std::vector<Candidate> candidates;
  std::size_t most = 0;
  for (const LoaderRun& run : model.loaders) most = std::max(most, run.batches.size());
  std::set<std::uint32_t> seen;
  double largest = 0;
  for (std::size_t i = 0; i < model.loaders.size(); ++i) {
    const LoaderRun& run = model.loaders[i];
    const RankPlace* place = model.ranks.Find(run.config.consumer);
    if (!seen.insert(run.config.consumer.value).second) continue;  // only the first of a process
    if (place == nullptr || 2 * run.batches.size() < most) continue;
    candidates.push_back({i, place->rank, MeasureLoop(run).wait_fraction()});
    largest = std::max(largest, candidates.back().share);
  }
  const Candidate* chosen = nullptr;
  for (const Candidate& one : candidates) {
    if (one.share < largest - kEqual) continue;
    if (chosen == nullptr || one.rank < chosen->rank) chosen = &one;
  }
  if (chosen == nullptr) return;
  const auto first = model.loaders.begin() + static_cast<std::ptrdiff_t>(chosen->loader);
  std::rotate(model.loaders.begin(), first, first + 1);
}

bool RunModel::IsOurs(ProcessId process) const {
  if (!has_loader() || process.value >= consumer_of.size()) return true;
  if (consumer_of[process.value] != loader().config.consumer) return false;
  if (roles[process.value] != wire::kRoleWorker) return true;
  const auto works_for = [process](const LoaderRun& run) {
    return std::any_of(run.workers.begin(), run.workers.end(),
                       [process](const WorkerRun& worker) { return worker.process == process; });
  };
  return works_for(loader()) || std::none_of(loaders.begin() + 1, loaders.end(), works_for);
}

std::size_t RunModel::our_host() const {
  const RankPlace* place = has_loader() ? ranks.Find(loader().config.consumer) : nullptr;
  return place != nullptr ? place->host : 0;
}

bool RunModel::OnOurHost(ProcessId process) const {
  return process.value >= ranks.host_of.size() || ranks.host_of[process.value] == our_host();
}

const Host& RunModel::machine() const {
  return ranks.places.empty() ? host : ranks.hosts[our_host()].machine;
}

double RunModel::host_cores() const {
  const RankHost* at = ranks.hosts.empty() ? nullptr : &ranks.hosts[our_host()];
  return at != nullptr && at->recorded > 1 ? at->cores : host.usable_cores();
}

std::optional<double> RunModel::CpuRate(std::optional<wire::ProcessRole> role, std::int64_t from,
                                        std::int64_t to) const {
  return CpuRate(
      [&](ProcessId process) {
        return role ? roles[process.value] == *role && IsOurs(process) : OnOurHost(process);
      },
      from, to);
}

namespace {

// CPU time of a process until `time`, in ns. A process that starts during the recording gets its
// first sample within a tenth of a second. So CPU time of up to 1 s in its first sample was used in
// that tenth. A larger first value was used before the recording.
double CpuUntil(const CounterSeries& series, double time) {
  constexpr double kPeriod = 0.1;
  constexpr double kLittle = 1e9;
  const double before = series.at.front() - time;
  if (before <= 0 || series.value.front() > kLittle) return series.ValueAt(time);
  return series.value.front() * std::max(0.0, 1 - before / kPeriod);
}

}  // namespace

std::optional<double> RunModel::CpuRate(const std::function<bool(ProcessId)>& counts,
                                        std::int64_t from, std::int64_t to) const {
  const double first = static_cast<double>(from - begin.value) * 1e-9;
  const double last = static_cast<double>(to - begin.value) * 1e-9;
  bool any = false;
  double used = 0;
  for (const CounterSeries& series : counters) {
    if (series.name != "cpu_ns" || series.process.value >= roles.size()) continue;
    if (series.at.empty() || !counts(series.process)) continue;
    any = any || series.at.size() > 1;
    used += std::max(0.0, CpuUntil(series, last) - CpuUntil(series, first)) * 1e-9;
  }
  if (!any || last <= first) return std::nullopt;
  return used / (last - first);
}

}  // namespace penstock::analyzer
