// SPDX-License-Identifier: Apache-2.0
//
// Compares predictions from one synthetic trace with traces of the predicted settings. Tests grids.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/main/arguments.h"
#include "analyzer/predict/attribution.h"
#include "analyzer/predict/factors.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/report/grid_report.h"
#include "analyzer/simulate/pipeline.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/whatif/uneven_turns.h"
#include "analyzer/words/assumptions.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;

// A run whose batches take different times to decode. The times are the same under every setting.
Synthetic Uneven() {
  static const std::vector<double> decode = [] {
    std::mt19937_64 random(3);
    std::lognormal_distribution<double> draw(2.5, 0.8);
    std::vector<double> values(400);
    for (double& value : values) value = draw(random);
    return values;
  }();
  Synthetic run;
  run.batches = 400;
  run.cores = 16;
  run.costs = [](int, int index) {
    Costs costs{1, decode[static_cast<std::size_t>(index)], 3, 1, 0.1, 0.3, 9, 0};
    return costs;
  };
  return run;
}

double RateOf(const Synthetic& run) {
  return FindSteadyState(BuildRunModel(*SyntheticTrace(run)).loader()).rate.estimate;
}

Configuration Only(const Diagnosis& diagnosis, GridRequest request) {
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  EXPECT_TRUE(grid);
  if (!grid || grid->configurations.size() != 1) return {};
  return grid->configurations.front();
}

TEST(WhatifTest, PredictsUnseenWorkersAndDepths) {
  double worst = 0;
  double sum = 0;
  int cells = 0;
  for (const int source : {1, 3}) {
    Synthetic run = Uneven();
    run.workers = source;
    const Diagnosis from = Diagnose(*SyntheticTrace(run));
    for (const int workers : {1, 2, 3, 4, 6}) {
      for (const int prefetch : {1, 2, 4}) {
        run.workers = workers;
        run.prefetch = prefetch;
        const double truth = RateOf(run);
        GridRequest request;
        request.workers = {workers};
        request.prefetch = {prefetch};
        const double error = Only(from, request).predicted.rate.estimate / truth - 1;
        worst = std::max(worst, std::abs(error));
        sum += std::abs(error);
        ++cells;
      }
    }
  }
  // The steady window of the true trace begins at another batch, so it covers other data.
  EXPECT_LT(sum / cells, 0.02);
  EXPECT_LT(worst, 0.06);
}

TEST(WhatifTest, PredictsAnotherBatchSize) {
  Synthetic run;
  run.cores = 16;
  run.workers = 2;
  run.costs = testing::Always(Costs{1, 20, 8, 1, 0.1, 0.3, 4, 0});
  const Diagnosis from = Diagnose(*SyntheticTrace(run));
  run.batch_size = 8;
  run.costs = testing::Always(Costs{2, 40, 16, 2, 0.15, 0.45, 8, 0});
  GridRequest request;
  request.batch = 8;
  const Configuration eight = Only(from, request);
  EXPECT_NEAR(eight.predicted.rate.estimate, RateOf(run), 0.02 * RateOf(run));
  EXPECT_EQ(eight.batch, 8);
  EXPECT_NEAR(static_cast<double>(eight.predicted.ram), 8 * 150'528 * 2 * 3, 1);
  EXPECT_FALSE(eight.recorded);
}

TEST(WhatifTest, AnotherBatchSizeKeepsEverySampleAndItsCost) {
  const Diagnosis from = Diagnose(*SyntheticTrace(Uneven()));
  const Pipeline& before = from.loader->pipeline;
  const auto totals = [](const Pipeline& pipeline) {
    std::array<double, 4> sum{};
    for (const EpochDemand& epoch : pipeline.epochs) {
      for (const Demand& demand : epoch.batches) {
        sum[0] += demand.samples;
        sum[1] += demand.service();
        sum[2] += demand.cpu();
        sum[3] += demand.step;
      }
    }
    return sum;
  };
  for (const int batch : {1, 3, 64, 5000}) {
    const Pipeline after = WithBatch(before, from.run.loader(), batch);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(totals(after)[i], totals(before)[i], 1e-6 * totals(before)[i])
          << batch << " " << i;
    }
    EXPECT_EQ(after.batches(), static_cast<std::size_t>((1600 + batch - 1) / batch));
  }
}

