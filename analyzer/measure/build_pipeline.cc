// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/build_pipeline.h"

#include <algorithm>
#include <utility>

#include "analyzer/measure/contention.h"
#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/corrections.h"
#include "analyzer/measure/recorded_costs.h"
#include "analyzer/measure/steps.h"

namespace penstock::analyzer {
namespace {

Pipeline SettingsOf(const RecordedRun& recorded, const CpuLoad& load) {
  const LoaderConfig& config = recorded.run.config;
  const Handover& handover = recorded.handover;
  Pipeline pipeline;
  pipeline.workers = config.num_workers;
  pipeline.prefetch = std::max(1, config.prefetch_factor);
  pipeline.cores = load.own_cores;
  pipeline.others = load.others * load.own_cores / load.cores;
  pipeline.crowded = load.crowded;
  pipeline.overhead = handover.overhead;
  pipeline.feed_share = handover.put_share;
  pipeline.get_share = handover.get_share;
  pipeline.asking = handover.asking;
  if (handover.preempted) pipeline.preempted = *handover.preempted;
  pipeline.pin_thread = handover.threaded;
  pipeline.in_order = config.in_order;
  pipeline.sample_tasks = config.sample_tasks;
  // The reference loader has memory for one more batch, which the training loop holds.
  if (pipeline.sample_tasks) ++pipeline.prefetch;
  return pipeline;
}

Pipeline PipelineOf(const RecordedRun& recorded, const CpuLoad& load) {
  Pipeline pipeline = SettingsOf(recorded, load);
  RecordedCosts costs = RecordedCostsOf(recorded, load, pipeline.sample_tasks);
  pipeline.epochs = std::move(costs.epochs);
  ApplyCorrections(MakeCorrectionInput(recorded, load, costs.charged, pipeline), pipeline);
  return pipeline;
}

// `pipeline` is built without the waiting that the kernel counts as waiting for cores. If its
// replay is faster than the recording, a part of this waiting must stay. Then returns `load` with
// less waiting for cores, otherwise `load` itself.
CpuLoad KeepWakeUps(const RecordedRun& recorded, const CpuLoad& load, const Pipeline& pipeline) {
  if (recorded.run.use == LoopUse::kInterleaved) return load;  // other loaders shared the cores
  const bool processes = pipeline.workers > 0 && !pipeline.sample_tasks;
  if (!processes || !load.delays_known || !load.known) return load;
  const MakingReplay replay(pipeline, RecordedMaking(recorded));
  if (!(replay.recorded() > 0)) return load;
  const double missed = 1 - replay.Simulated([](Pipeline&) {}) / replay.recorded();
  const double kept =
      WakeUpToKeep(load, missed, CoreWaitShare(recorded.run, recorded.steady, load));
  CpuLoad less = load;
  if (kept > 0) {
    less.delayed_reads *= 1 - kept;
    less.delayed_rest *= 1 - kept;
  }
  return less;
}

}  // namespace

Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run, const SteadyState& steady,
                       const CpuLoad& load) {
  const RecordedRun recorded = ReadRecorded(model, run, steady, load);
  Pipeline pipeline = PipelineOf(recorded, load);
  const CpuLoad less = KeepWakeUps(recorded, load, pipeline);
  const bool same =
      less.delayed_reads == load.delayed_reads && less.delayed_rest == load.delayed_rest;
  if (!same) pipeline = PipelineOf(recorded, less);
  if (run.use != LoopUse::kInterleaved && !FeedsDevice(model)) {
    const double delay = (1 - WakeUpPart(load)) * DelayOfSteps(model, run, steady);
    TakeDelayOffSteps(delay, steady.rate.estimate, pipeline);
    // Fewer workers do not make the steps shorter if other programs take the loop's core, or if
    // there are no workers that could take it.
    if (load.crowded || run.config.num_workers == 0) pipeline.step_delay = 0;
  }
  return pipeline;
}

}  // namespace penstock::analyzer
