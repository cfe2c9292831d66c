// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/signals.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

double SecondsOf(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Share of the wait during which some later batch of the same epoch was there to be taken.
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
      if (until > from) blocked += SecondsOf(until - from);
    }
  }
  return waited > 0 ? std::min(1.0, blocked / waited) : 0;
}

// Time from asking for an iterator to its first batch, less an ordinary wait.
double StartupTime(const LoaderRun& run, const SteadyState& steady) {
  const double ordinary = Median(steady.waits);
  double time = 0;
  for (const Epoch& epoch : run.epochs) {
    const Batch& first = run.batches[epoch.first];
    if (epoch.start == kNever || first.key.index != 0) continue;
    time += std::max(0.0, SecondsOf(first.delivered - epoch.start) - ordinary);
  }
  return time;
}

}  // namespace

Signals MeasureSignals(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  Signals signals;
  if (run.batches.empty()) return signals;
  double busy = 0;
  double wall = 0;
  double cpu = 0;
  std::vector<double> services;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || !batch.was_fetched()) continue;
    busy += batch.fetch.wall;
    services.push_back(batch.fetch.wall);
    if (!batch.cpu_known) continue;
    wall += batch.fetch.wall;
    cpu += batch.fetch.cpu;
  }
  const double time = SecondsOf(steady.to == kNever ? 0 : steady.to - steady.from);
  const int workers = run.config.num_workers;
  if (workers > 0 && time > 0) {
    // Fetches lie ahead of their deliveries by the queue: the ends of the window even out.
    signals.worker_busy = std::min(1.0, busy / (steady.time * workers));
    double idle = 0;
    for (const WorkerRun& worker : run.workers) idle += worker.idle;
    signals.worker_idle = std::min(1.0, idle / (model.duration() * workers));
    signals.head_of_line = HeadOfLine(run, steady);
  }
  if (cpu > 0) signals.wall_per_cpu = wall / cpu;
  signals.batch_variation = Summarize(services).variation();
  signals.startup_time = StartupTime(run, steady);
  std::int64_t first = run.batches.front().wait_start;
  if (!run.epochs.empty() && run.epochs.front().start != kNever) {
    first = std::min(first, run.epochs.front().start);
  }
  const double whole = SecondsOf(run.batches.back().delivered - first);
  if (whole > 0) signals.startup = std::min(1.0, signals.startup_time / whole);
  return signals;
}

}  // namespace penstock::analyzer
