// SPDX-License-Identifier: Apache-2.0
//
// Processes that are no workers but compute for a loader. Some are recorded. Others show only in
// the kernel's count of CPU time.
#include "analyzer/measure/helpers.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/measure/worker_threads.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

constexpr std::uint32_t kTraining = 0;

// Two cores, a training process, and a window from second 1 to second 11.
struct HelpedRun {
  HelpedRun() {
    model.host.known = true;
    model.host.cores = 2;
    AddProcess(wire::kRoleConsumer);
    steady.windows = {{1'000'000'000, 11'000'000'000}};
    steady.time = 10;
  }

  std::uint32_t AddProcess(wire::ProcessRole role) {
    model.roles.push_back(role);
    model.consumer_of.push_back(ProcessId{kTraining});
    return static_cast<std::uint32_t>(model.roles.size() - 1);
  }

  // Units: seconds.
  CounterSeries& AddCounter(const char* name, std::uint32_t process, double at, double cpu) {
    CounterSeries one;
    one.name = name;
    one.process = ProcessId{process};
    model.counters.push_back(one);
    Tell(model.counters.back(), at, cpu);
    return model.counters.back();
  }

  static void Tell(CounterSeries& series, double at, double cpu) {
    series.at.push_back(at);
    series.value.push_back(cpu * 1e9);
  }

  // Ten times a second, the training process waits for a program that has computed for 50 ms.
  void WaitForPrograms() {
    CounterSeries& waited = AddCounter("children_cpu_ns", kTraining, 0, 0);
    for (int i = 1; i <= 150; ++i) Tell(waited, 0.1 * i, 0.05 * i);
  }

  RunModel model;
  SteadyState steady;
};

TEST(HelpersTest, NobodyHelps) {
  HelpedRun run;
  const HelpersCpu cpu = MeasureHelpers(run.model, run.steady);
  EXPECT_EQ(cpu.sum(), 0);
}

TEST(HelpersTest, AProcessThatReads) {
  HelpedRun run;
  const std::uint32_t pool = run.AddProcess(wire::kRoleOther);
  CounterSeries& series = run.AddCounter("cpu_ns", pool, 0, 0);
  HelpedRun::Tell(series, 20, 16);
  EXPECT_EQ(MeasureHelpers(run.model, run.steady).sum(), 0);
  run.model.helpers = {ProcessId{pool}};
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).recorded, 0.8, 1e-9);
  EXPECT_EQ(MeasureHelpers(run.model, run.steady).unseen, 0);
}

TEST(HelpersTest, AProcessOfAnotherRankIsNotOurs) {
  HelpedRun run;
  const std::uint32_t pool = run.AddProcess(wire::kRoleOther);
  HelpedRun::Tell(run.AddCounter("cpu_ns", pool, 0, 0), 20, 16);
  run.model.helpers = {ProcessId{pool}};
  run.model.loaders.emplace_back().config.consumer = ProcessId{kTraining};
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).recorded, 0.8, 1e-9);
  run.model.consumer_of[pool] = ProcessId{9};
  EXPECT_EQ(MeasureHelpers(run.model, run.steady).sum(), 0);
}

TEST(HelpersTest, ProgramsThatRecordNothing) {
  HelpedRun run;
  run.WaitForPrograms();
  const HelpersCpu cpu = MeasureHelpers(run.model, run.steady);
  EXPECT_NEAR(cpu.unseen, 0.5, 0.01);
  EXPECT_EQ(cpu.recorded, 0);
}

TEST(HelpersTest, ProgramsThatAreRecordedCountOnce) {
  HelpedRun run;
  for (int i = 1; i <= 150; ++i) {
    const std::uint32_t program = run.AddProcess(wire::kRoleOther);
    run.AddCounter("cpu_ns", program, 0.1 * i - 0.01, 0.05);
    run.model.helpers.push_back(ProcessId{program});
  }
  run.WaitForPrograms();
  // A rate needs a process with more than one value.
  HelpedRun::Tell(run.AddCounter("cpu_ns", kTraining, 0, 0), 20, 1);
  run.model.helpers.push_back(ProcessId{run.AddProcess(wire::kRoleOther)});
  HelpedRun::Tell(run.AddCounter("cpu_ns", run.model.helpers.back().value, 0, 0), 20, 0);
  const HelpersCpu cpu = MeasureHelpers(run.model, run.steady);
  EXPECT_NEAR(cpu.recorded, 0.5, 0.01);
  EXPECT_NEAR(cpu.unseen, 0, 0.01);
}

TEST(HelpersTest, ProcessesOfAnotherRankWereNotWaitedFor) {
  HelpedRun run;
  run.model.loaders.emplace_back().config.consumer = ProcessId{kTraining};
  run.WaitForPrograms();
  const std::uint32_t other = run.AddProcess(wire::kRoleConsumer);
  for (int i = 1; i <= 150; ++i) {
    const std::uint32_t program = run.AddProcess(wire::kRoleOther);
    run.model.consumer_of[program] = ProcessId{other};
    run.AddCounter("cpu_ns", program, 0.1 * i - 0.01, 0.05);
  }
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).unseen, 0.5, 0.01);
}

