// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/signals.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "analyzer/model/interval_set.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// Share of the wait in which a later batch of the same epoch was finished, but not the batch that
// the loop waited for.
double HeadOfLine(const LoaderRun& run, const SteadyState& steady) {
  double blocked = 0;
  double waited = 0;
  const auto reach = static_cast<std::size_t>(std::max(1, run.config.credits()));
  for (const Epoch& epoch : run.epochs) {
    const std::size_t end = epoch.first + epoch.count;
    for (std::size_t i = epoch.first; i < end; ++i) {
      const Batch& batch = run.batches[i];
      if (!steady.in_window[i] || batch.available() == kNever) continue;
      waited += batch.wait();
      std::int64_t later = std::numeric_limits<std::int64_t>::max();
      for (std::size_t k = i + 1; k < std::min(end, i + reach); ++k) {
        if (run.batches[k].available() != kNever)
          later = std::min(later, run.batches[k].available());
      }
      const std::int64_t until = std::min(batch.delivered, batch.available());
      const std::int64_t from = std::max(batch.wait_start, later);
      if (until > from) blocked += Seconds(TimeNs{until - from});
    }
  }
  return waited > 0 ? std::min(1.0, blocked / waited) : 0;
}

// How busy the workers were in the steady windows. A fetch that was not seen whole counts if its
// delivery lies in a window. A delivery is later than its fetch, but over a whole run this
// difference evens out.
struct Occupation {
  double busy = 0;  // seconds in fetches, summed over the workers
  double time = 0;  // length of the windows in seconds, times the number of workers
};

// By number of the worker: the end of its last recorded fetch. Empty if workers have no numbers.
std::map<std::int32_t, std::int64_t> LastFetches(const LoaderRun& run) {
  std::map<std::int32_t, std::int64_t> last;
  for (const WorkerRun& worker : run.workers) {
    if (worker.worker_id < 0) continue;
    const auto [at, added] = last.try_emplace(worker.worker_id, worker.last);
    if (!added) at->second = std::max(at->second, worker.last);
  }
  return last;
}

// The length of the windows, summed over the workers. In a file that was cut, the time of a worker
// ends with its last recorded fetch: the fetches that the file has lost are no idle time.
double WorkersTime(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  double time = 0;
  if (const auto last = LastFetches(run); model.cut && !last.empty()) {
    for (const auto& [worker, end] : last) {
      if (end == kNever) continue;  // none of its fetches was seen whole
      for (const auto& [from, to] : steady.windows) {
        time += Seconds(TimeNs{std::max<std::int64_t>(0, std::min(to, end) - from)});
      }
    }
    return time;
  }
  for (const auto& [from, to] : steady.windows) time += Seconds(TimeNs{to - from});
  return time * run.config.num_workers;
}

Occupation OccupationOf(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  Occupation found;
  found.time = WorkersTime(model, run, steady);
  // In a file that was cut, WorkersTime() has only the fetches that were seen whole.
  const bool whole_alone = model.cut && !LastFetches(run).empty() &&
                           std::any_of(run.batches.begin(), run.batches.end(),
                                       [](const Batch& batch) { return batch.whole; });
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!batch.was_fetched()) continue;
    if (batch.whole && batch.fetch_start != kNever) {
      found.busy += Seconds(TimeNs{Within(steady.windows, batch.fetch_start, batch.fetch_end)});
    } else if (steady.in_window[i] && !whole_alone) {
      found.busy += batch.fetch.wall;
    }
  }
  return found;
}

// Seconds from the request for an iterator to its first batch, less an ordinary wait: the sum over
// all epochs.
double StartupTime(const LoaderRun& run, const SteadyState& steady) {
  const double ordinary = Median(steady.waits);
  double time = 0;
  for (const Epoch& epoch : run.epochs) {
    const Batch& first = run.batches[epoch.first];
    if (epoch.start == kNever || first.key.index != 0) continue;
    time += std::max(0.0, Seconds(TimeNs{first.delivered - epoch.start}) - ordinary);
  }
  return time;
}

}  // namespace

void CountWholeLives(const LoaderRun& run, Signals& signals) {
  double busy = 0;
  double idle = 0;
  double life = 0;
  for (const WorkerRun& worker : run.workers) {
    busy += worker.busy;
    idle += worker.idle;
    life += worker.life();
  }
  if (run.config.num_workers <= 0 || !(busy > 0)) return;
  signals.worker_busy = busy / life;
  signals.worker_idle = idle / life;
}

Signals MeasureSignals(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  Signals signals;
  if (run.batches.empty()) return signals;
  double wall = 0;
  double cpu = 0;
  std::vector<double> services;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || !batch.was_fetched()) continue;
    services.push_back(batch.fetch.wall);
    if (!batch.cpu_known) continue;
    wall += batch.fetch.wall;
    cpu += batch.fetch.cpu;
  }
  const Occupation workers = OccupationOf(model, run, steady);
  if (workers.time > 0) {
    signals.worker_busy = std::min(1.0, workers.busy / workers.time);
    double idle = 0;
    for (const WorkerRun& worker : run.workers) idle += worker.idle;
    idle /= std::max(1e-9, model.duration() * run.config.num_workers);
    signals.worker_idle = std::min(1 - signals.worker_busy, idle);
    signals.head_of_line = HeadOfLine(run, steady);
  }
  if (cpu > 0) signals.wall_per_cpu = wall / cpu;
  signals.batch_variation = Summarize(services).variation();
  signals.startup_time = StartupTime(run, steady);
  std::int64_t first = run.batches.front().wait_start;
  if (!run.epochs.empty() && run.epochs.front().start != kNever) {
    first = std::min(first, run.epochs.front().start);
  }
  const double whole = Seconds(TimeNs{run.batches.back().delivered - first});
  if (whole > 0) signals.startup = std::min(1.0, signals.startup_time / whole);
  return signals;
}

}  // namespace penstock::analyzer
