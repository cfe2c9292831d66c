// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/workers.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "analyzer/memory/memory_growth.h"
#include "analyzer/memory/private_memory.h"
#include "analyzer/model/slow_workers.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/format.h"
#include "gui/model/timeline/epochs.h"

namespace penstock::gui {
namespace {

using analyzer::Batch;
using analyzer::CounterSeries;
using analyzer::LoaderRun;
using analyzer::WorkerRun;

constexpr std::array<std::string_view, 3> kCounters = {"uss_bytes", "pss_bytes", "rss_bytes"};
constexpr std::size_t kFewSamples = 4;  // fewer samples make no curve

// For each process, the time from the begin of its first epoch to the begin of its first batch.
std::map<std::uint32_t, double> StartupsOf(const LoaderRun& run) {
  std::map<std::uint32_t, double> startups;
  std::map<std::uint32_t, std::int64_t> first;
  for (const analyzer::Epoch& epoch : run.epochs) {
    if (epoch.start == analyzer::kNever) continue;
    const std::size_t end = std::min(epoch.first + epoch.count, run.batches.size());
    for (std::size_t i = epoch.first; i < end; ++i) {
      const Batch& batch = run.batches[i];
      if (batch.worker_process < 0 || batch.fetch_start == analyzer::kNever) continue;
      const auto process = static_cast<std::uint32_t>(batch.worker_process);
      const auto [at, fresh] = first.try_emplace(process, batch.fetch_start);
      if (!fresh && batch.fetch_start >= at->second) continue;
      at->second = batch.fetch_start;
      const auto wait = static_cast<double>(batch.fetch_start - epoch.start) * 1e-9;
      if (wait >= 0) startups[process] = wait;
    }
  }
  return startups;
}

// If each epoch starts new processes, FindSlowWorkers() adds up the batches of all processes that
// have the same worker number. Thus it may find a worker slow although none of its processes made
// enough batches for Compare().
void MarkSlow(const LoaderRun& run, WorkersModel& model) {
  double most = 0;
  for (const analyzer::SlowWorker& slow :
       analyzer::FindSlowWorkers(analyzer::TimesOfWorkers(run))) {
    const std::int32_t number = model.workers[slow.index].worker_id;
    const bool first_compared = model.workers[slow.index].slowdown > 0;
    std::size_t shown = slow.index;
    for (std::size_t i = 0; i < model.workers.size(); ++i) {
      WorkerLine& line = model.workers[i];
      if (i != slow.index && (number < 0 || line.worker_id != number)) continue;
      line.slow = true;
      if (!first_compared && line.slowdown > model.workers[shown].slowdown) shown = i;
    }
    WorkerLine& line = model.workers[shown];
    if (line.slowdown <= 0) line.slowdown = slow.times;
    model.slowest = std::max(model.slowest, line.slowdown);
    if (slow.times > most) model.straggler = shown;
    most = std::max(most, slow.times);
  }
}

void Compare(const LoaderRun& run, WorkersModel& model) {
  std::vector<double> means;
  for (const WorkerLine& line : model.workers) {
    if (line.batches >= kFewBatches) means.push_back(line.batch);
    model.some_few = model.some_few || line.batches < kFewBatches;
  }
  const double usual = analyzer::Median(means);
  const bool comparable = means.size() >= 2 && usual > 0;
  for (std::size_t i = 0; i < model.workers.size() && comparable; ++i) {
    WorkerLine& line = model.workers[i];
    if (line.batches < kFewBatches) continue;
    line.slowdown = line.batch / usual;
    if (line.slowdown > model.slowest) {
      model.slowest = line.slowdown;
      model.straggler = i;
    }
  }
  MarkSlow(run, model);
}

void FillMemory(const CounterSeries& series, MemoryKind kind, WorkerLine& line) {
  constexpr std::size_t kFewest = 8;
  if (series.at.empty() || (line.memory >= 0 && series.at.size() < kFewSamples)) return;
  line.memory_kind = kind;
  line.memory = series.value.back();
  line.most_memory = *std::max_element(series.value.begin(), series.value.end());
  const std::span<const double> at = std::span(series.at).subspan(series.at.size() / 5);
  const double span = at.back() - at.front();
  line.curve_known = at.size() >= kFewest && span >= 1;
  line.growth_known = line.curve_known && span >= analyzer::kLeastGrowthTime;
  line.growth_short = !line.growth_known;
}

// Growth that may be chance is none, as in the sentence about the memory of the workers.
void FillGrowth(const analyzer::MemoryModel& memory, WorkerLine& line) {
  const auto found = std::find_if(
      memory.workers.begin(), memory.workers.end(),
      [&](const analyzer::WorkerMemory& one) { return one.process.value == line.process; });
  line.growth_known = line.growth_known && found != memory.workers.end();
  if (!line.growth_known) return;
  for (const analyzer::Growth& part : {found->copied, found->fresh}) {
    if (part.certain()) line.growth += part.per_second.estimate;
  }
}

// Finds out which workers have the same number as others, and fills the pids of the curves.
void MarkNamesakes(const traces::Trace& trace, WorkersModel& model) {
  const std::span<const traces::ProcessInfo> processes = trace.processes();
  std::map<std::pair<std::int32_t, std::int32_t>, int> count;  // by rank and number
  for (const traces::ProcessInfo& process : processes) {
    if (process.role == wire::kRoleWorker) ++count[{process.rank, process.worker_id}];
  }
  const auto mark = [&](auto& one) {
    if (one.process >= processes.size() || one.worker_id < 0) return;
    const traces::ProcessInfo& process = processes[one.process];
    one.pid = process.pid;
    one.namesake = count[{process.rank, process.worker_id}] > 1;
  };
  for (WorkerLine& line : model.workers) mark(line);
  for (auto& curves : model.memory) {
    for (MemoryCurve& curve : curves) mark(curve);
  }
}

// Which loader a worker process serves, and from which epoch on.
struct Service {
  const LoaderRun* loader = nullptr;
  Generation first = 0;
};

// Tells the loaders, epochs and ranks of workers that have the same number. `whole`: of the whole
// run, so that a worker has the same name in each part of the run.
void MarkEpochs(const traces::Trace& trace, const Analysis& whole, WorkersModel& model) {
  const std::span<const traces::ProcessInfo> processes = trace.processes();
  std::map<std::uint32_t, Service> services;  // by process
  std::vector<Generation> found;
  for (const LoaderRun& run : whole.report.diagnosis.run.loaders) {
    for (const Batch& batch : run.batches) {
      found.push_back(batch.key.generation);
      if (batch.worker_process < 0) continue;
      const auto process = static_cast<std::uint32_t>(batch.worker_process);
      Service& service =
          services.try_emplace(process, Service{&run, batch.key.generation}).first->second;
      service.first = std::min(service.first, batch.key.generation);
    }
  }
  const Epochs epochs(trace, std::move(found));
  std::map<std::pair<const LoaderRun*, std::int32_t>, int> count;  // by loader and number
  for (const auto& [process, service] : services) {
    if (process < processes.size()) ++count[{service.loader, processes[process].worker_id}];
  }
  const auto epoch_of = [&](const auto& one) -> std::uint32_t {
    const auto service = services.find(one.process);
    if (service == services.end()) return 0;
    const bool anew = count[{service->second.loader, one.worker_id}] > 1;
    return anew ? epochs.NumberOf(service->second.first) : 0;
  };
  const bool several = LoaderNames(whole.report).size() > 1;
  const bool ranks = whole.report.diagnosis.ranks.several();
  for (WorkerLine& line : model.workers) line.epoch = epoch_of(line);
  for (auto& curves : model.memory) {
    for (MemoryCurve& curve : curves) {
      curve.epoch = epoch_of(curve);
      const auto service = services.find(curve.process);
      if (several && service != services.end()) curve.loader = service->second.loader->name;
      if (ranks && curve.process < processes.size()) curve.rank = processes[curve.process].rank;
    }
  }
}

// Puts the processes of the loader that is shown first, because a legend may have no room for all.
void PutOwnFirst(const analyzer::RunModel& run, WorkersModel& model) {
  if (!run.has_loader()) return;
  const auto own = [&](const MemoryCurve& curve) {
    return curve.process == run.loader().config.consumer.value ||
           std::any_of(model.workers.begin(), model.workers.end(),
                       [&](const WorkerLine& line) { return line.process == curve.process; });
  };
  for (auto& curves : model.memory) std::stable_partition(curves.begin(), curves.end(), own);
}

// Finds the training process whose curve has the colour of text.
void MarkTrainer(WorkersModel& model) {
  for (auto& curves : model.memory) {
    const auto trainer = std::find_if(curves.begin(), curves.end(),
                                      [](const MemoryCurve& curve) { return curve.consumer; });
    if (trainer != curves.end()) trainer->trainer = true;
  }
}

// Leaves out the curves of programs that neither train nor make batches and use little memory, such
// as a shell that starts the run.
void DropSmallHelpers(const traces::Trace& trace, std::vector<MemoryCurve>& curves) {
  constexpr double kNotable = 0.05;  // of the highest curve
  double most = 0;
  for (const MemoryCurve& curve : curves) most = std::max(most, curve.curve.high);
  std::erase_if(curves, [&](const MemoryCurve& curve) {
    return trace.processes()[curve.process].role == wire::kRoleOther &&
           curve.curve.high < kNotable * most;
  });
}

bool MakesItself(const analyzer::LoaderConfig& config) {
  return config.workers_known && config.num_workers == 0;
}

WorkerLine LineOf(const traces::Trace& trace, const WorkerRun& worker,
                  const std::map<std::uint32_t, double>& startups) {
  WorkerLine line;
  line.worker_id = worker.worker_id;
  line.process = worker.process.value;
  if (line.process < trace.processes().size()) line.pid = trace.processes()[line.process].pid;
  line.batches = worker.batches;
  line.busy = worker.busy;
  line.cpu = std::min(worker.cpu, worker.busy);
  line.idle = worker.idle;
  line.life = worker.life();
  if (worker.batches > 0) line.batch = worker.busy / static_cast<double>(worker.batches);
  if (const auto found = startups.find(line.process); found != startups.end()) {
    line.startup = found->second;
  }
  return line;
}

// Seconds between the readings of a counter, of which a curve may show only some.
std::vector<double> GapsOf(const CounterSeries& series) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < series.at.size(); ++i) {
    gaps.push_back(series.at[i] - series.at[i - 1]);
  }
  return gaps;
}