TEST(HelpersTest, AWorkerThatEndsWasNoHelper) {
  HelpedRun run;
  const std::uint32_t worker = run.AddProcess(wire::kRoleWorker);
  HelpedRun::Tell(run.AddCounter("cpu_ns", worker, 0, 0), 5, 3);
  CounterSeries& waited = run.AddCounter("children_cpu_ns", kTraining, 5, 0);
  HelpedRun::Tell(waited, 5.1, 3.01);
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).sum(), 0, 0.002);
}

TEST(HelpersTest, WhatWasWaitedForAtOnceIsNoMoreThanTheCoresGive) {
  HelpedRun run;
  CounterSeries& waited = run.AddCounter("children_cpu_ns", kTraining, 5, 0);
  HelpedRun::Tell(waited, 5.1, 30);
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).unseen, 0.1 * 2 / 10, 1e-9);
}

TEST(HelpersTest, WhatWasUsedBeforeTheFirstSampleCounts) {
  HelpedRun run;
  const std::uint32_t late = run.AddProcess(wire::kRoleOther);
  run.model.helpers = {ProcessId{late}};
  CounterSeries& series = run.AddCounter("cpu_ns", late, 4, 0.05);
  HelpedRun::Tell(series, 6, 1.05);
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).recorded, 0.105, 1e-9);
  series.value = {7e9, 8e9};  // too much for a process that has just started
  EXPECT_NEAR(MeasureHelpers(run.model, run.steady).recorded, 0.1, 1e-9);
}

TEST(AddThreadsBesideTest, TheyComputeWhileTheFetchWaits) {
  Pipeline pipeline;
  pipeline.epochs.emplace_back();
  Demand demand;
  demand.augment = {40e-3, 10e-3};
  demand.collate = {5e-3, 5e-3};
  pipeline.epochs.front().batches.assign(10, demand);
  AddThreadsBeside(24e-3, pipeline);
  EXPECT_NEAR(pipeline.epochs.front().batches[3].augment.cpu, 34e-3, 1e-9);
  EXPECT_NEAR(pipeline.epochs.front().batches[3].collate.cpu, 5e-3, 1e-9);
  demand.augment = {10e-3, 10e-3};  // augmenting never waits
  pipeline.epochs.front().batches.assign(10, demand);
  AddThreadsBeside(24e-3, pipeline);
  EXPECT_NEAR(pipeline.epochs.front().batches[3].other.cpu, 24e-3, 1e-9);
}

// One worker, which waits for a thread of the dataset and then collates. The thread decodes during
// a share of `busy` of the time.
Diagnosis WithThread(double busy) {
  testing::Synthetic run;
  run.workers = 1;
  run.costs = testing::Always({.read = 0, .decode = 0, .augment = 4, .collate = 6, .step = 1});
  traces::TraceData data = testing::MakeSynthetic(run);
  std::size_t at = 0;  // the worker's thread that fetches
  for (std::size_t i = 0; i < data.threads.size(); ++i) {
    const bool works = data.processes[data.threads[i].process.value].worker_id >= 0;
    if (works && data.spans[i].size() > data.spans[at].size()) at = i;
    if (works && data.processes[data.threads[at].process.value].worker_id < 0) at = i;
  }
  traces::ThreadInfo thread;
  thread.process = data.threads[at].process;
  thread.tid = 4711;
  std::vector<traces::Span> spans;
  const std::int64_t first = data.spans[at].front().start.value;
  const std::int64_t last = data.spans[at].back().end().value;
  for (std::int64_t now = first; now < last; now += 1'000'000) {
    traces::Span span;
    span.stage = traces::StageId::kDecode;
    span.start = TimeNs{now};
    span.duration = TimeNs{static_cast<std::int64_t>(busy * 1e6)};
    span.bytes = Bytes{1000};
    spans.push_back(span);
  }
  data.threads.push_back(thread);
  data.spans.push_back(std::move(spans));
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

double GainWithoutCollating(double busy) {
  return WithThread(busy).loader->attribution.SpeedupOf(Factor::kCollate);
}

TEST(ThreadsOfWorkersTest, CollatingHidesNothingWhileTheyAreBusy) {
  EXPECT_GT(GainWithoutCollating(0.5), 1.5);
  EXPECT_LT(GainWithoutCollating(0.97), 1.1);
}

TEST(ThreadsOfWorkersTest, NothingIsPredictedForThemInTheTrainingProcess) {
  const Diagnosis diagnosis = WithThread(0.9);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Setting setting;
  const auto refused = [&](int workers) {
    setting.workers = workers;
    const Pipeline changed = Apply(loader.pipeline, setting, loader.facts);
    return !Predict(loader.pipeline, changed, loader.replay).refused.empty();
  };
  EXPECT_FALSE(refused(2));
  EXPECT_TRUE(refused(0));
}

}  // namespace
}  // namespace penstock::analyzer
