// SPDX-License-Identifier: Apache-2.0
//
// How long threads waited for a core: as the kernel counts it, and as it is guessed without the
// kernel's count.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/measure/build_pipeline.h"
#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/steps.h"
#include "analyzer/report/phrases.h"
#include "analyzer/simulate/simulate.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// Four workers on two cores. A batch takes 40 ms to decode, of which 10 ms are CPU time, and 8 ms
// to read. So it waits for 38 ms. `delays`: how many of these the kernel counts as waiting for a
// core. `spared`: decoding computes all the time. `process`: if given, milliseconds of CPU time
// that each batch costs its worker, which then has eight threads.
Diagnosis Crowd(double delays, bool counted = true, Costs costs = {8, 40, 0, 0, 0.1, 0.3, 1, 0},
                bool spared = false, double process = 0) {
  Synthetic run;
  run.workers = 4;
  run.cores = 2;
  run.cpu_share = 0.25;
  run.costs = testing::Always(costs);
  traces::TraceData data = testing::MakeSynthetic(run);
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (spared && span.stage == traces::StageId::kDecode) span.cpu = span.duration;
    }
  }
  if (!counted) return Diagnose(*traces::MakeTrace(std::move(data)));
  for (std::uint32_t p = 0; p < data.processes.size(); ++p) {
    if (data.processes[p].worker_id < 0) continue;
    for (int i = 0; i <= 50; ++i) {  // a value for each batch
      testing::AddCounter(data, "run_delay_ns", p, 1000 + 48.0 * i, delays * 1e6 * i);
      if (process > 0) {
        testing::AddCounter(data, "cpu_ns", p, 1000 + 48.0 * i, process * 1e6 * i);
        testing::AddCounter(data, "threads", p, 1000 + 48.0 * i, 8);
      }
    }
  }
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

Demand DemandOf(const Diagnosis& diagnosis) {
  return diagnosis.loader->pipeline.epochs.front().batches[100];
}

// The step and one worker share one core. Each batch takes 10 ms of CPU time in the step and 6 ms
// in the worker.
Pipeline OnOneCore(double step) {
  Pipeline pipeline;
  pipeline.workers = 1;
  pipeline.cores = 1;
  pipeline.step_load = 10e-3 / step;
  pipeline.step_load_known = true;
  Demand demand;
  demand.decode = {6e-3, 6e-3};
  demand.step = step;
  pipeline.epochs.emplace_back().batches.assign(200, demand);
  pipeline.epochs.front().worker_start = {0};
  return pipeline;
}

TEST(StepDelayTest, WhatTheSimulationAddsAgainIsTakenOff) {
  const double rate = Simulate(OnOneCore(10e-3)).rate();
  Pipeline recorded = OnOneCore(1 / rate);  // the worker used the rest of the core's time
  TakeDelayOffSteps(1 - 10e-3 * rate, rate, recorded);
  EXPECT_NEAR(recorded.epochs.front().batches.front().step, 10e-3, 0.5e-3);
  EXPECT_NEAR(Simulate(recorded).rate() / rate, 1, 0.02);
}

TEST(StepDelayTest, WhatOtherProgramsTookStays) {
  Pipeline recorded = OnOneCore(40e-3);
  const double rate = Simulate(recorded).rate();
  TakeDelayOffSteps(0.5, rate, recorded);
  EXPECT_NEAR(recorded.epochs.front().batches.front().step, 40e-3, 1e-3);
}

// The loop waited for its core during half of its steps. This is longer than the simulator says.
TEST(StepDelayTest, TheRestGoesWithTheLastWorker) {
  Pipeline recorded = OnOneCore(40e-3);
  TakeDelayOffSteps(0.5, Simulate(recorded).rate(), recorded);
  EXPECT_NEAR(recorded.step_delay, 0.5, 0.02);
  Setting setting;
  setting.workers = 1;
  EXPECT_NEAR(Apply(recorded, setting, {}).epochs.front().batches.front().step, 40e-3, 1e-3);
  setting.workers = 0;
  const Pipeline none = Apply(recorded, setting, {});
  EXPECT_NEAR(none.epochs.front().batches.front().step, 20e-3, 1e-3);
  EXPECT_NEAR(none.step_load, 0.5, 0.02);
}