// Drops the samples after the end of the run. While processes end, memory that they shared counts
// as that of the last of them. If the recording was cut, it is not known when the run ended.
CounterSeries UntilTheEnd(CounterSeries series, const analyzer::RunModel& run) {
  while (!run.cut && !series.at.empty() && series.at.back() > run.duration()) {
    series.value.pop_back();
    series.at.pop_back();
  }
  return series;
}

// Also drops the zeros at the end: a process that has ended has no memory left.
CounterSeries Alive(CounterSeries series, const analyzer::RunModel& run) {
  series = UntilTheEnd(std::move(series), run);
  while (!series.value.empty() && series.value.back() <= 0) {
    series.value.pop_back();
    series.at.pop_back();
  }
  return series;
}

// The memory that a worker still shares with the process that forked it.
CounterSeries SharedOf(const analyzer::RunModel& run, const CounterSeries& anonymous) {
  const CounterSeries* own = nullptr;
  const CounterSeries* share = nullptr;
  for (const CounterSeries& series : run.counters) {
    if (series.process != anonymous.process) continue;
    if (series.name == "private_dirty_bytes") own = &series;
    if (series.name == "pss_anon_bytes") share = &series;
  }
  CounterSeries shared;
  if (own == nullptr || !run.has_loader()) return shared;
  const int workers = run.loader().config.num_workers;
  analyzer::PrivateMemory split = analyzer::SplitMemory(*own, anonymous, share, nullptr, workers);
  shared.process = anonymous.process;
  shared.at = std::move(split.at);
  shared.value = std::move(split.shared);
  return shared;
}

}  // namespace

