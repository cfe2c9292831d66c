// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/measure_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analyzer/memory/private_memory.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/stats/slope.h"

namespace penstock::analyzer {
namespace {

// Fewer samples after the first fifth are too few for a slope.
constexpr std::size_t kFewestPoints = 4;
// With at least this many points, the slopes of the two halves are compared.
constexpr std::size_t kTwoHalves = 8;
// A training process takes memory in its first epochs that it never takes again: arenas of
// allocators, workspaces of libraries. Six programs that were flat over 24 epochs grew by up to 2.5
// GB a minute in their first 15 s. So growth of the training process is reported only after this
// many seconds (ours).
constexpr double kLongEnough = 60;
// Growth settles if the slope of the second half of its samples is less than this fraction of the
// slope of the first half.
constexpr double kSettling = 0.7;

// Counters of one process, by name.
using OfProcess = std::map<std::string_view, const CounterSeries*>;

struct MemoryPoints {
  std::vector<double> at;       // seconds
  std::vector<double> batches;  // batches made by then
  std::vector<double> value;    // bytes
};

const CounterSeries* Find(const OfProcess& counters, std::string_view name) {
  const auto found = counters.find(name);
  return found == counters.end() ? nullptr : found->second;
}

// Swapped bytes at each walk. A walk writes swap_bytes only if the process has swapped memory.
CounterSeries SwapOf(const OfProcess& counters) {
  CounterSeries swapped;
  const CounterSeries* swap = Find(counters, "swap_bytes");
  const CounterSeries* walks = Find(counters, "anonymous_bytes");
  if (swap == nullptr) return swapped;
  if (walks == nullptr) return *swap;
  for (const double at : walks->at) {
    const bool written = std::binary_search(swap->at.begin(), swap->at.end(), at);
    swapped.at.push_back(at);
    swapped.value.push_back(written ? swap->LastUntil(at).value_or(0) : 0);
  }
  return swapped;
}

// base + plus, at the times of `base`; missing values of `plus` count as 0.
MemoryPoints Sum(const CounterSeries& base, const CounterSeries& plus) {
  MemoryPoints points;
  for (std::size_t i = 0; i < base.at.size(); ++i) {
    if (base.value[i] <= 0) continue;  // a process that has ended
    points.at.push_back(base.at[i]);
    points.value.push_back(base.value[i] + plus.LastUntil(base.at[i]).value_or(0));
  }
  return points;
}

void CountBatches(MemoryPoints& points, std::span<const double> made) {
  for (const double at : points.at) {
    const auto until = std::upper_bound(made.begin(), made.end(), at);
    points.batches.push_back(static_cast<double>(until - made.begin()));
  }
}

// Growth after the first fifth of the samples, when imports and first batches are over. `most`:
// bytes by which the memory may still grow after the last sample; negative: no end is known.
Growth GrowthOf(const MemoryPoints& points, double most) {
  Growth growth;
  const std::size_t skip = points.at.size() / 5;
  const std::size_t n = points.at.size() - skip;
  if (n < kFewestPoints) return growth;
  const std::span<const double> at = std::span(points.at).subspan(skip);
  const std::span<const double> batches = std::span(points.batches).subspan(skip);
  const std::span<const double> value = std::span(points.value).subspan(skip);
  growth.per_second = SlopeInterval(at, value);
  growth.per_batch = SlopeInterval(batches, value);
  growth.grown = growth.per_second.estimate * (at.back() - at.front());
  const double whole = points.value.back() - points.value.front();
  if (most >= 0) growth.limit = std::max(0.0, whole) + most;
  if (n < kTwoHalves) return growth;
  const std::size_t half = n / 2;
  const double first = SlopeInterval(batches.first(half), value.first(half)).estimate;
  const double second = SlopeInterval(batches.subspan(half), value.subspan(half)).estimate;
  const double apart = (batches.back() - batches.front()) / 2;  // between the halves' middles
  if (first <= 0 || second >= kSettling * first || apart <= 0) return growth;
  // The slope falls exponentially, because each touched page leaves one page fewer to touch.
  const double ratio = std::max(second / first, 0.02);
  growth.settles = apart / -std::log(ratio);
  // first * ratio is the slope in the middle of the second half. The end lies half of `apart`
  // later.
  const double last = first * ratio * std::exp(-apart / 2 / growth.settles);
  const double left = last * growth.settles;
  growth.limit = std::max(0.0, whole) + (most >= 0 ? std::min(left, most) : left);
  return growth;
}

// The medians over the workers.
Growth MedianOf(const std::vector<WorkerMemory>& workers, Growth WorkerMemory::*part) {
  std::vector<Growth> growths;
  for (const WorkerMemory& worker : workers) growths.push_back(worker.*part);
  return MedianGrowth(growths);
}

// By process: when each of its batches was made, in seconds since the beginning of the run model.
std::unordered_map<std::uint32_t, std::vector<double>> TimesMade(const RunModel& model,
                                                                 const LoaderRun& run) {
  std::unordered_map<std::uint32_t, std::vector<double>> made;
  for (const Batch& batch : run.batches) {
    if (batch.worker_process < 0 || !batch.was_fetched()) continue;
    made[static_cast<std::uint32_t>(batch.worker_process)].push_back(
        static_cast<double>(batch.fetch_end - model.begin.value) * 1e-9);
  }
  for (auto& [process, times] : made) std::sort(times.begin(), times.end());
  return made;
}

struct Measured {
  WorkerMemory memory;
  bool attributed = false;
};

// The index of the last sample until the run ends. While processes end, memory that they shared
// counts as that of the last of them.
std::size_t LastInRun(const std::vector<double>& at, double end) {
  const auto after = std::upper_bound(at.begin(), at.end(), end) - at.begin();
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after, 1)) - 1;
}