TEST(WhatifTest, AFasterStageIsWorthWhatItTakes) {
  Synthetic run;
  run.workers = 2;
  run.cores = 16;
  run.costs = testing::Always(Costs{1, 20, 8, 1, 0, 0.1, 2, 0});
  const Diagnosis from = Diagnose(*SyntheticTrace(run));
  const double now = from.samples_rate;
  GridRequest request;
  request.scale = {{Factor::kDecode, 0.5}};
  EXPECT_NEAR(Only(from, request).predicted.rate.estimate, now * 30 / 20, 0.02 * now);
  request.scale = {{Factor::kDecode, 0}, {Factor::kAugment, 0}};
  const Configuration free = Only(from, request);
  EXPECT_NEAR(free.predicted.rate.estimate, 4 / 2.1e-3, 0.02 * 4 / 2.1e-3);
  EXPECT_EQ(free.bottleneck, Factor::kCompute);
  request.scale.clear();
  request.step = 50e-3;
  const Configuration slow = Only(from, request);
  EXPECT_NEAR(slow.predicted.rate.estimate, 4 / 50.1e-3, 2);
  EXPECT_EQ(slow.bottleneck, Factor::kCompute);
}

TEST(WhatifTest, WorkersThatStaySaveTheStartOfLaterEpochs) {
  Synthetic run;
  run.epochs = 4;
  run.batches = 40;
  run.worker_start = 200;
  const Diagnosis from = Diagnose(*SyntheticTrace(run));
  GridRequest request;
  request.persistent = true;
  EXPECT_GT(Only(from, request).predicted.speedup, 1.5);
  request.persistent = false;
  EXPECT_NEAR(Only(from, request).predicted.speedup, 1, 1e-9);
}

TEST(WhatifTest, APinThreadTakesUnpicklingOffTheLoop) {
  Synthetic run;
  run.workers = 4;
  run.cores = 16;
  run.costs = testing::Always(Costs{1, 10, 4, 1, 0.1, 8, 10, 0});
  const Diagnosis from = Diagnose(*SyntheticTrace(run));
  GridRequest request;
  request.pin = true;
  EXPECT_NEAR(Only(from, request).predicted.speedup, 1.8, 0.1);
}

TEST(WhatifTest, WithoutAStepThatComputesTheRateMayBeHigher) {
  Synthetic run;
  run.workers = 2;
  run.cores = 2;
  run.costs = testing::Always({.decode = 10, .step = 40});
  Pipeline filling = Diagnose(*SyntheticTrace(run)).loader->pipeline;
  filling.step_load_known = true;
  filling.step_load = 1;  // the step fills one of two hardware threads
  Pipeline waiting = filling;
  waiting.step_load = 0;
  ScaleFactor(filling, Factor::kCompute, 0, FirstBatches::kScaled);
  ScaleFactor(waiting, Factor::kCompute, 0, FirstBatches::kScaled);
  EXPECT_NEAR(filling.beside_step, 0.65, 1e-9);
  EXPECT_EQ(waiting.beside_step, 0);
  Replay replay;
  replay.measured = replay.simulated = replay.steady = 100;
  const auto doubted = PredictSteady(SteadyPart(filling), replay);
  const auto sure = PredictSteady(SteadyPart(waiting), replay);
  ASSERT_TRUE(doubted && sure);
  EXPECT_GT(doubted->high, 1.6 * doubted->estimate);
  EXPECT_LT(sure->high, 1.2 * sure->estimate);
  EXPECT_GT(doubted->low, 0.8 * doubted->estimate);
}

// A get takes 5 ms longer while the batch's worker makes another batch. The training loop waits.
TEST(WhatifTest, WithoutAHandoverNoWorkerIsAsked) {
  Synthetic run;
  run.workers = 2;
  run.cores = 16;
  run.costs = testing::Always(Costs{1, 6, 1, 1, 0, 1, 2, 0});
  Pipeline pipeline = Diagnose(*SyntheticTrace(run)).loader->pipeline;
  pipeline.beside.emplace_back();
  const auto rate = [](const Pipeline& of) { return SimulateSteady(SteadyPart(of)).rate(); };
  const Pipeline quiet = Idealise(pipeline, Factor::kTransfer);
  pipeline.asking = pipeline.beside[0].asking = 5e-3;
  const Pipeline asked = Idealise(pipeline, Factor::kTransfer);
  EXPECT_LT(rate(pipeline), 0.95 * rate(quiet));
  EXPECT_NEAR(rate(asked), rate(quiet), 1e-6 * rate(quiet));
  EXPECT_EQ(asked.beside[0].asking, 0);
}