TEST(StepDelayTest, IsTheLoopsOwnAccount) {
  Synthetic run;
  run.batches = 400;
  run.costs = testing::Always({1, 4, 2, 0.5, 0.1, 0.3, 10, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::uint32_t p = 0; p < data.processes.size(); ++p) {
    const double share = data.processes[p].worker_id < 0 ? 0.3 : 0.9;
    for (int i = 0; i <= 100; ++i) {
      testing::AddCounter(data, "run_delay_ns", p, 1000 + 50.0 * i, share * 50e6 * i);
    }
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  const SteadyState steady = FindSteadyState(model.loader());
  EXPECT_NEAR(DelayOfSteps(model, model.loader(), steady), 0.3, 0.05);
}

// Decoding takes four times its CPU time, but a batch waits only 2 of 38 ms for a core.
TEST(CoreWaitTest, ADecoderThatWaitsForItsOwnThreadsIsNotKeptFromACore) {
  EXPECT_LT(Crowd(2).loader->cpu.decode_slowdown, 1.3);
  EXPECT_FALSE(Crowd(2).loader->cpu.crowded);
  EXPECT_NEAR(Crowd(30).loader->cpu.decode_slowdown, 4, 0.2);
}

// The cores are taken by further threads of the workers, not by other programs.
TEST(CoreWaitTest, WorkersThatComputeWithThreadsCrowdThemselves) {
  const Costs decoding{8, 40, 0, 0, 0.1, 0.3, 1, 0};
  EXPECT_TRUE(Crowd(30, true, decoding, false, 10.5).loader->cpu.crowded);
  const Diagnosis threaded = Crowd(30, true, decoding, false, 14);
  EXPECT_TRUE(threaded.loader->cpu.threaded);
  EXPECT_FALSE(threaded.loader->cpu.crowded);
  EXPECT_GT(threaded.loader->cpu.core_wait, 0.5);
}

TEST(CoreWaitTest, WakingUpOnAFreeCoreStays) {
  CpuLoad load;
  load.known = load.delays_known = true;
  load.cores = 2;
  load.used = 0.6;
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.1, 0.2), 0.5);  // the replay lacks half of what was taken
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.3, 0.2), 1);    // at most all of it is kept
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, -0.1, 0.2), 0);
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.1, 0), 0);
  load.used = 1.25;
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.1, 0.2), 0.25);
  load.used = 1.6;
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.1, 0.2), 0);
  load.used = 0.6;
  load.crowded = true;
  EXPECT_DOUBLE_EQ(WakeUpToKeep(load, 0.1, 0.2), 0);
}

