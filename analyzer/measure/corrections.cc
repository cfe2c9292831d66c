// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/corrections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/measure/contention.h"
#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/device_steps.h"
#include "analyzer/measure/steps.h"
#include "analyzer/measure/unequal.h"
#include "analyzer/measure/warm_up.h"
#include "analyzer/measure/worker_threads.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// Seconds. The counters of a shorter run are too coarse to show threads that spans do not show.
constexpr double kTellingTime = 2;

const LoaderConfig& ConfigOf(const CorrectionInput& input) {
  return input.recorded.run.config;
}

bool Tells(const CorrectionInput& input) {
  return input.recorded.steady.time >= kTellingTime;
}

bool Always(const CorrectionInput& /*input*/, const Pipeline& /*pipeline*/) {
  return true;
}

// Threads that fill batches together take samples as they come. So none of them counts as slow, and
// they have no first batch of their own.
bool MakesWholeBatches(const CorrectionInput& /*input*/, const Pipeline& pipeline) {
  return !pipeline.sample_tasks;
}

bool SharesStorage(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  const ReadCosts& reads = input.recorded.model.reads;
  return reads.shared || reads.turns.taken();
}

// Gives steps that were pauses the length of an ordinary step, because the steady window leaves
// pauses out. This includes pauses before the window: a first step that compiles happens once. The
// copies in such a step may be what made it long, so they get at most an ordinary length too.
void SmoothPauses(const CorrectionInput& input, Pipeline& pipeline) {
  const std::vector<Demand*> demands = BatchesOf(pipeline);
  std::vector<double> copies;
  for (const Demand* demand : demands) copies.push_back(demand->h2d);
  const double usual_step = UsualStep(input.recorded.run);
  const double usual_copy = Median(std::move(copies));
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (!input.recorded.steady.paused[i]) continue;
    Demand& paused = *demands[i];
    paused.h2d = std::min(paused.h2d, usual_copy);
    paused.step = std::max(0.0, usual_step - paused.h2d);
  }
  // The step after the last batch of an epoch leads to the next epoch, and is not part of the loop.
  for (EpochDemand& epoch : pipeline.epochs) {
    Demand& last = epoch.batches.back();
    last.h2d = std::min(last.h2d, usual_copy);
    last.step = std::min(last.step, std::max(0.0, usual_step - last.h2d));
  }
}

bool KnowsConsumer(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  return input.account.consumer && input.account.step > 0;
}

// CPU seconds of the dataset's own threads in the training process, as far as they were recorded.
double SeenThreads(const CorrectionInput& input) {
  const LoaderRun& run = input.recorded.run;
  return run.threads_cpu * input.account.batches / static_cast<double>(run.batches.size());
}

// CPU seconds of the training process that neither the loader nor the dataset's threads used. If
// the process makes its batches itself, the result is at most the recorded CPU time in its steps.
// The reason: threads of a library's pool also spin for a while after they have helped with a
// sample.
// Requires: KnowsConsumer().
double OutsideOfLoader(const CorrectionInput& input, const Pipeline& pipeline) {
  const CpuAccount& account = input.account;
  // Threads that make samples in the training process also compute between two samples.
  const double between = pipeline.sample_tasks ? pipeline.overhead * account.samples : 0;
  const double outside = std::max(0.0, *account.consumer * input.recorded.steady.time -
                                           account.transfer - between - SeenThreads(input));
  const bool here = ConfigOf(input).num_workers == 0;
  return here && account.in_steps ? std::min(outside, *account.in_steps) : outside;
}

void SetLoadOfSteps(const CorrectionInput& input, Pipeline& pipeline) {
  SetStepLoad(OutsideOfLoader(input, pipeline), input.account.step, input.recorded.steady.time,
              pipeline);
}

// Cores that a step may keep busy.
double CoresOfStep(const Pipeline& pipeline) {
  return pipeline.step_load_known ? pipeline.cores : std::min(1.0, pipeline.cores);
}