TEST(WhatifTest, MoreWorkersThanCoresAreLessCertain) {
  const auto doubt = [](double cpu_share, int workers) {
    Synthetic run;
    run.workers = 2;
    run.cores = 2;
    run.cpu_share = cpu_share;
    run.costs = testing::Always({.augment = 40, .step = 2});
    const LoaderDiagnosis loader = *Diagnose(*SyntheticTrace(run)).loader;
    Setting setting;
    setting.workers = workers;
    return Apply(loader.pipeline, setting, loader.facts).doubt;
  };
  EXPECT_EQ(doubt(1, 2), 0);
  EXPECT_GT(doubt(1, 4), 0.09);
  EXPECT_LT(doubt(0.1, 4), 0.01);  // the cores have time left
}

TEST(WhatifTest, OtherCoresDoNotShortenTheWaitingOfAHandover) {
  Pipeline pipeline = Diagnose(*SyntheticTrace(Uneven())).loader->pipeline;
  pipeline.beside.emplace_back();
  std::vector<Demand>& batches = pipeline.epochs[0].batches;
  batches[1].loader = 1;
  for (std::size_t i = 0; i < 2; ++i) batches[i].feed = batches[i].get = 8e-3;
  for (LoaderSetup* setup : {static_cast<LoaderSetup*>(&pipeline), &pipeline.beside[0]}) {
    setup->feed_share = 0.75;
    setup->get_share = 0.25;
  }
  ScaleComputing(pipeline, 0.5);
  for (std::size_t i = 0; i < 2; ++i) {
    const LoaderSetup& setup = pipeline.setup(i);
    EXPECT_NEAR(setup.feed_share * batches[i].feed, 3e-3, 1e-9);
    EXPECT_NEAR((1 - setup.feed_share) * batches[i].feed, 2e-3, 1e-9);
    EXPECT_NEAR(setup.get_share * batches[i].get, 1e-3, 1e-9);
    EXPECT_NEAR((1 - setup.get_share) * batches[i].get, 6e-3, 1e-9);
  }
}

TEST(GridTest, HasOneElementForEachCombination) {
  const Diagnosis from = Diagnose(*SyntheticTrace(Uneven()));
  GridRequest request;
  request.workers = {0, 2, 4};
  request.prefetch = {2, 8};
  const Predicted<Grid> grid = PredictGrid(from, request);
  ASSERT_TRUE(grid);
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(GridJson(*grid)).get(json), simdjson::SUCCESS);
  simdjson::dom::array all;
  ASSERT_EQ(json["configurations"].get(all), simdjson::SUCCESS);
  ASSERT_EQ(all.size(), 6u);
  for (const simdjson::dom::element one : all) {
    for (const char* key : {"num_workers", "prefetch_factor", "batch_size", "samples_per_s", "low",
                            "high", "ram_bytes"}) {
      EXPECT_TRUE(one[key].is_number()) << key;
    }
    EXPECT_TRUE(one["move_to_gpu"].is_array());
    EXPECT_TRUE(one["bottleneck"].is_string());
    EXPECT_LT(double(one["low"]), double(one["samples_per_s"]));
    EXPECT_GT(double(one["high"]), double(one["samples_per_s"]));
  }
  EXPECT_EQ(std::int64_t(all.at(2)["num_workers"]), 2);
  EXPECT_EQ(std::int64_t(all.at(3)["prefetch_factor"]), 8);
  EXPECT_TRUE(grid->configurations.at(2).recorded);
  EXPECT_FALSE(grid->configurations.at(3).recorded);
}

// What a grid says if more workers are slower than fewer; "": it says nothing.
std::string UnevenNote(const Synthetic& run, std::vector<int> workers) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  GridRequest request;
  request.workers = std::move(workers);
  request.prefetch = {8};
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  EXPECT_TRUE(grid);
  if (!grid) return "refused";
  for (const Statement& note : grid->notes) {
    if (note.Is(words::kUnevenTurns)) return English(note);
  }
  return "";
}

Synthetic EveryTwelfth() {
  Synthetic run;
  run.workers = 2;
  run.cores = 32;
  run.batches = 480;
  run.costs = [](int, int index) {
    Costs costs;
    costs.decode = index % 12 == 5 ? 160 : 5;
    costs.step = 1;
    return costs;
  };
  return run;
}