// A machine with 16 cores for two workers: nobody competes for them.
TEST(CoreWaitTest, AReplayOnFreeCoresTakesAsLongAsTheRecording) {
  Synthetic run;
  run.workers = 2;
  run.cores = 16;
  run.cpu_share = 0.25;
  run.costs = testing::Always({20, 20, 0, 0, 0.1, 0.3, 1, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::uint32_t p = 0; p < data.processes.size(); ++p) {
    if (data.processes[p].worker_id < 0) continue;
    for (int i = 0; i <= 50; ++i) {  // 6 of a batch's 40 ms pass between waking up and running
      testing::AddCounter(data, "run_delay_ns", p, 1000 + 40.0 * i, 6e6 * i);
    }
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(diagnosis.loader->cpu.delays_known);
  EXPECT_GT(diagnosis.loader->cpu.core_wait, 0.05);
  EXPECT_NEAR(diagnosis.loader->replay.simulated, diagnosis.loader->replay.measured,
              0.02 * diagnosis.loader->replay.measured);
}

// Process 0 trains, and has threads that make batches. Its counters count for the loop only.
TEST(CoreWaitTest, CountersOfTheLoopAreNotThoseOfWorkers) {
  for (const std::uint32_t process : {0U, 1U}) {
    RunModel model;
    model.roles = {wire::kRoleConsumer, wire::kRoleWorker};
    for (const char* name : {"run_delay_ns", "cpu_ns", "threads"}) {
      model.counters.push_back({name, ProcessId{process}, {0, 10}, {8, 1e9}});
    }
    LoaderRun run;
    run.config.num_workers = 1;
    run.config.consumer = ProcessId{0};
    WorkerRun worker;
    worker.process = ProcessId{process};
    worker.seen = worker.first = 0;
    run.workers.push_back(worker);
    Batch batch;
    batch.worker_process = static_cast<std::int32_t>(process);
    batch.fetch_start = 0;
    batch.fetch_end = testing::Ms(40).value;
    batch.fetch = {40e-3, 10e-3};
    batch.cpu_known = true;
    run.batches.push_back(batch);
    SteadyState steady;
    steady.in_window = {true};
    steady.windows = {{0, testing::Ms(10'000).value}};
    const bool apart = process == 1;
    EXPECT_EQ(MeasureCpuLoad(model, run, steady).delays_known, apart);
    EXPECT_EQ(WorkersCpuInWindows(model, run, steady).has_value(), apart);
    EXPECT_EQ(HaveFurtherThreads(model, run, steady), apart);
  }
}

TEST(CoreWaitTest, IsTakenOffComputingFirst) {
  const Diagnosis diagnosis = Crowd(30);
  ASSERT_TRUE(diagnosis.loader->cpu.delays_known);
  EXPECT_NEAR(diagnosis.loader->cpu.core_wait, 30.0 / 48, 0.02);
  EXPECT_NEAR(DemandOf(diagnosis).decode.wall, 10e-3, 1e-3);
  EXPECT_NEAR(DemandOf(diagnosis).read.wall, 8e-3, 1e-3);
  const std::string loader = English(LoaderOf(diagnosis));
  EXPECT_NE(loader.find("wait for a core"), std::string::npos) << loader;
}

TEST(CoreWaitTest, WhatIsLeftIsTakenOffReads) {
  const Diagnosis diagnosis = Crowd(34);
  EXPECT_NEAR(DemandOf(diagnosis).decode.wall, 10e-3, 1e-3);
  EXPECT_NEAR(DemandOf(diagnosis).read.wall, 4e-3, 1e-3);
}

// More cores do not shorten waiting for a lock or a sleep, however busy the machine is.
TEST(CoreWaitTest, WaitingForSomethingElseStays) {
  const Diagnosis diagnosis = Crowd(0);
  ASSERT_TRUE(diagnosis.loader->cpu.delays_known);
  EXPECT_NEAR(DemandOf(diagnosis).decode.wall, 40e-3, 1e-3);
  EXPECT_EQ(English(LoaderOf(diagnosis)).find("wait for a core"), std::string::npos);
}

TEST(CoreWaitTest, IsGuessedWhereItWasNotRecorded) {
  const Diagnosis diagnosis = Crowd(0, false);
  EXPECT_FALSE(diagnosis.loader->cpu.delays_known);
  EXPECT_LT(DemandOf(diagnosis).decode.wall, 39e-3);
}

// If a run does not decode, waits for a core in the kernel's count show that other programs run,
// unless workers hardly compute.
TEST(CoreWaitTest, TellsOfOtherProgramsWithoutDecoding) {
  const Costs computing{8, 0, 40, 0, 0.1, 0.3, 1, 0};
  EXPECT_TRUE(Crowd(30, true, computing).loader->cpu.crowded);
  // Decoding is one part of the batch. By chance it may hardly wait while the other parts do.
  const Costs both{0, 8, 40, 0, 0.1, 0.3, 1, 0};
  EXPECT_LT(Crowd(30, true, both, true).loader->cpu.decode_slowdown, 1.3);
  EXPECT_TRUE(Crowd(30, true, both, true).loader->cpu.crowded);
  EXPECT_FALSE(Crowd(5, true, both, true).loader->cpu.crowded);
  const Costs waiting{46, 0, 2, 0, 0.1, 0.3, 1, 0};
  EXPECT_FALSE(Crowd(1, true, waiting).loader->cpu.crowded);
}

}  // namespace
}  // namespace penstock::analyzer
