// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/counter_series.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "analyzer/model/host.h"

namespace penstock::analyzer {
namespace {

// The number of the program's own threads, at least 1. The kernel's count includes the threads of
// the agent, except at the end of a process, when they may have ended.
double ThreadsWithoutAgent(const traces::Trace& trace, ProcessId process, double threads) {
  if (process.value >= trace.processes().size()) return threads;
  const auto ours = NumberFact(trace.processes()[process.value].facts, "agent.threads");
  return ours && *ours > 0 ? std::max(1.0, threads - *ours) : threads;
}

}  // namespace

double CounterSeries::ValueAt(double time) const {
  const auto above = std::lower_bound(at.begin(), at.end(), time);
  const auto i = static_cast<std::size_t>(above - at.begin());
  if (i == 0) return value.front();
  if (i == at.size()) return value.back();
  const double run = at[i] - at[i - 1];
  const double part = run > 0 ? (time - at[i - 1]) / run : 0;
  return value[i - 1] + part * (value[i] - value[i - 1]);
}

std::optional<double> CounterSeries::LastUntil(double seconds) const {
  const auto above = std::upper_bound(at.begin(), at.end(), seconds);
  if (above == at.begin()) return std::nullopt;
  return value[static_cast<std::size_t>(above - at.begin()) - 1];
}

CounterGrowth GrowthWithin(const CounterSeries& series,
                           std::span<const std::pair<std::int64_t, std::int64_t>> windows,
                           TimeNs begin) {
  CounterGrowth growth;
  if (series.at.size() < 2) return growth;
  for (const auto& [from, to] : windows) {
    const double start = std::max(Seconds(TimeNs{from} - begin), series.at.front());
    const double end = std::min(Seconds(TimeNs{to} - begin), series.at.back());
    if (!(end > start)) continue;
    growth.value += std::max(0.0, series.ValueAt(end) - series.ValueAt(start));
    growth.seconds += end - start;
  }
  return growth;
}

void RemoveWalksOfOrphans(std::span<const wire::ProcessRole> roles,
                          std::span<const ProcessId> consumer_of,
                          std::vector<CounterSeries>& counters) {
  constexpr std::array<std::string_view, 5> kOfWalks = {
      "uss_bytes", "private_dirty_bytes", "anonymous_bytes", "pss_anon_bytes", "swap_bytes"};
  std::map<std::uint32_t, double> ends;  // by process: the last moment when it had memory
  for (const CounterSeries& series : counters) {
    if (series.name != "rss_bytes") continue;
    for (std::size_t i = series.at.size(); i-- > 0;) {
      if (series.value[i] <= 0) continue;
      ends[series.process.value] = series.at[i];
      break;
    }
  }
  for (CounterSeries& series : counters) {
    const std::uint32_t process = series.process.value;
    if (process >= roles.size() || roles[process] != wire::kRoleWorker) continue;
    if (std::find(kOfWalks.begin(), kOfWalks.end(), series.name) == kOfWalks.end()) continue;
    const auto end = ends.find(consumer_of[process].value);
    if (end == ends.end()) continue;
    const auto left = std::upper_bound(series.at.begin(), series.at.end(), end->second);
    series.value.resize(static_cast<std::size_t>(left - series.at.begin()));
    series.at.erase(left, series.at.end());
  }
  std::erase_if(counters, [](const CounterSeries& series) { return series.at.empty(); });
}

std::vector<CounterSeries> ReadCounters(const traces::Trace& trace) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CounterSeries> series;
  for (const traces::CounterSample& sample : trace.counters()) {
    CounterSeries& one = series[{sample.name.value, sample.process.value}];
    if (one.at.empty()) {
      one.name = trace.String(sample.name);
      one.process = sample.process;
    }
    one.at.push_back(Seconds(sample.at - trace.begin()));
    one.value.push_back(static_cast<double>(sample.value));
  }
  std::vector<CounterSeries> counters;
  for (auto& [key, one] : series) {
    if (one.name == "threads") {
      for (double& value : one.value) value = ThreadsWithoutAgent(trace, one.process, value);
    }
    counters.push_back(std::move(one));
  }
  return counters;
}

}  // namespace penstock::analyzer