// Whether the loop makes its batches itself, and its thread waits during a tenth of the fetches or
// more, reads aside. The loop's thread then waits for threads of the dataset. If it does not wait,
// the other threads belong to a library's pool (OpenMP), whose threads share the work and spin.
// Source: ours.
bool WaitsForThreads(const CorrectionInput& input) {
  constexpr double kLeastWaiting = 0.1;
  const CpuAccount& account = input.account;
  return ConfigOf(input).num_workers == 0 && account.fetched > 0 &&
         account.waited >= kLeastWaiting * account.fetched;
}

// CPU seconds for each batch that a pool beside the fetching thread uses while batches are made.
double PoolOf(const CorrectionInput& input) {
  const CpuAccount& account = input.account;
  if (!account.in_next || !(account.batches > 0)) return 0;
  const double beside = *account.in_next - account.here - SeenThreads(input);
  return beside > kLeastOfThreads * account.here ? beside / account.batches : 0;
}

bool HasPool(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  return ConfigOf(input).num_workers == 0 && !WaitsForThreads(input) && PoolOf(input) > 0;
}

// CPU seconds for each batch that threads of the dataset must have computed, although they were not
// seen to decode. This is the larger of two values. One is the CPU time of the training process
// beyond the most that its steps can use. The other is its CPU time in next() beyond the loader's
// own.
double ThreadsUnseen(const CorrectionInput& input, const Pipeline& pipeline) {
  constexpr double kLeast = 0.2;  // share of all that the process computes (ours)
  if (!WaitsForThreads(input) || !Tells(input) || !KnowsConsumer(input, pipeline)) return 0;
  const CpuAccount& account = input.account;
  double beyond = OutsideOfLoader(input, pipeline) - CoresOfStep(pipeline) * account.step;
  if (account.in_next) {
    beyond = std::max(beyond, *account.in_next - account.transfer - SeenThreads(input));
  }
  const double whole = *input.account.consumer * input.recorded.steady.time;
  return beyond < kLeast * whole ? 0 : beyond / input.account.batches;
}

// CPU seconds that other threads and processes compute for each batch.
double Beside(const CorrectionInput& input, const Pipeline& pipeline) {
  if (!(input.account.batches > 0)) return 0;
  const LoaderRun& run = input.recorded.run;
  const double time = input.recorded.steady.time;
  double beside = Tells(input) ? input.load.helpers * time / input.account.batches : 0;
  if (run.config.num_workers == 0) {
    beside += run.threads_cpu / static_cast<double>(run.batches.size());
  }
  return beside + ThreadsUnseen(input, pipeline);
}

bool HasHelpers(const CorrectionInput& input, const Pipeline& pipeline) {
  return Beside(input, pipeline) > 0;
}

void AddHelpers(const CorrectionInput& input, Pipeline& pipeline) {
  AddThreadsBeside(Beside(input, pipeline), pipeline);
}

bool KnowsWorkers(const CorrectionInput& input, const Pipeline& pipeline) {
  return input.account.batches > 0 && input.account.workers && pipeline.workers > 0;
}

// Seconds that a worker takes for a batch on average.
double MeanService(const Pipeline& pipeline) {
  double service = 0;
  double batches = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      if (!demand.counted) continue;
      service += demand.service();
      batches += 1;
    }
  }
  return batches > 0 ? service / batches : 0;
}

// CPU seconds for each batch that a worker uses outside of its fetches: in its queue's thread, and
// in further threads. CPU time beyond the queue's spans counts as the queue's if it is small: at
// most a tenth of the fetches' CPU time, if the workers were seen to have further threads. If they
// were not, at most half of it, or a tenth of the time that the fetches last: a batch that only
// sleeps uses so little CPU time that the queue's may exceed it.
struct OutsideFetch {
  double queue = 0;
  double threads = 0;
};
// Requires: KnowsWorkers().
OutsideFetch MeasureOutsideFetch(const CorrectionInput& input, const Pipeline& pipeline) {
  const CpuAccount& account = input.account;
  const double fetch = account.fetch / account.batches;
  const double most_of_queue = account.further_threads  // ours, all three
                                   ? kLeastOfThreads * fetch
                                   : std::max(0.5 * fetch, kLeastOfThreads * MeanService(pipeline));
  const double all = *account.workers * input.recorded.steady.time;
  const double outside = std::max(0.0, (all - account.fetch) / account.batches);
  const double handing = account.put / account.batches + pipeline.overhead;
  const bool threads = outside - handing > most_of_queue;
  return threads ? OutsideFetch{handing, outside - handing} : OutsideFetch{outside, 0};
}

