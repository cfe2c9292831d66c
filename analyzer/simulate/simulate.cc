// SPDX-License-Identifier: Apache-2.0
#include "analyzer/simulate/simulate.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

// A steady run measures at least this many deliveries. Sample threads share each batch, so batches
// do not come in bursts, and fewer are enough.
constexpr std::size_t kFewestFromWorkers = 128;
constexpr std::size_t kFewestFromThreads = 16;
// Before a steady run measures, it delivers as many batches as there are credits, but at most this
// many.
constexpr std::size_t kMostFilling = 4096;

void Run(const Sequence& sequence, Timeline& timeline) {
  timeline.Clear(sequence.count);
  if (sequence.count == 0) return;
  if (sequence.pipeline.all_workers() == 0) {
    RunSerial(sequence, timeline);
  } else if (sequence.pipeline.sample_tasks) {
    RunThreads(sequence, timeline);
  } else {
    RunWorkers(sequence, timeline);
  }
}

}  // namespace

bool Sequence::ample() const {
  // Threads that may compute at once are each worker and the thread that feeds its queue, the loop,
  // and the pin threads.
  double per_worker = pipeline.sample_tasks ? 1 : 2;
  double loop_and_pins = std::max(1.0, pipeline.step_load);
  for (std::size_t loader = 0; loader <= pipeline.beside.size(); ++loader) {
    loop_and_pins += pipeline.setup(loader).pin_thread ? 1 : 0;
  }
  if (pipeline.device_per_sample > 0) return false;
  const auto workers = static_cast<double>(pipeline.all_workers());
  const auto enough = [&] {
    return pipeline.cores - pipeline.others >= per_worker * workers + loop_and_pins;
  };
  if (!enough() || pipeline.sample_tasks) return enough();
  for (const Demand& demand : epoch.batches) {
    per_worker = std::max(per_worker, 1 + threads(demand, {}));
  }
  return enough();
}

double Sequence::start(std::size_t worker) const {
  const std::vector<double>& known = epoch.worker_start;
  if (known.empty()) return 0;
  const double seen = known[std::min(worker, known.size() - 1)];
  const double more = std::max(1, pipeline.workers) - static_cast<double>(known.size());
  return std::max(0.0, seen + more * epoch.one_more);
}

void Timeline::Clear(std::size_t count) {
  batch.clear();
  entered.clear();
  delivered.clear();
  batch.reserve(count);
  entered.reserve(count);
  delivered.reserve(count);
  end = step_time = making = 0;
}

void RunSerial(const Sequence& sequence, Timeline& timeline) {
  const Pipeline& pipeline = sequence.pipeline;
  // How many times as long computing takes on `threads` threads, beside the threads of other
  // programs.
  const auto slowdown = [&](double threads) {
    return std::max(1.0, (threads + pipeline.others) / pipeline.cores);
  };
  const double slower = slowdown(1);
  const double threads = std::max(1.0, pipeline.step_load);
  const double step_slower = slowdown(threads);
  double now = sequence.start(0);
  for (std::size_t j = 0; j < sequence.count; ++j) {
    const Demand& demand = sequence.at(j);
    const double entered = now;
    const Work first =
        j == 0 ? Work{sequence.epoch.warm_up.service(), sequence.epoch.warm_up.cpu()} : Work{};
    const double making = sequence.threads(demand, first);
    now += demand.service() + first.wall +
           (slowdown(making) - 1) * (demand.cpu() + first.cpu) / making +
           slower * (demand.pin + demand.next);
    timeline.Deliver(j, entered, now);
    const double step = demand.step * (1 + (step_slower - 1) * std::min(1.0, pipeline.step_load));
    now += step + demand.h2d;
    timeline.step_time += step;
  }
  timeline.end = now;
}

Outcome Simulate(const Pipeline& pipeline) {
  Outcome out;
  Timeline timeline;
  for (const EpochDemand& epoch : pipeline.epochs) {
    if (epoch.batches.empty()) continue;
    const Sequence sequence{pipeline, epoch, epoch.batches.size()};
    Run(sequence, timeline);
    out.time += timeline.end + epoch.stop * std::max(0, pipeline.workers);
    out.step_time += timeline.step_time;
    out.making += timeline.making;
    for (std::size_t k = 0; k < timeline.delivered.size(); ++k) {
      const double samples = epoch.batches[timeline.batch[k]].own_samples();
      // Whether the k-th delivery counts depends on the k-th recorded batch, even if another batch
      // is delivered there.
      const bool counted = epoch.batches[k].counted;
      out.samples += samples;
      const double before = k > 0 ? timeline.delivered[k - 1] : timeline.entered[0];
      const double interval = timeline.delivered[k] - before;
      if (!counted || !(interval > 0)) continue;
      out.steady_time += interval;
      out.steady_wait += timeline.delivered[k] - timeline.entered[k];
      out.steady_samples += samples;
    }
  }
  return out;
}

SteadyRun SimulateSteady(const Pipeline& steady) {
  SteadyRun run;
  if (steady.epochs.empty() || steady.epochs.front().batches.empty()) return run;
  const EpochDemand& epoch = steady.epochs.front();
  const std::size_t count = epoch.batches.size();
  // The start no longer matters when all batches that were in flight at the start have been
  // delivered.
  const std::size_t workers = steady.all_workers();
  const std::size_t credits = std::min(steady.credits(), kMostFilling);
  const std::size_t filling = credits + (steady.sample_tasks ? 1 : 2 * workers);
  // Workers deliver in bursts of as many batches as there are workers. So the run must be long
  // enough that one burst more or less does not matter.
  const std::size_t fewest =
      steady.sample_tasks ? kFewestFromThreads : kFewestFromWorkers + 4 * workers;
  run.rounds = (fewest + count - 1) / count;
  const std::size_t counted = run.rounds * count;
  // The run is longer than the measured part, so that the cores stay busy until its last batch.
  const Sequence sequence{steady, epoch, filling + counted + credits};
  Timeline timeline;
  Run(sequence, timeline);
  run.intervals.reserve(counted);
  run.amounts.reserve(counted);
  for (std::size_t k = filling; k < filling + counted; ++k) {
    const double before = k > 0 ? timeline.delivered[k - 1] : timeline.entered[0];
    run.intervals.push_back(timeline.delivered[k] - before);
    run.amounts.push_back(sequence.at(timeline.batch[k]).own_samples());
    run.wait += timeline.delivered[k] - timeline.entered[k];
    run.time += run.intervals.back();
    run.samples += run.amounts.back();
  }
  return run;
}

}  // namespace penstock::analyzer