// `made`: when the worker's batches were made, ascending. `end`: of the run, in seconds. nullopt:
// the worker's memory has too few samples.
std::optional<Measured> Measure(const OfProcess& counters, std::span<const double> made, double end,
                                int workers) {
  const CounterSeries* own = Find(counters, "private_dirty_bytes");
  const CounterSeries* anonymous = Find(counters, "anonymous_bytes");
  const CounterSeries* uss = Find(counters, "uss_bytes");
  const CounterSeries swap = SwapOf(counters);
  Measured measured;
  WorkerMemory& memory = measured.memory;
  const auto with_batches = [&](MemoryPoints points) {
    CountBatches(points, made);
    return points;
  };
  if (own == nullptr || anonymous == nullptr) {
    if (uss == nullptr) return std::nullopt;
    const MemoryPoints points = with_batches(Sum(*uss, {}));
    if (points.at.size() < kFewestPoints) return std::nullopt;
    memory.samples = points.at.size();
    memory.watched = points.at.back() - points.at.front();
    memory.batches = points.batches.back();
    memory.private_bytes = points.value[LastInRun(points.at, end)];
    memory.copied = GrowthOf(points, -1);
    return measured;
  }
  measured.attributed = true;
  PrivateMemory split =
      SplitMemory(*own, *anonymous, Find(counters, "pss_anon_bytes"), uss, workers);
  if (split.at.empty()) return std::nullopt;
  for (auto* values : {&split.shared, &split.own, &split.cached}) {
    values->resize(LastInRun(split.at, end) + 1);
  }
  split.at.resize(split.shared.size());
  if (split.at.size() < kFewestPoints) return std::nullopt;
  const auto points = [&](const std::vector<double>& values, double sign) {
    MemoryPoints series{split.at, {}, values};
    for (double& value : series.value) value *= sign;
    return with_batches(std::move(series));
  };
  memory.samples = split.at.size();
  memory.watched = split.at.back() - split.at.front();
  memory.shared_bytes = split.shared.back();
  const MemoryPoints copied = points(split.shared, -1);
  memory.batches = copied.batches.back();
  memory.copied = GrowthOf(copied, memory.shared_bytes);
  memory.private_bytes = split.own.back() + swap.LastUntil(split.at.back()).value_or(0);
  memory.cached_bytes = split.cached.back();
  memory.cached = GrowthOf(points(split.cached, 1), -1);
  // Memory that the kernel counts without a walk is sampled more often.
  const CounterSeries* counted = Find(counters, "rss_anon_bytes");
  const bool often = counted != nullptr && counted->at.size() > anonymous->at.size();
  memory.fresh = GrowthOf(with_batches(Sum(often ? *counted : *anonymous, swap)), -1);
  return measured;
}

// How many ranks run on our host for each rank that was recorded.
double RanksPerRecordedRank(const RunModel& model) {
  const int recorded = model.ranks.hosts[model.our_host()].recorded;
  return std::max(1.0, static_cast<double>(model.host.ranks) / std::max(1, recorded));
}

// Finds how much memory may still be used at the time `until` before the kernel kills a process.
// The machine or its control group sets the limit, whichever leaves less. The counters are those of
// all ranks of the machine. The ranks are assumed to be alike and to share the free memory equally.
void FindRoom(const RunModel& model, double until, MemoryModel& memory) {
  const Host& machine = model.machine();
  const auto group = static_cast<double>(machine.memory_limit.value);
  const auto limit = static_cast<double>(machine.memory().value);
  memory.ranks = model.host.ranks;
  memory.limit = limit / memory.ranks;
  memory.limit_of = machine.memory() != machine.ram ? "control group" : "machine";
  double room = std::numeric_limits<double>::infinity();
  double used = 0;
  for (const CounterSeries& series : model.counters) {
    if (!model.OnOurHost(series.process)) continue;
    const auto value = series.LastUntil(until);
    if (!value) continue;
    if (series.name == "memory_available_bytes") room = std::min(room, *value);
    if (series.name == "cgroup_memory_bytes" && group > 0) {
      room = std::min(room, std::max(0.0, group - *value));
    }
    if (series.name == "pss_bytes") used += *value;
  }
  if (!std::isfinite(room)) {
    // This recording does not tell how much other programs use. None is assumed.
    used *= RanksPerRecordedRank(model);
    room = limit > 0 && used > 0 ? std::max(0.0, limit - used) : 0;
  }
  memory.room = room / memory.ranks;
}

