// SPDX-License-Identifier: Apache-2.0
//
// Costs that depend on which worker made a batch, and waiting for a core.
#include "analyzer/measure/unequal.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/measure/build_pipeline.h"
#include "analyzer/measure/contention.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/simulate/simulate.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// Two threads, each of which reads for half of the time: in turns, or at random times.
std::vector<ReadSpan> TwoReaders(bool in_turns) {
  std::mt19937 random(3);
  std::vector<ReadSpan> reads;
  for (std::uint32_t reader = 0; reader < 2; ++reader) {
    for (std::int64_t k = 0; k < 200; ++k) {
      const auto jitter = in_turns ? 0 : static_cast<std::int64_t>(random() % 5000);
      const std::int64_t start = 10'000 * k + std::int64_t{5000} * reader + jitter;
      reads.push_back({start, start + 4500, 1000, reader});
    }
  }
  return reads;
}

TEST(ReadTurnsTest, AreSeenWhereReadsNeverMeet) {
  const ReadTurns turns = MeasureTurns(TwoReaders(true));
  EXPECT_TRUE(turns.taken());
  EXPECT_NEAR(turns.alone, 0.9, 0.01);
  EXPECT_NEAR(turns.by_chance, 0.2, 0.01);
}

TEST(ReadTurnsTest, AreNotSeenWhereReadsMeet) {
  EXPECT_FALSE(MeasureTurns(TwoReaders(false)).taken());
}

// The new workers of an epoch never read at the same time as the workers of the previous epoch.
// This must not count as taking turns.
TEST(ReadTurnsTest, AreLookedForInOneEpoch) {
  for (const bool in_turns : {true, false}) {
    std::vector<ReadSpan> reads = TwoReaders(in_turns);
    std::vector<ReadSpan> later = reads;
    for (ReadSpan& read : later) {
      read.start += 3'000'000;
      read.end += 3'000'000;
      read.reader += 2;
      read.epoch = 2;
    }
    reads.insert(reads.end(), later.begin(), later.end() - 50);
    const ReadTurns turns = MeasureTurns(reads);
    EXPECT_GT(turns.reads, 350u);
    EXPECT_EQ(turns.taken(), in_turns);
  }
}

// Two loaders with two workers each run one after the other. In one of them the workers read in
// turns: in the first loader if `first`, else in the second. Returns the turns of the first loader.
ReadTurns TurnsOfFirstLoader(bool first) {
  Synthetic run;
  run.batch_size = 1;
  run.worker_start = 5;
  run.epochs = 2;
  run.costs = [first](int epoch, int index) {
    Costs costs{4.9, 3, 2, 0.1, 0.1, 0.3, 0.5, 0};
    const bool in_turns = (epoch == 0) == first;
    // The loop waits more for the first loader.
    costs.augment += in_turns ? (epoch == 0 ? 2.2 : 1.2) : 0.37 * (index * 7 % 11);
    return costs;
  };
  traces::TraceData data = testing::MakeSynthetic(run);
  auto& facts = data.processes[0].facts;
  facts["epoch.2"] = "1";
  facts["loader.1.num_workers"] = "2";
  facts["loader.1.prefetch_factor"] = "2";
  facts["loader.1.batch_size"] = "1";
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(model.loaders.size(), 2u);
  EXPECT_EQ(model.loader().config.id, 0);
  return model.reads.turns;
}

TEST(ReadTurnsTest, AreThoseOfTheMainLoader) {
  EXPECT_TRUE(TurnsOfFirstLoader(true).taken());
  EXPECT_FALSE(TurnsOfFirstLoader(false).taken());
}

TEST(ReadTurnsTest, NeedTwoThreads) {
  std::vector<ReadSpan> reads = TwoReaders(true);
  for (ReadSpan& read : reads) read.reader = 0;
  EXPECT_FALSE(MeasureTurns(reads).taken());
  for (ReadSpan& read : reads) read.reader = ReadSpan::kNobody;
  EXPECT_EQ(MeasureTurns(reads).reads, 0u);
}

// The first of four workers takes `beyond` ms longer for each batch of four samples.
Synthetic OneSlow(double beyond) {
  Synthetic run;
  run.workers = 4;
  run.cores = 16;
  run.costs = [beyond](int, int index) {
    Costs costs;
    costs.step = 1;
    if (index % 4 == 0) costs.augment += beyond;
    return costs;
  };
  return run;
}