// Every twelfth batch is slow. If the number of workers divides twelve, one worker gets all slow
// batches.
TEST(GridTest, SaysWhyMoreWorkersAreSlower) {
  const std::string note = UnevenNote(EveryTwelfth(), {3, 4, 5, 6, 7});
  EXPECT_EQ(note.substr(0, 28), "6 workers are slower than 5 ") << note;
  EXPECT_EQ(UnevenNote(EveryTwelfth(), {3, 5, 7}), "");
}

// "error of +19 %" stood below a curve that passed exactly through the recorded rate.
TEST(GridTest, SaysThatTheErrorOfTheSimulationIsTakenOff) {
  const Statement said = Say<words::kReplayError>(Give<"error">(0.19));
  EXPECT_NE(English(said).find("scaled to the recorded rate"), std::string::npos);
  EXPECT_NE(English(said).find("+19 % off"), std::string::npos) << English(said);
}

TEST(GridTest, SaysWhyOneWorkerIsSlowerThanNone) {
  std::vector<Configuration> rates(2);
  for (int workers : {0, 1}) {
    rates[static_cast<std::size_t>(workers)].workers = workers;
    rates[static_cast<std::size_t>(workers)].batch = 16;
  }
  rates[0].predicted.rate.estimate = 160;  // 100 ms a batch
  rates[1].predicted.rate.estimate = 128;  // 125 ms
  LoaderFacts facts;
  facts.fresh.batch = 4e-3;
  facts.fresh.sample = 1e-3;
  const auto said = OneWorkerIsSlower(rates, facts);
  ASSERT_TRUE(said);
  EXPECT_NE(English(*said).find("samples and batch is mapped anew, which costs about 20 ms"),
            std::string::npos)
      << English(*said);
  facts.fresh.sample = 0;  // the memory explains too little
  EXPECT_FALSE(OneWorkerIsSlower(rates, facts));
  facts.fresh.batch = 104.9e-3;
  EXPECT_NE(English(*OneWorkerIsSlower(rates, facts))
                .find("of each batch is mapped anew, which "
                      "costs about 100 ms"),
            std::string::npos);
  rates[1].predicted.rate.estimate = 160;
  EXPECT_FALSE(OneWorkerIsSlower(rates, facts));
}

TEST(GridTest, NamesNoTurnsWhereMoreWorkersAreSlowerForOtherReasons) {
  // Equal batches on two cores. More workers cost more time to start.
  Synthetic equal = EveryTwelfth();
  equal.cores = 2;
  equal.batches = 100;
  equal.costs = testing::Always({.decode = 12, .step = 4});
  EXPECT_EQ(UnevenNote(equal, {1, 2, 4, 8, 12, 24, 64}), "");
  // Slow batches do not come at a fixed distance.
  Synthetic random = EveryTwelfth();
  random.cores = 2;
  random.costs = [](int, int index) {
    Costs costs;
    costs.decode = (static_cast<unsigned>(index) * 2654435761u >> 7) % 12 == 5 ? 160 : 5;
    costs.step = 1;
    return costs;
  };
  EXPECT_EQ(UnevenNote(random, {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}), "");
  // Many short epochs: the base is the whole run, and more workers take longer to start.
  Synthetic starts = EveryTwelfth();
  starts.epochs = 8;
  starts.batches = 24;
  starts.costs = testing::Always({.decode = 12, .step = 4});
  EXPECT_EQ(UnevenNote(starts, {1, 2, 4, 8, 16}), "");
}

TEST(GridTest, MarksWhatDoesNotFit) {
  Synthetic run = Uneven();
  run.sample_bytes = 10'000'000;
  const Diagnosis from = Diagnose(*SyntheticTrace(run));
  GridRequest request;
  request.workers = {2, 8};
  request.budget_ram = 1e9;  // batches of 40 MB take 240 and 960 MB at depth 2, more at depth 8
  request.prefetch = {2, 8};
  const Predicted<Grid> grid = PredictGrid(from, request);
  ASSERT_TRUE(grid);
  EXPECT_TRUE(grid->configurations.at(0).fits);
  EXPECT_TRUE(grid->configurations.at(2).fits);
  EXPECT_FALSE(grid->configurations.at(3).fits);
  EXPECT_NE(GridText(*grid, Colour::kOff).find("! more memory"), std::string::npos);
}

