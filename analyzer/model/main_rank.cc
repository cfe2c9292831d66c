// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/main_rank.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

double WaitShare(const LoaderRun& run) {
  double wait = 0;
  double loop = 0;
  for (std::size_t i = 1; i < run.batches.size(); ++i) {  // the first waits for the start
    wait += run.batches[i].wait();
    loop += run.batches[i].wait() + run.batches[i].step();
  }
  return loop > 0 ? wait / loop : 0;
}

}  // namespace

void PutSlowestRankFirst(RunModel& model) {
  constexpr double kEqual = 0.02;
  if (model.ranks.places.size() < 2 || model.loaders.empty()) return;
  const std::size_t most = model.loaders.front().batches.size();
  std::size_t first = 0;
  double share = -1;
  std::int32_t rank = -1;
  for (std::size_t i = 0; i < model.loaders.size(); ++i) {
    const LoaderRun& run = model.loaders[i];
    const RankPlace* place = model.ranks.Find(run.config.consumer);
    if (place == nullptr || 2 * run.batches.size() < most) continue;
    const double own = WaitShare(run);
    const bool lower = own > share - kEqual && place->rank < rank;
    if (share >= 0 && own <= share + kEqual && !lower) continue;
    first = i;
    share = own;
    rank = place->rank;
  }
  std::rotate(model.loaders.begin(), model.loaders.begin() + static_cast<std::ptrdiff_t>(first),
              model.loaders.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

bool RunModel::IsOurs(ProcessId process) const {
  if (!has_loader() || process.value >= consumer_of.size()) return true;
  return consumer_of[process.value] == loader().config.consumer;
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
  const double first = static_cast<double>(from - begin.value) * 1e-9;
  const double last = static_cast<double>(to - begin.value) * 1e-9;
  bool any = false;
  double used = 0;
  for (const CounterSeries& series : counters) {
    const std::size_t process = series.process.value;
    if (series.name != "cpu_ns" || process >= roles.size()) continue;
    if (role ? roles[process] != *role || !IsOurs(series.process) : !OnOurHost(series.process)) {
      continue;
    }
    if (series.at.size() < 2) continue;
    any = true;
    used += std::max(0.0, series.ValueAt(last) - series.ValueAt(first)) * 1e-9;
  }
  if (!any || last <= first) return std::nullopt;
  return used / (last - first);
}

}  // namespace penstock::analyzer