TEST(SlowWorkersTest, AreSetApartFromTheirBatches) {
  const Diagnosis diagnosis = Diagnose(*testing::SyntheticTrace(OneSlow(30)));
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  ASSERT_EQ(pipeline.slower.size(), 1u);
  EXPECT_NEAR(pipeline.slower[0].wall, 30e-3 / 4, 1e-5);
  for (const Demand& demand : pipeline.epochs.front().batches) {
    EXPECT_NEAR(demand.augment.wall, 2e-3, 1e-5);
  }
  EXPECT_LT(std::abs(diagnosis.loader->replay.error()), 0.02);
}

// For each batch with `index % 8 == rest`, all spans of the worker except the put are lost.
void Lose(traces::TraceData& data, std::uint32_t rest) {
  for (std::size_t thread = 1; thread < data.spans.size(); ++thread) {
    std::erase_if(data.spans[thread], [rest](const traces::Span& span) {
      return span.batch.valid() && span.batch.index % 8 == rest &&
             span.stage != traces::StageId::kPut;
    });
  }
}

// A batch that was not seen being made has the costs of the slow worker's batch before it.
TEST(SlowWorkersTest, AreSetApartFromCopiesOfTheirBatches) {
  traces::TraceData data = testing::MakeSynthetic(OneSlow(30));
  Lose(data, 1);
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  const Pipeline& pipeline = diagnosis.loader->pipeline;
  ASSERT_EQ(pipeline.slower.size(), 1u);
  EXPECT_NEAR(pipeline.slower[0].wall, 30e-3 / 4, 1e-5);
  for (const Demand& demand : pipeline.epochs.front().batches) {
    EXPECT_NEAR(demand.augment.wall, 2e-3, 1e-5);
  }
}

TEST(ReadTurnsTest, WaitingForATurnIsTakenOffCopiesToo) {
  RunModel model;
  model.reads.turns = {1000, 0.9, 0, 0.2};
  ASSERT_TRUE(model.reads.turns.taken());
  model.stages[traces::StageId::kSample].count = 8;
  model.stages[traces::StageId::kRead].wall = testing::Ms(30);
  model.stages[traces::StageId::kRead].queued = testing::Ms(20);
  LoaderRun run;
  run.batches.resize(2);
  run.batches[0].queued = 10e-3;
  Pipeline pipeline;
  pipeline.workers = 2;
  Demand demand;
  demand.read = {15e-3, 1e-3};
  demand.source = 0;
  pipeline.epochs.emplace_back().batches.assign(2, demand);
  ShareStorage(model, run, pipeline);
  EXPECT_TRUE(pipeline.turns);
  for (const Demand& one : pipeline.epochs.front().batches) EXPECT_NEAR(one.read.wall, 5e-3, 1e-9);
}

TEST(SlowWorkersTest, MoreWorkersDoNotMakeThemFast) {
  const Diagnosis diagnosis = Diagnose(*testing::SyntheticTrace(OneSlow(30)));
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Setting setting;
  setting.workers = 8;
  const double eight =
      SimulateSteady(SteadyPart(Apply(loader.pipeline, setting, loader.facts))).rate();
  const double four = SimulateSteady(SteadyPart(loader.pipeline)).rate();
  EXPECT_NEAR(eight / four, 2, 0.1);  // the slow one makes one batch in eight
  EXPECT_EQ(diagnosis.bottleneck, Factor::kPrefetch);
  const double even = diagnosis.loader->attribution.SpeedupOf(Factor::kPrefetch);
  EXPECT_GT(even, 3.5);  // four batches take 37.5 ms; with equal workers they would take 7.5 ms
}

TEST(SlowWorkersTest, AThirdMoreIsNoSlowWorker) {
  const Diagnosis diagnosis = Diagnose(*testing::SyntheticTrace(OneSlow(2.5)));
  EXPECT_TRUE(diagnosis.loader->pipeline.slower.empty());
}

Pipeline Even(std::size_t n, double wait, double cpu) {
  Pipeline pipeline;
  pipeline.workers = 4;
  pipeline.cores = 1;
  pipeline.preempted = 0;
  EpochDemand epoch;
  Demand demand;
  demand.read = {wait, 0};
  demand.decode = {cpu, cpu};
  epoch.batches.assign(n, demand);
  pipeline.epochs.push_back(epoch);
  return pipeline;
}