MemoryKind WorkersModel::best() const {
  // Skips a kind that has no curve with this many samples.
  for (const MemoryKind kind : kMemoryKinds) {
    for (const MemoryCurve& curve : Of(kind)) {
      if (curve.curve.at.size() >= kFewSamples) return kind;
    }
  }
  return MemoryKind::kRss;
}

double WorkersModel::alike(MemoryKind kind) const {
  constexpr double kApart = 1.01;  // a line of the plot is about as thick
  const std::vector<MemoryCurve>& curves = Of(kind);
  if (curves.size() < 2) return 0;
  double low = curves.front().curve.low;
  double high = curves.front().curve.high;
  for (const MemoryCurve& curve : curves) {
    low = std::min(low, curve.curve.low);
    high = std::max(high, curve.curve.high);
  }
  return high <= kApart * low ? (low + high) / 2 : 0;
}

double WorkersModel::last_sample(MemoryKind kind) const {
  double last = shared.empty() ? 0 : shared.at.back();
  for (const MemoryCurve& curve : Of(kind)) {
    if (!curve.curve.empty()) last = std::max(last, curve.curve.at.back());
  }
  return last;
}

Text WhyNoWorkers(const analyzer::RunModel& run) {
  if (!run.has_loader()) return Text::kNoBatches;
  const analyzer::LoaderConfig& config = run.loader().config;
  if (MakesItself(config)) return Text::kNoWorkersButLoop;
  if (config.workers_known) return Text::kNoWorkerSeen;
  return run.collected ? Text::kWorkersUnreported : Text::kNeedsRecord;
}

