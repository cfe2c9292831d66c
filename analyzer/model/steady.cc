// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/steady.h"

#include <algorithm>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// Below this many intervals a rate is an anecdote: the report says so and lowers its confidence.
constexpr std::size_t kFewestBatches = 16;

// Steps between batches of one epoch. One long step hides others from mean and deviation: those
// that were found are left out, and the rest is looked at again.
std::vector<bool> FindPauses(const LoaderRun& run) {
  std::vector<std::size_t> places;
  std::vector<double> steps;
  std::vector<double> intervals;
  for (const Epoch& epoch : run.epochs) {
    for (std::size_t i = epoch.first; i + 1 < epoch.first + epoch.count; ++i) {
      places.push_back(i);
      steps.push_back(run.batches[i].step());
      intervals.push_back(run.batches[i].step() + run.batches[i].wait());
    }
  }
  // A long step that is shorter than three ordinary turns of the loop is jitter.
  const double jitter = 3 * std::max(Median(steps), Median(std::move(intervals)));
  double limit = 0;
  std::vector<double> ordinary = steps;
  for (std::size_t before = 0; before != ordinary.size();) {
    before = ordinary.size();
    const Summary summary = Summarize(ordinary);
    limit = std::max(summary.mean + 3 * summary.sd, jitter);
    std::erase_if(ordinary, [limit](double step) { return step > limit; });
  }
  const auto is_long = [limit](double step) { return step > limit; };
  // What happens once in twenty steps is part of the rhythm, not an exception; the first steps of a
  // run are, where they compile.
  const auto first = std::find_if_not(steps.begin(), steps.end(), is_long);
  const auto count = static_cast<std::size_t>(std::count_if(first, steps.end(), is_long));
  const bool rhythm = count * 20 > std::max<std::size_t>(steps.size(), 20);
  std::vector<bool> pauses(run.batches.size(), false);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool leads = steps.begin() + static_cast<std::ptrdiff_t>(i) < first;
    pauses[places[i]] = is_long(steps[i]) && (leads || !rhythm);
  }
  return pauses;
}

}  // namespace

double SamplesOf(const LoaderRun& run, const Batch& batch) {
  return static_cast<double>(batch.samples > 0 ? batch.samples : run.samples_per_batch);
}

std::size_t WarmUp(const LoaderConfig& config, std::size_t batches) {
  const auto credits = static_cast<std::size_t>(std::max(0, config.credits()));
  return std::min(credits, batches / 2);
}

SteadyLoop MeasureLoop(const LoaderRun& run) {
  SteadyLoop loop;
  loop.steady.assign(run.batches.size(), false);
  for (const Epoch& epoch : run.epochs) {
    const std::size_t warm = std::max<std::size_t>(1, WarmUp(run.config, epoch.count));
    for (std::size_t i = epoch.first + warm; i < epoch.first + epoch.count; ++i) {
      loop.steady[i] = true;
      loop.time += run.batches[i].wait() + run.batches[i].step();
      loop.wait += run.batches[i].wait();
    }
  }
  return loop;
}

SteadyState FindSteadyState(const LoaderRun& run) {
  SteadyState state;
  state.in_window.assign(run.batches.size(), false);
  state.paused = FindPauses(run);
  std::vector<double> amounts;
  for (const Epoch& epoch : run.epochs) {
    const std::size_t warm = WarmUp(run.config, epoch.count);
    if (epoch.count > warm) {
      const Batch& first = run.batches[epoch.first + (warm > 0 ? warm - 1 : 0)];
      const Batch& last = run.batches[epoch.first + epoch.count - 1];
      state.windows.emplace_back(warm > 0 ? first.delivered : first.wait_start, last.delivered);
    }
    for (std::size_t i = epoch.first + warm; i < epoch.first + epoch.count; ++i) {
      const Batch& batch = run.batches[i];
      const bool follows = i > epoch.first;
      const Batch& before = run.batches[follows ? i - 1 : i];
      double interval = batch.wait() + (follows ? before.step() : 0);
      if (follows && state.paused[i - 1]) {
        const double length = before.step();
        state.pauses.push_back({length, i - 1});
        state.pauses_time += length;
        interval -= length;
      }
      if (!(interval > 0)) continue;
      state.in_window[i] = true;
      state.intervals.push_back(interval);
      state.waits.push_back(batch.wait());
      amounts.push_back(SamplesOf(run, batch));
      state.time += interval;
      state.wait += batch.wait();
      state.samples += amounts.back();
      if (state.from == kNever) state.from = batch.wait_start;
      state.to = batch.delivered;
    }
  }
  // Where no batch follows another, nothing tells how long a turn of the loop takes.
  bool turns = false;
  for (const Epoch& epoch : run.epochs) turns |= epoch.count > 1;
  if (!turns) {
    state.in_window.assign(run.batches.size(), false);
    state.intervals.clear();
    state.waits.clear();
    amounts.clear();
    state.time = state.wait = state.samples = 0;
  }
  state.batches = state.intervals.size();
  state.steady = state.batches >= kFewestBatches;
  BootstrapOptions options;
  options.block = static_cast<std::size_t>(std::max(1, run.config.credits()));
  state.rate = BootstrapRate(amounts, state.intervals, options);
  return state;
}

}  // namespace penstock::analyzer
