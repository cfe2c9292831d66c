// SPDX-License-Identifier: Apache-2.0
//
// Compares loaders that a loop uses together with equivalent models of a single loader.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/report/html_data.h"
#include "analyzer/report/memory_report.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/grid.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_memory.h"

namespace penstock::analyzer {
namespace {

constexpr double kFast = 10e-3;
constexpr double kSlow = 30e-3;

Demand BatchDemand(double wait, double cpu, double step, std::uint32_t loader = 0) {
  Demand demand;
  demand.augment = {wait + cpu, cpu};
  demand.step = step;
  demand.samples = 8;
  demand.loader = loader;
  return demand;
}

Pipeline OneLoader(int workers, int prefetch) {
  Pipeline pipeline;
  pipeline.workers = workers;
  pipeline.prefetch = prefetch;
  pipeline.cores = 64;
  pipeline.epochs.emplace_back();
  return pipeline;
}

// Two loaders with `workers` and `other_workers`; the loop takes batches from them in turn.
Pipeline InStep(int workers, int other_workers, const Demand& first, const Demand& second) {
  Pipeline pipeline = OneLoader(workers, 2);
  LoaderSetup& other = pipeline.beside.emplace_back();
  other.workers = other_workers;
  for (int i = 0; i < 64; ++i) {
    pipeline.epochs.front().batches.push_back(first);
    pipeline.epochs.front().batches.push_back(second);
    pipeline.epochs.front().batches.back().loader = 1;
  }
  return pipeline;
}

double RateOf(const Pipeline& pipeline) {
  return SimulateSteady(SteadyPart(pipeline)).rate();
}

TEST(TogetherTest, TwoLoadersInStepAreOneWithTwiceTheWorkers) {
  std::mt19937_64 random(5);
  for (const int workers : {1, 2, 3}) {
    for (const double cores : {64.0, 1.5}) {
      Pipeline apart = InStep(workers, workers, {}, {});
      Pipeline one = OneLoader(2 * workers, 2);
      apart.cores = one.cores = cores;
      one.epochs.front().batches = apart.epochs.front().batches;
      for (std::size_t i = 0; i < one.epochs.front().batches.size(); ++i) {
        const double wait = 1e-3 * static_cast<double>(1 + random() % 30);
        Demand demand = BatchDemand(wait, 2e-3, 1e-3);
        one.epochs.front().batches[i] = demand;
        demand.loader = static_cast<std::uint32_t>(i % 2);
        apart.epochs.front().batches[i] = demand;
      }
      // Rates count the samples of the first loader.
      EXPECT_NEAR(RateOf(apart) * 2, RateOf(one), 1e-9 * RateOf(one)) << workers << " " << cores;
    }
  }
}

TEST(TogetherTest, TheSlowerLoaderSetsTheRate) {
  const Pipeline pipeline = InStep(1, 2, BatchDemand(kFast, 0, 0), BatchDemand(kSlow, 0, 0));
  EXPECT_NEAR(RateOf(pipeline), 8 / (kSlow / 2), 0.02 * 8 / (kSlow / 2));
  const Pipeline more = InStep(1, 6, BatchDemand(kFast, 0, 0), BatchDemand(kSlow, 0, 0));
  EXPECT_NEAR(RateOf(more), 8 / kFast, 0.02 * 8 / kFast);
}

TEST(TogetherTest, ALoaderWithoutWorkersMakesItsBatchesInTheLoop) {
  const Pipeline pipeline =
      InStep(4, 0, BatchDemand(kFast, 0, 1e-3), BatchDemand(20e-3, 5e-3, 1e-3));
  EXPECT_NEAR(RateOf(pipeline), 8 / 27e-3, 1e-6 * 8 / 27e-3);
  const Pipeline none = InStep(0, 0, BatchDemand(kFast, 0, 1e-3), BatchDemand(20e-3, 5e-3, 1e-3));
  EXPECT_NEAR(RateOf(none), 8 / 37e-3, 1e-3 * 8 / 37e-3);
}

TEST(TogetherTest, ANestedLoaderIsTakenFromSeveralTimesATurn) {
  Pipeline pipeline = OneLoader(1, 2);
  pipeline.beside.emplace_back().workers = 1;
  for (int i = 0; i < 96; ++i) {
    pipeline.epochs.front().batches.push_back(BatchDemand(kFast, 0, 1e-3, i % 3 == 0 ? 0 : 1));
  }
  EXPECT_NEAR(RateOf(pipeline), 8 / (2 * kFast), 0.02 * 8 / (2 * kFast));
}

TEST(TogetherTest, EachLoaderDeliversInItsOwnOrder) {
  Pipeline pipeline = InStep(2, 2, BatchDemand(kSlow, 0, 0), BatchDemand(kFast, 0, 0));
  pipeline.beside.front().in_order = false;
  pipeline.beside.front().pin_thread = true;
  const EpochDemand& epoch = pipeline.epochs.front();
  const Sequence sequence{pipeline, epoch, epoch.batches.size()};
  Timeline timeline;
  timeline.Clear(sequence.count);
  RunWorkers(sequence, timeline);
  ASSERT_EQ(timeline.batch.size(), sequence.count);
  for (std::size_t k = 0; k < timeline.batch.size(); ++k) {
    EXPECT_EQ(sequence.at(timeline.batch[k]).loader, k % 2) << k;
  }
}

TEST(TogetherTest, ASettingIsGivenToAllOfThem) {
  const Pipeline pipeline = InStep(1, 3, BatchDemand(kSlow, 0, 0), BatchDemand(kSlow, 0, 0));
  Setting setting;
  setting.workers = 1;
  setting.prefetch = 2;
  EXPECT_EQ(Apply(pipeline, setting, {}).beside.front().workers, 3);  // as it was
  setting.workers = 2;
  const Pipeline two = Apply(pipeline, setting, {});
  EXPECT_EQ(two.beside.front().workers, 2);
  EXPECT_NEAR(RateOf(two), 8 / (kSlow / 2), 0.02 * 8 / (kSlow / 2));
}

TEST(TogetherTest, PinningIsThatOfTheMainLoader) {
  Pipeline pipeline = InStep(8, 8, BatchDemand(kFast, 0, 4e-3), BatchDemand(kFast, 0, 4e-3));
  pipeline.epochs.front().batches[1].pin = 2e-3;
  pipeline.beside.front().pin_thread = pipeline.beside.front().pinned = true;
  LoaderFacts facts;
  facts.batch_bytes = 5e6;
  Setting setting;
  setting.workers = 8;
  setting.pin = true;
  const Pipeline pinned = Apply(pipeline, setting, facts);
  EXPECT_TRUE(pinned.pin_thread);
  EXPECT_NEAR(pinned.epochs.front().batches[0].pin, 1e-3, 1e-9);
  EXPECT_EQ(pinned.epochs.front().batches[1].pin, 2e-3);
  EXPECT_TRUE(pinned.beside.front().pin_thread);
}

TEST(TogetherTest, AStepIsThatOfAWholeTurn) {
  const Pipeline pipeline = InStep(8, 8, BatchDemand(kFast, 0, 4e-3), BatchDemand(kFast, 0, 12e-3));
  Setting setting;
  setting.workers = 8;
  setting.prefetch = 2;
  setting.step = 40e-3;
  EXPECT_NEAR(RateOf(Apply(pipeline, setting, {})), 8 / 40e-3, 1e-3 * 8 / 40e-3);
}

TEST(TogetherTest, WorkersOfTheirOwnNeedMemoryOfTheirOwn) {
  Pipeline pipeline = InStep(2, 2, BatchDemand(kFast, 0, 0), BatchDemand(kFast, 0, 0));
  pipeline.beside.front().batch_bytes = 3e6;
  LoaderFacts facts;
  facts.batch_bytes = 1e6;
  facts.worker_bytes = 50e6;
  Setting setting;
  setting.workers = 2;
  setting.prefetch = 2;
  EXPECT_EQ(RamOf(pipeline, setting, facts),
            2 * 3 * 1'000'000U + 2 * 3 * 3'000'000U + 200'000'000U);
}

TEST(TogetherTest, TheRecordedSettingNeedsTheMemoryThatItHad) {
  Pipeline pipeline = InStep(2, 1, BatchDemand(kFast, 0, 0), BatchDemand(kFast, 0, 0));
  pipeline.beside.front().batch_bytes = 3e6;
  pipeline.beside.front().prefetch = 4;
  LoaderFacts facts;
  facts.batch_bytes = 1e6;
  facts.worker_bytes = 50e6;
  Setting setting;
  setting.workers = 2;
  setting.prefetch = 2;
  EXPECT_EQ(AllWorkers(pipeline, setting), 3);
  EXPECT_EQ(RamOf(pipeline, setting, facts), 2 * 3 * 1'000'000U + 5 * 3'000'000U + 150'000'000U);
  EXPECT_NEAR(SharedMemoryOf(pipeline, setting, facts), kSharedMargin * 21e6, 1);
  setting.workers = 3;  // the other loader gets three workers of a depth of two as well
  EXPECT_EQ(AllWorkers(pipeline, setting), 6);
  EXPECT_EQ(RamOf(pipeline, setting, facts),
            3 * 3 * 1'000'000U + 3 * 3 * 3'000'000U + 300'000'000U);
}

// Turns one loader into two. Every fourth batch comes from the first loader, which has one worker.
// The second has three. Each epoch becomes two iterators, with numbers of their own.
traces::BatchKey KeyOfTwo(traces::BatchKey key) {
  const auto first = static_cast<std::uint16_t>(2 * key.generation - 1);
  const auto second = static_cast<std::uint16_t>(2 * key.generation);
  if (!key.valid()) return {key.index, first};
  const std::uint32_t turn = key.index / 4;
  const std::uint32_t place = key.index % 4;
  return place == 0 ? traces::BatchKey{turn, first}
                    : traces::BatchKey{3 * turn + place - 1, second};
}

traces::TraceData MakeTwoLoaders(const testing::Synthetic& run) {
  traces::TraceData data = testing::MakeSynthetic(run);
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.batch.generation > 0) span.batch = KeyOfTwo(span.batch);
    }
  }
  for (traces::Event& event : data.events) {
    if (event.batch.generation > 0) event.batch = KeyOfTwo(event.batch);
  }
  auto& facts = data.processes[0].facts;
  facts["loader.0.num_workers"] = "1";
  facts["loader.1.num_workers"] = "3";
  facts["loader.1.prefetch_factor"] = "2";
  facts["loader.1.batch_size"] = "4";
  for (int epoch = 0; epoch < run.epochs; ++epoch) {
    facts["epoch." + std::to_string(2 * epoch + 1)] = "0";
    facts["epoch." + std::to_string(2 * epoch + 2)] = "1";
  }
  return data;
}

