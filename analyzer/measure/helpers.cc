// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/helpers.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/measure/cpu_load.h"

namespace penstock::analyzer {
namespace {

// CPU seconds that were used between `from` and `at`, which are seconds since the run began.
struct Counted {
  double from = 0;
  double at = 0;
  double cpu = 0;
};

bool Earlier(const Counted& a, const Counted& b) {
  return a.at < b.at;
}

// When a process had waited for the end of child processes, and how much CPU time these had used.
std::vector<Counted> WaitedFor(const RunModel& model) {
  std::vector<Counted> found;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "children_cpu_ns" || !model.IsOurs(series.process)) continue;
    for (std::size_t i = 1; i < series.at.size(); ++i) {
      const double cpu = (series.value[i] - series.value[i - 1]) * 1e-9;
      if (cpu > 0) found.push_back({series.at[i - 1], series.at[i], cpu});
    }
  }
  std::sort(found.begin(), found.end(), Earlier);
  return found;
}

// Whether `process` belongs to the rank of the main loader, so that a process of this rank may have
// waited for its end. Processes of other ranks end at the same times and must not be confused with
// it.
bool BelongsToOurRank(const RunModel& model, ProcessId process) {
  if (!model.has_loader() || process.value >= model.consumer_of.size()) return true;
  return model.consumer_of[process.value] == model.loader().config.consumer;
}

// When each recorded process of our rank was last sampled, and how much CPU time it had used by
// then.
std::vector<Counted> Ended(const RunModel& model) {
  std::vector<Counted> found;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "cpu_ns" || series.at.empty()) continue;
    if (!BelongsToOurRank(model, series.process)) continue;
    found.push_back({series.at.front(), series.at.back(), series.value.back() * 1e-9});
  }
  std::sort(found.begin(), found.end(), Earlier);
  return found;
}

bool InWindow(const RunModel& model, const SteadyState& steady, double at) {
  const auto time = model.begin.value + static_cast<std::int64_t>(at * 1e9);
  return std::any_of(steady.windows.begin(), steady.windows.end(), [&](const auto& window) {
    return window.first <= time && time <= window.second;
  });
}

// CPU seconds of processes that recorded nothing.
double UnseenCpu(const RunModel& model, const SteadyState& steady) {
  // Longest time, in seconds, from the last sample of a process to the sample of its parent before
  // the parent had waited for its end.
  constexpr double kApart = 0.5;
  const std::vector<Counted> ended = Ended(model);
  auto next = ended.begin();
  double unseen = 0;
  for (const Counted& one : WaitedFor(model)) {
    double known = 0;
    for (; next != ended.end() && next->at <= one.at; ++next) {
      if (next->at >= one.from - kApart) known += next->cpu;
    }
    // The CPU time of a process appears all at once, when its parent has waited for its end. `most`
    // is the CPU time that all cores could give since the counter's previous sample.
    const double most = (one.at - one.from) * model.host_cores();
    if (InWindow(model, steady, one.at)) unseen += std::clamp(one.cpu - known, 0.0, most);
  }
  return unseen;
}

}  // namespace

HelpersCpu MeasureHelpers(const RunModel& model, const SteadyState& steady) {
  std::set<std::uint32_t> helpers;
  for (const ProcessId helper : model.helpers) {
    if (model.IsOurs(helper)) helpers.insert(helper.value);
  }
  HelpersCpu cpu;
  if (!helpers.empty()) {
    const auto counts = [&](ProcessId one) { return helpers.count(one.value) > 0; };
    cpu.recorded = CpuInWindows(model, steady, counts).value_or(0);
  }
  if (steady.time > 0) cpu.unseen = UnseenCpu(model, steady) / steady.time;
  return cpu;
}

bool MadeByOwnProcesses(const RunModel& model, const SteadyState& steady) {
  constexpr double kWaits = 0.5;
  constexpr double kStages = 0.25;
  constexpr double kCores = 0.5;
  const LoaderRun& run = model.loader();
  const std::vector<ProcessId>& own = model.own_processes.processes;
  if (run.config.num_workers != 0 || run.config.sample_tasks || own.empty()) return false;
  double fetches = 0;
  double waits = 0;
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || !batch.cpu_known) continue;
    fetches += batch.fetch.wall;
    const double reads = std::max(0.0, batch.read.wall - batch.read.cpu);
    waits += std::max(0.0, batch.fetch.wall - batch.fetch.cpu - reads);
  }
  if (waits <= kWaits * fetches) return false;
  if (model.own_processes.stages >= kStages * waits) return true;
  const auto counts = [&](ProcessId one) {
    return std::any_of(own.begin(), own.end(), [one](ProcessId other) { return other == one; });
  };
  return CpuInWindows(model, steady, counts).value_or(0) >= kCores;
}

}  // namespace penstock::analyzer