// To convert the pixels of a sample on the device takes the same time in a batch of any size.
TEST(GridTest, ALargerBatchHasMoreBytesOfEachType) {
  Diagnosis from = Diagnose(*SyntheticTrace({}));
  GridRequest request;
  request.workers = {8};
  request.batch = 16;
  request.device_costs.convert.ms_per_megapixel = 20;
  request.device_costs.given = true;
  request.changes.transfer = "f32:u8";  // the types of a batch were not recorded
  const Predicted<Grid> told = PredictGrid(from, request);
  from.loader->material.f32 = from.loader->facts.batch_bytes;
  request.changes.transfer = "u8";
  const Predicted<Grid> known = PredictGrid(from, request);
  ASSERT_TRUE(told && known);
  const double rate = told->configurations.front().predicted.rate.estimate;
  EXPECT_NEAR(known->configurations.front().predicted.rate.estimate, rate, 1e-6 * rate);
}

TEST(GridTest, ALargerBatchTakesMoreFreshMemory) {
  Synthetic run;
  run.workers = 0;
  Diagnosis from = Diagnose(*SyntheticTrace(run));
  GridRequest request;
  request.workers = {1};
  request.batch = 2 * run.batch_size;
  const auto seconds = [&](double fresh) {  // for one batch
    from.loader->facts.fresh = {};
    from.loader->facts.fresh.batch = fresh;
    const Predicted<Grid> grid = PredictGrid(from, request);
    EXPECT_TRUE(grid);
    return grid ? request.batch / grid->configurations.front().predicted.rate.estimate : 0;
  };
  EXPECT_NEAR(seconds(4e-3) - seconds(0), 8e-3, 0.4e-3);
}

TEST(GridTest, RefusesWhatWouldBeGuessing) {
  Synthetic run;
  run.batches = 15;
  const Predicted<Grid> few = PredictGrid(Diagnose(*SyntheticTrace(run)), {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().kind, ErrorKind::kInput);
  EXPECT_NE(few.error().error().message.find("not enough: needs 16 batches"), std::string::npos);
  const Predicted<Grid> none = PredictGrid(Diagnose(*traces::MakeTrace({})), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().error().message.find("not enough: no finished call of the run"),
            std::string::npos);
}

TEST(GridTest, CountsTheRingOfSampleThreadsAsItsOptionDoes) {
  testing::SyntheticThreads run;
  const Diagnosis from = Diagnose(*testing::ThreadsTrace(run));
  GridRequest request;
  request.workers = {4, 8};
  request.prefetch = {4};
  const Predicted<Grid> grid = PredictGrid(from, request);
  ASSERT_TRUE(grid);
  EXPECT_TRUE(grid->configurations.at(0).recorded);
  EXPECT_NEAR(grid->configurations.at(0).predicted.rate.estimate, from.samples_rate,
              0.02 * from.samples_rate);
  EXPECT_GT(grid->configurations.at(1).predicted.speedup, 1.5);
}

// Six workers on two cores: the usual grid ends at four.
TEST(WhatifTest, TheGridContainsTheRecordedSetting) {
  Synthetic run;
  run.workers = 6;
  run.prefetch = 3;
  run.cores = 2;
  const Predicted<Grid> grid = PredictGrid(Diagnose(*SyntheticTrace(run)), GridRequest{});
  ASSERT_TRUE(grid);
  EXPECT_TRUE(std::any_of(grid->configurations.begin(), grid->configurations.end(),
                          [](const Configuration& one) { return one.recorded; }));
}

TEST(ArgumentsTest, ReadsListsAndRanges) {
  EXPECT_EQ(ParseCounts("0,2..4,9", 0), (std::vector<int>{0, 2, 3, 4, 9}));
  for (const char* wrong : {"", "x", "4..1", "1,,2", "1..", "-1", "2000", "1,", "1..2..3", "0x4"}) {
    EXPECT_FALSE(ParseCounts(wrong, 0)) << wrong;
  }
  EXPECT_FALSE(ParseCounts("0", 1));
}

TEST(ArgumentsTest, ReadsSizes) {
  EXPECT_DOUBLE_EQ(ParseSize("8G").value(), 8e9);
  EXPECT_DOUBLE_EQ(ParseSize("1.5GiB").value(), 1.5 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(ParseSize("500mb").value(), 5e8);
  EXPECT_DOUBLE_EQ(ParseSize("4096").value(), 4096);
  for (const char* wrong : {"", "G", "-1G", "8X", "8Gx", "nan", "inf", "0", "1e300T"}) {
    EXPECT_FALSE(ParseSize(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace penstock::analyzer