// The steady rate leaves pauses out, so the simulation does too.
TEST(TogetherTest, APauseIsNoStep) {
  testing::Synthetic run;
  run.workers = 4;
  run.costs = [](int, int index) {
    testing::Costs costs;
    if (index == 101) costs.step = 5000;
    return costs;
  };
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(MakeTwoLoaders(run)));
  ASSERT_EQ(diagnosis.run.loader().use, LoopUse::kInterleaved);
  ASSERT_TRUE(IsSimulated(*diagnosis.loader, diagnosis.run.loader()));
  EXPECT_GT(diagnosis.loader->replay.error(), -0.2);
}

// Between two epochs the program validates for 5 s.
TEST(TogetherTest, TheEndOfAnEpochIsNoStep) {
  testing::Synthetic run;
  run.workers = 4;
  run.epochs = 2;
  run.costs = [](int epoch, int index) {
    testing::Costs costs;
    if (epoch == 0 && index == 199) costs.step = 5000;
    return costs;
  };
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(MakeTwoLoaders(run)));
  ASSERT_EQ(diagnosis.run.loader().config.num_workers, 3);  // the main loader has the last batch
  ASSERT_EQ(diagnosis.run.loader().epochs.size(), 2U);
  ASSERT_TRUE(IsSimulated(*diagnosis.loader, diagnosis.run.loader()));
  ASSERT_EQ(diagnosis.loader->pipeline.epochs.size(), 1U);
  for (const Demand& demand : diagnosis.loader->pipeline.epochs.front().batches) {
    EXPECT_LT(demand.step, 0.1);
  }
}