void MeasureQueues(const CorrectionInput& input, Pipeline& pipeline) {
  pipeline.worker_cpu = MeasureOutsideFetch(input, pipeline).queue;
}

bool HasWorkerThreads(const CorrectionInput& input, const Pipeline& pipeline) {
  return KnowsWorkers(input, pipeline) && MeasureOutsideFetch(input, pipeline).threads > 0;
}

void AddThreadsOfWorkers(const CorrectionInput& input, Pipeline& pipeline) {
  const double threads = MeasureOutsideFetch(input, pipeline).threads;
  pipeline.others = 0;  // the workers' own threads wanted the cores, not other programs
  pipeline.crowded = false;
  const RecordedRun& recorded = input.recorded;
  AddWorkerThreads(recorded.run, recorded.steady, threads, RecordedMaking(recorded), pipeline);
}

// Whether waiting for cores must be removed here. If other programs crowd the machine, they are
// simulated instead. The slowdown of decoding shows how many they are.
bool RemovesCoreWaits(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  return !input.load.delays_known && !input.load.crowded && ContentionBySaturation(input.load) > 0;
}

bool FeedsNoDevice(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  return !FeedsDevice(input.recorded.model);
}

bool IsMainLoader(const CorrectionInput& input, const Pipeline& /*pipeline*/) {
  const RecordedRun& recorded = input.recorded;
  return recorded.model.has_loader() && &recorded.run == &recorded.model.loader();
}

constexpr std::array kCorrections = {
    Correction{"storage-turns", SharesStorage,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 ShareStorage(input.recorded.model, input.recorded.run, pipeline);
               }},
    Correction{"first-batches", MakesWholeBatches,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 SetWarmUpApart(input.recorded.run, input.recorded.steady, input.charged, pipeline);
               }},
    Correction{"slow-workers", MakesWholeBatches,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 SetSlowWorkersApart(input.recorded.run, input.recorded.steady, pipeline);
               }},
    Correction{"pauses", Always, SmoothPauses},
    Correction{"loop-transforms", FeedsNoDevice,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 pipeline.step_transforms =
                     TransformsInSteps(input.recorded.run, input.recorded.steady);
               }},
    Correction{"step-load", KnowsConsumer, SetLoadOfSteps},
    Correction{"pool", HasPool,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 pipeline.pool_cpu = PoolOf(input);
               }},
    Correction{"helpers", HasHelpers, AddHelpers},
    Correction{"worker-queues", KnowsWorkers, MeasureQueues},
    Correction{"worker-threads", HasWorkerThreads, AddThreadsOfWorkers},
    Correction{"thread-stages", MakesWholeBatches,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 ShareWaitForThreads(input.recorded, pipeline);
               }},
    Correction{"core-waits", RemovesCoreWaits,
               [](const CorrectionInput& input, Pipeline& pipeline) {
                 ScaleWaiting(pipeline, GenuineWaiting(pipeline, RecordedMaking(input.recorded)));
               }},
    Correction{"device-steps", IsMainLoader, [](const CorrectionInput& input, Pipeline& pipeline) {
                 const RecordedRun& recorded = input.recorded;
                 UseDevice(recorded.run, recorded.model.device, recorded.steady, pipeline);
               }}};