WorkersModel BuildWorkers(const traces::Trace& trace, const Analysis& analysis,
                          const Analysis& whole) {
  WorkersModel model;
  const analyzer::RunModel& run = analysis.report.diagnosis.run;
  model.ranks = BuildRanks(analysis.report);
  model.shared_size = static_cast<double>(run.machine().shm_size.value);
  // Without workers the training process makes the batches. LoaderRun::workers then holds that
  // process, which is not shown as a worker.
  if (run.has_loader() && !MakesItself(run.loader().config)) {
    const auto startups = StartupsOf(run.loader());
    for (const WorkerRun& worker : run.loader().workers) {
      model.workers.push_back(LineOf(trace, worker, startups));
    }
    Compare(run.loader(), model);
  }
  // Counters of a part of a run count time from the begin of the part; curves count from the begin
  // of the trace.
  const auto curve_of = [&](const CounterSeries& series) {
    Curve curve = CurveOf(series, 1);
    for (double& at : curve.at) at += analysis.from;
    return curve;
  };
  for (std::size_t k = 0; k < kCounters.size(); ++k) {
    for (const CounterSeries& counter : run.counters) {
      if (counter.name != kCounters[k]) continue;
      if (counter.process.value >= trace.processes().size()) continue;
      const CounterSeries series = Alive(counter, run);
      const traces::ProcessInfo& process = trace.processes()[series.process.value];
      for (WorkerLine& line : model.workers) {
        const bool better = line.memory < 0 || !line.curve_known;
        if (line.process == series.process.value && better)
          FillMemory(series, kMemoryKinds[k], line);
      }
      if (series.at.size() < 2) continue;
      model.memory[k].push_back({series.process.value, process.worker_id,
                                 process.role == wire::kRoleConsumer, process.comm,
                                 curve_of(series)});
      MemoryCurve& added = model.memory[k].back();
      added.gap = analyzer::Median(GapsOf(series));
      if (!(analysis.from > 0)) added.from = series.at.front();
    }
    DropSmallHelpers(trace, model.memory[k]);
  }
  if (const auto& loader = analysis.report.diagnosis.loader) {
    for (WorkerLine& line : model.workers) FillGrowth(loader->memory, line);
  }
  for (const CounterSeries& counter : run.counters) {
    if (counter.name != "anonymous_bytes" || counter.process.value >= trace.processes().size()) {
      continue;
    }
    const CounterSeries series = SharedOf(run, Alive(counter, run));
    const traces::ProcessInfo& process = trace.processes()[series.process.value];
    if (series.at.size() < 2 || process.role != wire::kRoleWorker) continue;
    model.memory[static_cast<std::size_t>(MemoryKind::kOfParent)].push_back(
        {series.process.value, process.worker_id, false, process.comm, curve_of(series)});
  }
  for (const CounterSeries& series : run.counters) {
    const bool ours = series.name == "shm_used_bytes" && run.OnOurHost(series.process);
    if (ours && series.at.size() >= 2) model.shared = curve_of(UntilTheEnd(series, run));
  }
  MarkNamesakes(trace, model);
  MarkEpochs(trace, whole, model);
  PutOwnFirst(run, model);
  MarkTrainer(model);
  return model;
}

}  // namespace penstock::gui