TEST(TogetherTest, WithoutWorkersNoLoaderPaysForFreshMemory) {
  testing::Synthetic run;
  run.workers = 4;
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(MakeTwoLoaders(run)));
  const Pipeline& recorded = diagnosis.loader->pipeline;
  ASSERT_EQ(recorded.beside.size(), 1U);
  LoaderFacts facts = diagnosis.loader->facts;
  Setting none;
  none.workers = 0;
  facts.fresh = {};
  const Pipeline before = Apply(recorded, none, facts);
  facts.fresh.batch = 0.2e-3;  // collating takes 0.5 ms
  const Pipeline after = Apply(recorded, none, facts);
  for (std::size_t k = 0; k < 20; ++k) {
    const Demand& one = after.epochs.front().batches[k];
    EXPECT_LT(one.collate.cpu, before.epochs.front().batches[k].collate.cpu) << one.loader;
  }
}

TEST(TogetherTest, ThePageTellsBatchesFromTheWorkersOfAllLoaders) {
  testing::Synthetic run;
  run.workers = 4;
  const auto trace = traces::MakeTrace(MakeTwoLoaders(run));
  Report report = BuildReport(*trace, "t");
  LoaderDiagnosis& loader = *report.diagnosis.loader;
  ASSERT_EQ(loader.pipeline.beside.size(), 1U);
  loader.pipeline.beside.front().batch_bytes = 3e6;
  loader.facts.batch_bytes = 1e6;
  loader.facts.worker_bytes = 50e6;
  const WorkerCurve curve = BuildPlots(*trace, report).workers;
  ASSERT_FALSE(curve.points.empty());
  for (const CurvePoint& point : curve.points) {
    if (point.workers == 0) continue;
    const int others = point.recorded ? 1 : point.workers;  // workers of the second loader
    const double batches = (1e6 * point.workers + 3e6 * others) * (curve.prefetch + 1);
    EXPECT_DOUBLE_EQ(static_cast<double>(point.of_batches), batches) << point.workers;
    EXPECT_DOUBLE_EQ(static_cast<double>(point.ram), batches + 50e6 * (point.workers + others));
  }
}

