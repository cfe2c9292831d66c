// SPDX-License-Identifier: Apache-2.0
//
// Workers that compute with several threads. The spans do not show these threads.
#include <string>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/report/report.h"
#include "analyzer/simulate/simulate.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

// A batch reads for 2 ms and augments for 40 ms. The augmenting thread computes for `own` of these
// 40, its process for `process` ms in all. The process has up to `threads` threads.
Diagnosis Threaded(double process, int cores, double threads = 3, double own = 10) {
  testing::Synthetic run;
  run.workers = 2;
  run.cores = cores;
  run.cpu_share = own / 40;
  run.costs = testing::Always({2, 0, 40, 0, 0.1, 0.3, 1, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::uint32_t p = 0; p < data.processes.size(); ++p) {
    if (data.processes[p].worker_id < 0) continue;
    for (int i = 0; i <= 400; ++i) {
      testing::AddCounter(data, "cpu_ns", p, 1000 + 42.1 * i, process * 1e6 * i);
      testing::AddCounter(data, "threads", p, 1000 + 42.1 * i, i % 5 == 0 ? threads : 3);
    }
  }
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

TEST(WorkerThreadsTest, WhatTheyComputeIsTheirStages) {
  const Diagnosis diagnosis = Threaded(30, 8);
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  const Demand& demand = pipeline.epochs.front().batches[100];
  EXPECT_NEAR(demand.augment.cpu, 30e-3, 2e-3);
  EXPECT_NEAR(demand.augment.wall, 40e-3, 1e-3);
  EXPECT_NEAR(demand.read.cpu, 0, 1e-3);
  EXPECT_NEAR(pipeline.worker_cpu, 0, 0.1e-3);
}

TEST(WorkerThreadsTest, ALittleMoreIsTheQueues) {
  const Diagnosis diagnosis = Threaded(12, 8);
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  EXPECT_NEAR(pipeline.epochs.front().batches[100].augment.cpu, 10e-3, 1e-3);
  EXPECT_NEAR(pipeline.worker_cpu, 2e-3, 1e-3);
}

TEST(WorkerThreadsTest, ALittleMoreIsTheirsWhereThereWereFurtherThreads) {
  const Diagnosis diagnosis = Threaded(13, 8, 6);
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  EXPECT_NEAR(pipeline.epochs.front().batches[100].augment.cpu, 13e-3, 1e-3);
  EXPECT_NEAR(pipeline.worker_cpu, 0, 0.5e-3);
  EXPECT_NEAR(Threaded(13, 8).loader->pipeline.epochs.front().batches[100].augment.cpu, 10e-3,
              1e-3);
}

// Beside other programs, the thread of the queue used 1.2 ms of CPU time for each batch that slept.
TEST(WorkerThreadsTest, TheQueueOfABatchThatOnlyWaitsIsNoFurtherThread) {
  const Diagnosis diagnosis = Threaded(1.6, 2, 3, 0.4);
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  EXPECT_EQ(pipeline.threads_doubt, 0);
  EXPECT_LT(pipeline.epochs.front().batches[100].cpu(), 1e-3);
  EXPECT_GT(Threaded(8, 2, 3, 0.4).loader->pipeline.epochs.front().batches[100].augment.cpu, 5e-3);
}

TEST(WorkerThreadsTest, AStageOfSeveralThreadsTakesTheCoresThatThereAre) {
  Pipeline pipeline;
  pipeline.workers = 1;
  pipeline.epochs.emplace_back();
  Demand demand;
  demand.augment = {10e-3, 40e-3};
  pipeline.epochs.front().batches.assign(50, demand);
  pipeline.epochs.front().worker_start = {0};
  for (const auto& [cores, seconds] : {std::pair{16.0, 10e-3}, {4.0, 10e-3}, {2.0, 20e-3}}) {
    pipeline.cores = cores;
    EXPECT_NEAR(Simulate(pipeline).time, 50 * seconds, 0.1 * seconds) << cores << " cores";
  }
  pipeline.workers = 2;  // they share four cores
  pipeline.cores = 4;
  EXPECT_NEAR(Simulate(pipeline).time, 50 * 10e-3, 1e-3);
  pipeline.workers = 0;
  pipeline.cores = 2;
  EXPECT_NEAR(Simulate(pipeline).time, 50 * 20e-3, 1e-3);
}

// A batch takes 42 ms. It waits 30 ms for threads that compute for 20 ms of these. What the other
// 10 ms of waiting become with another number of cores is not known.
TEST(WorkerThreadsTest, WaitingThatTheyDoNotExplainIsADoubt) {
  const Diagnosis diagnosis = Threaded(30, 8);
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  EXPECT_NEAR(pipeline.threads_doubt, 10.0 / 42, 0.03);
  EXPECT_EQ(Threaded(10, 8).loader->pipeline.threads_doubt, 0);
  Setting setting;
  setting.workers = pipeline.workers;
  setting.prefetch = pipeline.prefetch;
  EXPECT_EQ(Apply(pipeline, setting, diagnosis.loader->facts).doubt, pipeline.doubt);
  setting.workers = 1;
  EXPECT_GE(Apply(pipeline, setting, diagnosis.loader->facts).doubt, pipeline.threads_doubt);
  setting.workers = pipeline.workers;
  setting.scale = {{Factor::kAugment, 0.0}};
  EXPECT_GE(Apply(pipeline, setting, diagnosis.loader->facts).doubt, pipeline.threads_doubt);
  setting.scale = {{Factor::kTransfer, 0.5}};  // the threads do none of this work
  EXPECT_EQ(Apply(pipeline, setting, diagnosis.loader->facts).doubt, pipeline.doubt);
}

// If the stage is free, the other threads' work is free too.
TEST(WorkerThreadsTest, AreGoneWithTheirStage) {
  const Diagnosis own = Threaded(10, 2);
  const Diagnosis threaded = Threaded(36, 2);
  const auto without = [](const Diagnosis& diagnosis) {
    Pipeline pipeline = diagnosis.loader->pipeline;
    ScaleFactor(pipeline, Factor::kAugment, 0, FirstBatches::kScaled);
    return SimulateSteady(SteadyPart(pipeline)).rate();
  };
  EXPECT_NEAR(without(threaded) / without(own), 1, 0.05);
}

// A loader without workers. Its batches wait 20 ms for two threads of the dataset. Meanwhile each
// of these decodes for 10 ms and resizes for 6 ms, on two cores.
traces::TraceData WithThreadsOfItsOwn(bool seen) {
  testing::Synthetic run;
  run.workers = 0;
  run.cores = 2;
  run.cpu_share = 0;
  run.sample_spans = false;
  run.costs = testing::Always({0, 0, 20, 0, 0, 0, 1, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::uint32_t tid = 201; seen && tid <= 202; ++tid) {
    traces::ThreadInfo thread;
    thread.tid = tid;
    std::vector<traces::Span> spans;
    for (const traces::Span& fetch : data.spans[0]) {
      if (fetch.stage != traces::StageId::kFetch) continue;
      traces::Span span;
      span.stage = traces::StageId::kDecode;
      span.start = fetch.start;
      span.duration = span.cpu = testing::Ms(10);
      spans.push_back(span);
      span.stage = traces::StageId::kAugment;
      span.name = data.Intern("PIL.resize");
      span.start = fetch.start + testing::Ms(10);
      span.duration = span.cpu = testing::Ms(6);
      spans.push_back(span);
    }
    data.threads.push_back(thread);
    data.spans.push_back(std::move(spans));
  }
  for (int i = 0; i <= 200; ++i) {  // a batch takes 21 ms
    testing::AddCounter(data, "cpu_ns", 0, 1000 + 21.0 * i, 32e6 * i);
  }
  return data;
}

TEST(WorkerThreadsTest, ThreadsOfTheDatasetComputeForItsBatches) {
  for (const bool seen : {true, false}) {
    const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(WithThreadsOfItsOwn(seen)));
    const Pipeline& pipeline = diagnosis.loader->pipeline;
    // The step gets what the cores can compute in it; the batches get the rest.
    EXPECT_NEAR(pipeline.epochs.front().batches[100].cpu(), seen ? 32e-3 : 30e-3, 1e-3) << seen;
    Setting setting;
    setting.workers = 4;
    const Pipeline four = Apply(pipeline, setting, diagnosis.loader->facts);
    // Two cores give at most 2 s of CPU time per second.
    EXPECT_LE(SimulateSteady(SteadyPart(four)).rate() / 4 * 30e-3, 2.02) << seen;
  }
}

// The batch waits 20 ms. Meanwhile its two threads together decode for 20 ms and resize for 12 ms.
TEST(WorkerThreadsTest, WaitingForThreadsIsTheStagesThatTheyDo) {
  const auto trace = traces::MakeTrace(WithThreadsOfItsOwn(true));
  const Report report = BuildReport(*trace, "t");
  const LoaderDiagnosis& loader = *report.diagnosis.loader;
  const Demand& demand = loader.pipeline.epochs.front().batches[100];
  EXPECT_NEAR(demand.decode.wall, 12.5e-3, 0.5e-3);
  EXPECT_NEAR(demand.augment.wall, 7.5e-3, 0.5e-3);
  EXPECT_GT(loader.attribution.SpeedupOf(Factor::kDecode), 1.8);
  EXPECT_GT(loader.attribution.SpeedupOf(Factor::kAugment), 1.3);
  const std::string text = ReportText(report, Colour::kOff);
  const std::size_t line = text.find("if free");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_LT(text.find("decode", line), text.find("augment", line)) << text.substr(line);
}

// The thread that makes a batch computes for 15 of its 20 ms.
TEST(WorkerThreadsTest, WhatTheMakerComputesStaysWhereItIs) {
  testing::Synthetic run;
  run.cpu_share = 0.75;
  run.costs = testing::Always({0, 0, 20, 0, 0.1, 0.3, 1, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  const std::size_t makers = data.threads.size();
  for (std::size_t i = 0; i < makers; ++i) {
    traces::ThreadInfo thread;
    thread.tid = 301 + static_cast<std::uint32_t>(i);
    thread.process = data.threads[i].process;
    std::vector<traces::Span> spans;
    for (const traces::Span& fetch : data.spans[i]) {
      if (fetch.stage != traces::StageId::kFetch) continue;
      traces::Span span;
      span.stage = traces::StageId::kDecode;
      span.start = fetch.start;
      span.duration = span.cpu = testing::Ms(20);
      spans.push_back(span);
    }
    if (spans.empty()) continue;
    data.threads.push_back(thread);
    data.spans.push_back(std::move(spans));
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  const Demand& demand = diagnosis.loader->pipeline.epochs.front().batches[100];
  EXPECT_NEAR(demand.decode.wall, 5e-3, 0.2e-3);
  EXPECT_NEAR(demand.augment.wall, 15e-3, 0.2e-3);
  EXPECT_NEAR(demand.service(), 20e-3, 0.2e-3);
}

}  // namespace
}  // namespace penstock::analyzer