// Four workers share one core. Each batch waits for 20 ms and computes for 10 ms. The recording has
// the whole time that a batch takes, in which waiting for a core looks like other waiting.
TEST(ContentionTest, WaitingForACoreIsNotWaitingForAFile) {
  constexpr std::size_t kBatches = 400;
  const double making = Simulate(Even(kBatches, 20e-3, 10e-3)).making / kBatches;
  ASSERT_GT(making, 35e-3);
  const Pipeline seen = Even(kBatches, making - 10e-3, 10e-3);
  const double share = GenuineWaiting(seen, std::vector<double>(kBatches, making));
  EXPECT_NEAR(share * (making - 10e-3), 20e-3, 1e-3);
}

TEST(ContentionTest, WaitingStaysWhereCoresAreFree) {
  Pipeline seen = Even(400, 20e-3, 10e-3);
  seen.cores = 8;
  const double making = Simulate(seen).making / 400;
  EXPECT_EQ(GenuineWaiting(seen, std::vector<double>(400, making)), 1);
}

// The mean reading time of a batch in seconds, in a run whose cores are nearly full. `lost`: for
// one batch in eight, all spans of the worker except the put are lost.
double ReadingWith(bool lost) {
  Synthetic run;
  run.workers = 4;
  run.cores = 2;
  run.batches = 400;
  run.costs = testing::Always({10, 5, 2, 0.5, 0.1, 0.1, 0.5, 0});
  traces::TraceData data = testing::MakeSynthetic(run);
  if (lost) Lose(data, 3);
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  double sum = 0;
  const auto& batches = diagnosis.loader->pipeline.epochs.front().batches;
  for (const Demand& demand : batches) sum += demand.read.wall;
  return sum / static_cast<double>(batches.size());
}

TEST(ContentionTest, ABatchThatWasNotSeenTookAsLongAsItsNeighbour) {
  const double whole = ReadingWith(false);
  ASSERT_LT(whole, 9.5e-3) << "nothing is taken for waiting for a core";
  EXPECT_NEAR(ReadingWith(true), whole, 0.05 * whole);
}

// What one more worker costs at the start (one_more), in seconds. The iterator is made 0.9 s before
// the first index is sent.
double OneMoreOf(int workers) {
  Synthetic run;
  run.workers = workers;
  traces::TraceData data = testing::MakeSynthetic(run);
  for (traces::Event& event : data.events) {
    if (event.type == traces::EventType::kEpochStart) event.at = event.at - testing::Ms(900);
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  return diagnosis.loader->pipeline.epochs.front().one_more;
}

TEST(WorkerStartTest, WhatComesBeforeTheFirstDoesNotGrowWithThem) {
  EXPECT_NEAR(OneMoreOf(4), 2e-3, 1e-4);
  EXPECT_NEAR(OneMoreOf(1), 50e-3, 1e-4) << "one alone does not tell";
}

// Eight workers start 2 ms apart, 0.9 s after the iterator is made, for an epoch of three batches.
TEST(WorkerStartTest, WorkersWithoutABatchAreNotStartedAgain) {
  Synthetic run;
  run.workers = 8;
  run.batches = 3;
  traces::TraceData data = testing::MakeSynthetic(run);
  for (traces::Event& event : data.events) {
    if (event.type == traces::EventType::kEpochStart) event.at = event.at - testing::Ms(900);
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  const SteadyState steady = FindSteadyState(model.loader());
  const CpuLoad load = MeasureCpuLoad(model, model.loader(), steady);
  const Pipeline pipeline = BuildPipeline(model, model.loader(), steady, load);
  const EpochDemand& epoch = pipeline.epochs.front();
  ASSERT_GT(epoch.one_more, 1e-3);
  const Sequence sequence{pipeline, epoch, epoch.batches.size()};
  EXPECT_NEAR(sequence.start(0), 0.902, 1e-4);
  EXPECT_NEAR(sequence.start(2), 0.906, 1e-4);
}

TEST(WorkerStartTest, AllWaitForTheLastToBeStarted) {
  Pipeline pipeline = Even(10, 1e-3, 0);
  pipeline.workers = 2;
  pipeline.epochs[0].worker_start = {20e-3, 22e-3};
  pipeline.epochs[0].one_more = 10e-3;
  const Sequence sequence{pipeline, pipeline.epochs[0], 10};
  EXPECT_DOUBLE_EQ(sequence.start(1), 22e-3);
  pipeline.workers = 4;
  EXPECT_DOUBLE_EQ(sequence.start(0), 40e-3);
  EXPECT_DOUBLE_EQ(sequence.start(3), 42e-3);
  pipeline.workers = 1;
  EXPECT_DOUBLE_EQ(sequence.start(0), 10e-3);
}

}  // namespace
}  // namespace penstock::analyzer