void FindHorizon(const LoaderRun& run, WorkerGrowth& growth) {
  const LoaderConfig& config = run.config;
  for (const Epoch& epoch : run.epochs) {
    const auto count = static_cast<double>(epoch.count);
    growth.horizon = std::max(growth.horizon, count);
    if (epoch.ended) growth.epoch = std::max(growth.epoch, count);
  }
  growth.epoch = std::max(growth.epoch, config.whole_epoch());
  growth.horizon = std::max(growth.horizon, growth.epoch);
  if (config.persistent_workers) {
    growth.horizon = std::max(growth.horizon, static_cast<double>(run.batches.size()));
  }
}

}  // namespace

MemoryModel MeasureMemory(const RunModel& model, const LoaderRun& run, double batch_rate) {
  MemoryModel memory;
  memory.worker_count = run.config.sample_tasks ? 0 : run.config.num_workers;
  memory.ends_with_epoch = !run.config.persistent_workers;
  memory.batch_rate = batch_rate;
  memory.shared = MeasureSharedMemory(model, run);
  FindHorizon(run, memory.growth);
  memory.growth.ahead = run.config.prefetch_factor;
  std::map<std::uint32_t, OfProcess> processes;
  for (const CounterSeries& series : model.counters) {
    processes[series.process.value][series.name] = &series;
  }
  auto made = TimesMade(model, run);
  // If the recording was cut, it is not known when the run ended.
  const double end = model.cut ? std::numeric_limits<double>::infinity() : model.duration();
  double until = 0;
  bool attributed = true;
  bool some = false;
  for (const WorkerRun& worker : run.workers) {
    const auto found = processes.find(worker.process.value);
    if (found == processes.end() || run.config.sample_tasks) continue;
    if (worker.process.value >= model.roles.size() ||
        model.roles[worker.process.value] != wire::kRoleWorker) {
      continue;
    }
    auto measured = Measure(found->second, made[worker.process.value], end, memory.worker_count);
    if (!measured) continue;
    measured->memory.process = worker.process;
    measured->memory.worker_id = worker.worker_id;
    attributed = attributed && measured->attributed;
    some = some || measured->attributed;
    for (const auto& [name, series] : found->second) {
      if (name == "uss_bytes") until = std::max(until, series->at.back());
    }
    memory.workers.push_back(std::move(measured->memory));
  }
  memory.known = !memory.workers.empty();
  memory.attributed = memory.known && attributed;
  memory.mixed = some && !attributed;
  if (memory.known) {
    memory.growth.copied = MedianOf(memory.workers, &WorkerMemory::copied);
    memory.growth.fresh = MedianOf(memory.workers, &WorkerMemory::fresh);
    memory.cached = MedianOf(memory.workers, &WorkerMemory::cached);
    const auto median = [&](double WorkerMemory::*part) {
      std::vector<double> values;
      for (const WorkerMemory& worker : memory.workers) values.push_back(worker.*part);
      return Median(std::move(values));
    };
    memory.private_bytes = median(&WorkerMemory::private_bytes);
    memory.shared_bytes = median(&WorkerMemory::shared_bytes);
    memory.growth.batches = median(&WorkerMemory::batches);
    memory.watched = median(&WorkerMemory::watched);
    memory.growth.foreseeable = memory.attributed || SeenLongEnough(memory.watched);
  }
  if (const auto loop = processes.find(run.config.consumer.value); loop != processes.end()) {
    const CounterSeries* held = Find(loop->second, "rss_anon_bytes");
    if (held == nullptr) held = Find(loop->second, "anonymous_bytes");
    if (held != nullptr) {
      MemoryPoints points = Sum(*held, SwapOf(loop->second));
      std::vector<double> given;
      for (const Batch& batch : run.batches) {
        if (batch.delivered != kNever) {
          given.push_back(static_cast<double>(batch.delivered - model.begin.value) * 1e-9);
        }
      }
      std::sort(given.begin(), given.end());
      CountBatches(points, given);
      const bool tells =
          points.at.size() >= kTwoHalves && points.at.back() - points.at.front() >= kLongEnough;
      if (tells) {
        memory.trainer = GrowthOf(points, -1);
        memory.watched = std::max(memory.watched, points.at.back() - points.at.front());
      }
      if (memory.trainer.settles > 0) memory.trainer = {};
      if (until <= 0 && !points.at.empty()) until = points.at.back();
    }
  }
  FindRoom(model, until > 0 ? until : model.duration(), memory);
  return memory;
}

}  // namespace penstock::analyzer
