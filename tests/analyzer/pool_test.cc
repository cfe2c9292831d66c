// SPDX-License-Identifier: Apache-2.0
//
// A loop makes its batches itself, in a process whose libraries have a pool of threads (OpenMP).
// The pool's CPU time does not belong to the step. Worker processes would not spend it either.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;
using traces::EventType;

struct Cpu {
  double in_next = 0;  // CPU time of the whole process in each next(), in milliseconds
  double in_step = 0;  // CPU time of the whole process in each step, in milliseconds
  bool told = true;    // the events record the CPU time of the process
};

// Batches of 20 ms, steps of 10 ms. `read`: how long each batch reads in addition.
Diagnosis Alone(const Cpu& cpu, int cores = 2, double cpu_share = 1, double read = 0) {
  Synthetic run;
  run.workers = 0;
  run.cores = cores;
  run.cpu_share = cpu_share;
  run.costs = testing::Always({read, 12, 7, 1, 0, 0, 10, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  std::vector<traces::Event> events;
  std::int64_t spent = 1'000'000;
  for (const traces::Span& span : data.spans[0]) {
    if (span.stage != traces::StageId::kWait || !span.batch.valid()) continue;
    testing::AddCounter(data, "cpu_ns", 0, static_cast<double>(span.start.value) * 1e-6,
                        static_cast<double>(spent));
    events.push_back(
        {span.start, ThreadId{0}, span.batch, cpu.told ? spent : 0, EventType::kNextEntered});
    spent += static_cast<std::int64_t>(cpu.in_next * 1e6);
    events.push_back(
        {span.end(), ThreadId{0}, span.batch, cpu.told ? spent : 0, EventType::kBatchDelivered});
    spent += static_cast<std::int64_t>(cpu.in_step * 1e6);
  }
  std::erase_if(data.events, [](const traces::Event& event) {
    return event.type == EventType::kBatchDelivered;
  });
  data.events.insert(data.events.end(), events.begin(), events.end());
  std::stable_sort(data.events.begin(), data.events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

Pipeline WithWorkers(const Diagnosis& diagnosis, int workers) {
  Setting setting;
  setting.workers = workers;
  return Apply(diagnosis.loader->pipeline, setting, diagnosis.loader->facts);
}

double RateWith(const Diagnosis& diagnosis, int workers) {
  const auto rate =
      PredictSteady(SteadyPart(WithWorkers(diagnosis, workers)), diagnosis.loader->replay);
  return rate ? rate->estimate : 0;
}

TEST(PoolTest, TheCpuTimeOfBatchesAndStepsIsKnownApart) {
  const Diagnosis diagnosis = Alone({40, 10});
  const Batch& batch = diagnosis.run.loader().batches[50];
  EXPECT_NEAR(batch.next_cpu, 40e-3, 1e-6);
  EXPECT_NEAR(batch.step_cpu, 10e-3, 1e-6);
  EXPECT_EQ(Alone({40, 10, false}).run.loader().batches[50].next_cpu, -1);
}

TEST(PoolTest, ThreadsThatSpinWhileBatchesAreMadeAreNoLoadOfTheStep) {
  const Diagnosis diagnosis = Alone({40, 10}, 16);
  EXPECT_NEAR(diagnosis.loader->pipeline.step_load, 1, 0.05);
  EXPECT_NEAR(diagnosis.loader->pipeline.pool_cpu, 20e-3, 1e-3);
  EXPECT_EQ(Alone({20, 10}).loader->pipeline.pool_cpu, 0);
}

TEST(PoolTest, WorkersDoNotSpin) {
  const double without = RateWith(Alone({20, 10}), 2);
  const double with = RateWith(Alone({40, 10}), 2);
  ASSERT_GT(with, 0);  // not refused because there are too few cores
  EXPECT_LT(with, without);
  EXPECT_GT(with, 0.85 * without);
  const Pipeline changed = WithWorkers(Alone({40, 10}), 2);
  EXPECT_GE(changed.doubt, 0.1);  // an eighth of the pool's 20 ms, for batches of 20 ms
}

// The thread that makes the batches waits for other threads, so these work for the dataset.
TEST(PoolTest, ThreadsThatAreWaitedForAreNoPool) {
  const Diagnosis diagnosis = Alone({40, 10}, 2, 0.3);
  EXPECT_EQ(diagnosis.loader->pipeline.pool_cpu, 0);
  // These threads compute for 34 of the 40 ms.
  EXPECT_NEAR(diagnosis.loader->pipeline.epochs.front().batches[50].cpu(), 40e-3, 4e-3);
}

TEST(PoolTest, WaitingForStorageIsNotWaitingForThreads) {
  EXPECT_NEAR(Alone({40, 10}, 16, 1, 6).loader->pipeline.pool_cpu, 20e-3, 1e-3);
}

TEST(PoolTest, AStepOfSeveralThreadsIsInDoubtBesideWorkersOnTheSameCores) {
  const Diagnosis several = Alone({20, 20});
  EXPECT_NEAR(several.loader->pipeline.step_load, 2, 0.05);
  EXPECT_GE(WithWorkers(several, 2).doubt, 0.25);
  EXPECT_LT(WithWorkers(Alone({20, 10}), 2).doubt, 0.1);
  EXPECT_LT(WithWorkers(Alone({20, 20}, 16), 2).doubt, 0.1);
  Pipeline recorded = WithWorkers(several, 2);  // also in doubt: a change from workers to none
  recorded.doubt = recorded.pool_cpu = 0;
  Setting none;
  none.workers = 0;
  EXPECT_GE(Apply(recorded, none, several.loader->facts).doubt, 0.25);
}

}  // namespace
}  // namespace penstock::analyzer
