// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/steps.h"

#include <algorithm>

#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// Makes steps shorter by the fraction `delay`. Their CPU time stays.
void Shorten(double delay, Pipeline& pipeline) {
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) demand.step *= 1 - delay;
  }
  pipeline.step_load = std::min(pipeline.step_load / (1 - delay), pipeline.cores);
}

}  // namespace

bool FeedsDevice(const RunModel& model) {
  return model.device.kernels() || model.stages[traces::StageId::kH2d].count > 0;
}

bool ReadsBatches(const RunModel& model, const Pipeline& pipeline) {
  constexpr double kComputes = 0.3;  // cores
  const bool computes = pipeline.step_load_known && pipeline.step_load >= kComputes;
  return computes || model.stages[traces::StageId::kH2d].count > 0;
}

double TransformsInSteps(const LoaderRun& run, const SteadyState& steady) {
  double transforms = 0;
  double steps = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || steady.paused[i]) continue;
    steps += batch.step();
    if (batch.transforms_thread != batch.wait_thread) continue;
    transforms += std::min(batch.transforms.wall, batch.step());
  }
  return steps > 0 ? transforms / steps : 0;
}

double DelayOfSteps(const RunModel& model, const LoaderRun& run, const SteadyState& steady) {
  constexpr double kMost = 0.9;
  constexpr double kEnoughSeconds = 1;  // some ten samples of the counter
  double busy = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    const Batch* before = StepBefore(run, steady, i);
    busy += before != nullptr ? before->step() : 0;
    busy += run.config.num_workers == 0 ? run.batches[i].wait() : 0;
  }
  if (!(busy > 0) || !(steady.time > 0)) return 0;
  for (const CounterSeries& series : model.counters) {
    if (series.name != "run_delay_ns" || series.process != run.config.consumer) continue;
    if (series.at.size() < 2) continue;
    const CounterGrowth delay = GrowthWithin(series, steady.windows, model.begin);
    if (delay.seconds < kEnoughSeconds) return 0;
    return std::clamp(delay.value * 1e-9 / delay.seconds * steady.time / busy, 0.0, kMost);
  }
  return 0;
}

void TakeDelayOffSteps(double delay, double rate, Pipeline& pipeline) {
  constexpr double kLeast = 0.01;
  constexpr std::size_t kBatches = 1024;
  if (delay < kLeast || !(rate > 0)) return;
  const Pipeline part = Shortened(pipeline, kBatches, 8 * kBatches);
  const auto too_fast = [&](double share) {
    Pipeline shorter = part;
    Shorten(share * delay, shorter);
    return Simulate(shorter).rate() > rate;
  };
  // The largest share of the delay with which the simulation is no faster than the run.
  double low = 0;
  double high = too_fast(low) ? 0 : 1;
  if (!too_fast(high)) low = high;
  for (int step = 0; step < 6 && low < high; ++step) {
    const double middle = 0.5 * (low + high);
    (too_fast(middle) ? high : low) = middle;
  }
  Shorten(low * delay, pipeline);
  pipeline.step_delay = (1 - low) * delay / (1 - low * delay);
}

}  // namespace penstock::analyzer