// The plan said "no change gains", of a decoder that it had not examined.
TEST(TogetherTest, ThePlanSaysWhatItDoesNotExamineForSeveralLoaders) {
  testing::Synthetic run;
  run.workers = 4;
  run.costs = testing::Always({.read = 1, .decode = 20, .augment = 2, .step = 2});
  const Report both = BuildReport(*traces::MakeTrace(MakeTwoLoaders(run)), "t");
  ASSERT_FALSE(both.diagnosis.loader->pipeline.beside.empty());
  ASSERT_TRUE(both.plan.missing.empty()) << English(both.plan.missing);
  const std::string open =
      "Decoder, picture size, cache, pixel format and device were not examined";
  EXPECT_NE(English(both.plan.verdict).find(open), std::string::npos) << English(both.plan.verdict);
  const Report one = BuildReport(*testing::SyntheticTrace(run), "t");
  EXPECT_EQ(English(one.plan.verdict).find(open), std::string::npos) << English(one.plan.verdict);
}

TEST(TogetherTest, ANoteNamesTheLoaderWhoseSamplesCount) {
  testing::Synthetic run;
  run.workers = 4;
  Diagnosis diagnosis = Diagnose(*traces::MakeTrace(MakeTwoLoaders(run)));
  diagnosis.run.loaders.front().name = "train.py:82 #2";
  GridRequest request;
  request.workers = {2};
  const auto grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid);
  bool named = false;
  for (const Statement& note : grid->notes) {
    named = named || English(note).ends_with("count the samples of train.py:82 #2");
  }
  EXPECT_TRUE(named);
}

// Turns one loader into several. The first loader has the odd epochs. The batches of the even
// epochs come from a second loader or, if `two`, alternately from a second and a third.
traces::TraceData WithValidation(const testing::Synthetic& run, bool two) {
  traces::TraceData data = testing::MakeSynthetic(run);
  const auto key_of = [two](traces::BatchKey key) {
    const auto first = static_cast<std::uint16_t>(2 * key.generation - 1);
    const auto second = static_cast<std::uint16_t>(2 * key.generation);
    if (!two || key.generation % 2 == 1 || !key.valid()) return traces::BatchKey{key.index, first};
    return traces::BatchKey{key.index / 2, key.index % 2 == 0 ? first : second};
  };
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.batch.generation > 0) span.batch = key_of(span.batch);
    }
  }
  for (traces::Event& event : data.events) {
    if (event.batch.generation > 0) event.batch = key_of(event.batch);
  }
  auto& facts = data.processes[0].facts;
  for (const char* loader : {"loader.1.", "loader.2."}) {
    if (!two && loader == std::string("loader.2.")) continue;
    facts[loader + std::string("num_workers")] = std::to_string(run.workers);
    facts[loader + std::string("prefetch_factor")] = std::to_string(run.prefetch);
    facts[loader + std::string("batch_size")] = std::to_string(run.batch_size);
  }
  for (int epoch = 1; epoch <= run.epochs; ++epoch) {
    facts["epoch." + std::to_string(2 * epoch - 1)] = epoch % 2 == 1 ? "0" : "1";
    facts["epoch." + std::to_string(2 * epoch)] = "2";
  }
  return data;
}