CorrectionEffect Sum(std::string_view name, const Pipeline& pipeline) {
  CorrectionEffect sum{name};
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      sum.making += demand.service();
      sum.cpu += demand.cpu();
      sum.steps += demand.step + demand.h2d;
    }
  }
  return sum;
}

}  // namespace

CorrectionInput MakeCorrectionInput(const RecordedRun& recorded, const CpuLoad& load,
                                    std::span<const double> charged, const Pipeline& pipeline) {
  const LoaderRun& run = recorded.run;
  const SteadyState& steady = recorded.steady;
  CpuAccount account;
  double in_steps = 0;
  double in_next = 0;
  double timed_steps = 0;  // seconds
  double timed = 0;        // batches
  std::size_t i = 0;       // index into run.batches
  for (const EpochDemand& epoch : pipeline.epochs) {
    for (const Demand& demand : epoch.batches) {
      const std::size_t at = i++;
      if (!steady.in_window[at]) continue;
      const Batch& batch = run.batches[at];
      // The processes' counters include fetches whose spans were lost.
      const Batch& source = run.batches[recorded.sources[at]];
      const ProcessId maker{static_cast<std::uint32_t>(source.worker_process)};
      const bool here = maker == batch.consumer;
      account.fetch += here ? 0 : source.fetch.cpu;
      account.put += demand.put + pipeline.feed_share * demand.feed;
      account.transfer += pipeline.get_share * demand.get + demand.next + batch.pin.cpu +
                          (here ? source.fetch.cpu : 0);
      if (const Batch* before = StepBefore(run, steady, at)) {
        account.step += before->step();
        in_steps += std::max(0.0, before->step_cpu);
        timed_steps += before->step_cpu >= 0 ? before->step() : 0;
      }
      if (here) {
        account.here += source.fetch.cpu;
        const double waiting = std::max(0.0, source.fetch.wall - source.fetch.cpu);
        account.waited +=
            waiting - std::min(waiting, std::max(0.0, source.read.wall - source.read.cpu));
        account.fetched += source.fetch.wall;
      }
      in_next += std::max(0.0, batch.next_cpu);
      timed += batch.next_cpu >= 0 ? 1 : 0;
      account.samples += static_cast<double>(batch.sample_costs);
      account.batches += 1;
    }
  }
  constexpr double kMostly = 0.9;
  if (timed > 0 && timed >= kMostly * account.batches) {
    account.in_next = in_next * account.batches / timed;
  }
  if (timed_steps > 0 && timed_steps >= kMostly * account.step) {
    account.in_steps = in_steps * account.step / timed_steps;
  }
  if (account.batches > 0) {
    account.consumer = CpuInWindows(recorded.model, steady, wire::kRoleConsumer);
    // If the loop uses several loaders together, only the workers of this one count.
    account.workers = run.use == LoopUse::kInterleaved
                          ? WorkersCpuInWindows(recorded.model, run, steady)
                          : CpuInWindows(recorded.model, steady, wire::kRoleWorker);
    account.further_threads = HaveFurtherThreads(recorded.model, run, steady);
  }
  return {recorded, load, charged, account};
}

std::span<const Correction> Corrections() {
  return kCorrections;
}

std::vector<CorrectionEffect> ApplyCorrections(const CorrectionInput& input, Pipeline& pipeline) {
  std::vector<CorrectionEffect> effects;
  CorrectionEffect before = Sum("", pipeline);
  for (const Correction& correction : Corrections()) {
    if (!correction.applies(input, pipeline)) continue;
    correction.apply(input, pipeline);
    const CorrectionEffect after = Sum(correction.name, pipeline);
    effects.push_back({correction.name, after.making - before.making, after.cpu - before.cpu,
                       after.steps - before.steps});
    before = after;
  }
  return effects;
}

void SetStepLoad(double outside, double step, double time, Pipeline& pipeline) {
  constexpr double kLeast = 0.05;
  pipeline.step_load_known = step >= kLeast * time;
  pipeline.step_load = step > 0 ? std::min(outside / step, CoresOfStep(pipeline)) : 0;
}

}  // namespace penstock::analyzer
