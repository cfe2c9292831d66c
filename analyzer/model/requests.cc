// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/requests.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyzer/model/counter_series.h"

namespace penstock::analyzer {
namespace {

bool MakesData(const RunModel& run, ProcessId process) {
  if (run.loaders.empty()) return true;
  const LoaderConfig& config = run.loader().config;
  if (config.num_workers == 0 || config.sample_tasks) return process == config.consumer;
  return process.value < run.roles.size() && run.roles[process.value] == wire::kRoleWorker &&
         run.IsOurs(process);
}

// The host of a counter: "data.example.com" of "http.connect_ns@data.example.com".
std::string HostOf(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == std::string_view::npos ? "" : std::string(name.substr(at + 1));
}

}  // namespace

std::vector<HostRequests> FindRequests(const RunModel& run) {
  struct Times {
    std::vector<double> connect, first_byte;
  };
  std::map<std::string, Times> hosts;
  for (const CounterSeries& series : run.counters) {
    const bool opens = series.name.starts_with("http.connect_ns");
    if (!opens && !series.name.starts_with("http.first_byte_ns")) continue;
    if (!MakesData(run, series.process)) continue;
    Times& times = hosts[HostOf(series.name)];
    for (const double nanoseconds : series.value) {
      (opens ? times.connect : times.first_byte).push_back(nanoseconds * 1e-9);
    }
  }
  std::vector<HostRequests> all;
  for (const auto& [host, times] : hosts) {
    all.push_back({host, Summarize(times.first_byte), Summarize(times.connect)});
  }
  std::stable_sort(all.begin(), all.end(), [](const HostRequests& a, const HostRequests& b) {
    return a.waited() > b.waited();
  });
  return all;
}

}  // namespace penstock::analyzer