TEST(TogetherTest, TimeWithLoadersUsedTogetherCountsOnce) {
  testing::Synthetic run;
  run.epochs = 3;
  const Diagnosis one = Diagnose(*traces::MakeTrace(WithValidation(run, false)));
  const Diagnosis two = Diagnose(*traces::MakeTrace(WithValidation(run, true)));
  ASSERT_EQ(one.run.loaders.size(), 2U);
  ASSERT_EQ(two.run.loaders.size(), 3U);
  ASSERT_EQ(two.run.loader().use, LoopUse::kInTurn);
  ASSERT_EQ(two.run.loaders[1].use, LoopUse::kInterleaved);
  ASSERT_EQ(two.run.loader().epochs.size(), 2U);
  EXPECT_NEAR(two.whole_rate, one.whole_rate, 0.02 * one.whole_rate);
}

TEST(TogetherTest, WorkersThatValidationStartsAreItsTime) {
  testing::Synthetic run;
  run.worker_start = 200;
  const Diagnosis alone = Diagnose(*traces::MakeTrace(testing::MakeSynthetic(run)));
  run.epochs = 3;
  const Diagnosis found = Diagnose(*traces::MakeTrace(WithValidation(run, false)));
  ASSERT_EQ(found.run.loader().epochs.size(), 2U);
  EXPECT_NEAR(found.whole_rate, alone.whole_rate, 0.02 * alone.whole_rate);
}

// The fetches of the first loader were not seen, so the loaders cannot be simulated together.
TEST(TogetherTest, WhatCannotBeSimulatedKeepsItsOwnSetting) {
  testing::Synthetic run;
  run.workers = 4;
  traces::TraceData data = MakeTwoLoaders(run);
  for (auto& spans : data.spans) {
    std::erase_if(spans, [](const traces::Span& span) {
      const bool fetching =
          span.stage != traces::StageId::kPut && span.stage != traces::StageId::kGet &&
          span.stage != traces::StageId::kWait && span.stage != traces::StageId::kStep;
      return fetching && span.batch.valid() && span.batch.generation == 1;
    });
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(diagnosis.run.loaders.size(), 2U);
  ASSERT_EQ(diagnosis.run.loader().use, LoopUse::kInterleaved);
  EXPECT_FALSE(IsSimulated(*diagnosis.loader, diagnosis.run.loader()));
  ASSERT_EQ(diagnosis.others.size(), 1U);
  const OtherLoader& other = diagnosis.others.front();
  EXPECT_EQ(other.suggestion.workers, diagnosis.run.loaders[other.loader].config.num_workers);
  EXPECT_NE(other.suggestion.workers, diagnosis.loader->suggestion.workers);
  EXPECT_FALSE(other.suggestion.missing.empty());
}

// The interval of the memory of all loaders includes the growth of the other loader's workers.
TEST(TogetherTest, TheMemoryOfAllLoadersIsAsUncertainAsThatOfAllTheirWorkers) {
  Diagnosis diagnosis =
      Diagnose(*traces::MakeTrace(testing::WithMemory(testing::TwoWorkers(), testing::Copying)));
  const auto below = [&] {
    const Interval total = MemoryForecasts(diagnosis).front().total;
    return total.estimate - total.low;
  };
  const double alone = below();
  ASSERT_GT(alone, 0);
  diagnosis.loader->pipeline.beside.emplace_back().workers = 2;
  EXPECT_NEAR(below(), 2 * alone, 1);
  const std::string note = English(MemoryNotes(diagnosis).back().statement);
  EXPECT_NE(note.find(", 2 loaders together"), std::string::npos) << note;
}

}  // namespace
}  // namespace penstock::analyzer
