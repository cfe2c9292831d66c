// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/loop_use.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "tests/analyzer/synthetic.h"
#include "tests/traces/call_tree_maker.h"

namespace penstock::analyzer {
namespace {

constexpr std::int64_t kLoopMs = 1'000'000;

LoaderRun Loader(std::string made_at, std::string called_from = "", std::uint32_t process = 0) {
  LoaderRun run;
  run.config.made_at = std::move(made_at);
  run.config.called_from = std::move(called_from);
  run.config.consumer = ProcessId{process};
  return run;
}

// Plays a loop that takes batches from loaders on one thread, on a simulated clock.
class LoopOfLoaders {
 public:
  explicit LoopOfLoaders(std::size_t loaders) : loaders_(loaders) {}

  void Epoch(std::size_t loader) {
    analyzer::Epoch epoch;
    epoch.generation = ++generations_;
    epoch.first = loaders_[loader].batches.size();
    loaders_[loader].epochs.push_back(epoch);
  }
  // Waits for `wait` ms, then does a step of `step` ms. The next wait begins when the step ends.
  void Take(std::size_t loader, std::int64_t wait, std::int64_t step) {
    LoaderRun& run = loaders_[loader];
    Batch batch;
    batch.key = {static_cast<std::uint32_t>(run.epochs.back().count++),
                 run.epochs.back().generation};
    batch.wait_start = now_;
    batch.delivered = now_ += wait * kLoopMs;
    batch.step_end = now_ += step * kLoopMs;
    run.batches.push_back(batch);
  }
  std::vector<LoaderRun> Use() {
    FindLoopUse(loaders_);
    return loaders_;
  }

 private:
  std::vector<LoaderRun> loaders_;
  std::int64_t now_ = kLoopMs;
  std::uint16_t generations_ = 0;
};

TEST(LoopUseTest, StepsAreThePartOfTheLoopThatIsNoWaitForAnyLoader) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  loop.Epoch(1);
  for (int i = 0; i < 20; ++i) {
    loop.Take(0, 5, 1);
    loop.Take(1, 3, 1);
  }
  RunModel model;
  EXPECT_EQ(StepFraction(model), 0);
  model.loaders = loop.Use();
  EXPECT_NEAR(StepFraction(model), 0.2, 1e-9);
}

// Two workers need 30 ms for a batch, and the step takes 5 ms: a third of the loop's 15 ms.
TEST(LoopUseTest, TheFunctionsOfAStepAreSharesOfTheLoop) {
  testing::Synthetic run;
  run.costs = testing::Always({.read = 0, .decode = 30, .augment = 0, .step = 5});
  traces::TraceData data = testing::MakeSynthetic(run);
  traces::UnitRow row;
  row.at = testing::Ms(1100);
  row.duration = row.ordinary = testing::Ms(5);
  row.neighbours = 8;
  row.stage = traces::StageId::kStep;
  traces::testing::FollowedUnit unit(row);
  unit.Function("train", "/home/a/train.py", 10, {testing::Ms(5), testing::Ms(5)});
  unit.AddTo(traces::testing::DataOf{data});
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(diagnosis.functions.size(), 1U);
  EXPECT_NEAR(diagnosis.functions[0].of_stage, 1.0 / 3, 0.04);
}

TEST(LoopUseTest, OneLoaderIsAlone) {
  LoopOfLoaders loop(1);
  loop.Epoch(0);
  for (int i = 0; i < 20; ++i) loop.Take(0, 5, 5);
  EXPECT_EQ(loop.Use()[0].use, LoopUse::kAlone);
}

TEST(LoopUseTest, TrainingAndValidationTakeTurns) {
  LoopOfLoaders loop(2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    loop.Epoch(0);
    for (int i = 0; i < 20; ++i) loop.Take(0, 5, 5);
    loop.Epoch(1);
    for (int i = 0; i < 5; ++i) loop.Take(1, 5, 5);
  }
  for (const LoaderRun& run : loop.Use()) EXPECT_EQ(run.use, LoopUse::kInTurn);
}

TEST(LoopUseTest, AValidationInTheMiddleOfAnEpochIsATurn) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  for (int i = 0; i < 100; ++i) {
    loop.Take(0, 5, 5);
    if (i % 40 != 39) continue;
    loop.Epoch(1);
    for (int j = 0; j < 25; ++j) loop.Take(1, 1, 1);
  }
  for (const LoaderRun& run : loop.Use()) EXPECT_EQ(run.use, LoopUse::kInTurn);
}

TEST(LoopUseTest, AShortValidationInTheMiddleOfAnEpochIsATurnToo) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  for (int i = 0; i < 1000; ++i) {
    loop.Take(0, 5, 5);
    if (i % 100 != 99) continue;
    loop.Epoch(1);
    for (int j = 0; j < 4; ++j) loop.Take(1, 1, 1);
  }
  for (const LoaderRun& run : loop.Use()) EXPECT_EQ(run.use, LoopUse::kInTurn);
}

TEST(LoopUseTest, LoadersThatAreDrainedTogetherAreInterleaved) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  loop.Epoch(1);
  for (int i = 0; i < 20; ++i) {
    loop.Take(0, 5, 0);
    loop.Take(1, 3, 2);
  }
  const std::vector<LoaderRun> loaders = loop.Use();
  for (const LoaderRun& run : loaders) {
    EXPECT_EQ(run.use, LoopUse::kInterleaved);
    EXPECT_DOUBLE_EQ(run.batches[3].wait() + run.batches[3].step(), 0.010);
  }
  EXPECT_DOUBLE_EQ(loaders[0].waited, 0.100);
  EXPECT_DOUBLE_EQ(loaders[1].waited, 0.060);
}

TEST(LoopUseTest, ALoaderWithinTheStepsOfAnotherIsInterleaved) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  for (int i = 0; i < 10; ++i) {
    loop.Take(0, 5, 1);
    loop.Epoch(1);
    for (int j = 0; j < 4; ++j) loop.Take(1, 5, 1);
  }
  for (const LoaderRun& run : loop.Use()) EXPECT_EQ(run.use, LoopUse::kInterleaved);
}

TEST(LoopUseTest, ALoopWaitsForAllLoadersThatItDrainsTogether) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  loop.Epoch(1);
  for (int i = 0; i < 40; ++i) {
    loop.Take(0, 5, 0);
    loop.Take(1, 3, 2);
  }
  RunModel model;
  model.loaders = loop.Use();
  const SteadyState steady = FindSteadyState(model.loaders[0]);
  EXPECT_NEAR(steady.wait_fraction(), 0.5, 0.02);
  EXPECT_NEAR(WaitFraction(model, model.loaders[0], steady), 0.8, 0.02);
}

TEST(MostAwaitedTest, IsNotTheLoaderWithTheMostBatches) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  for (int i = 0; i < 200; ++i) loop.Take(0, 1, 1);
  loop.Epoch(1);
  for (int i = 0; i < 20; ++i) loop.Take(1, 40, 10);
  std::vector<LoaderRun> loaders = loop.Use();
  PutMostAwaitedFirst(loaders);
  EXPECT_EQ(loaders[0].batches.size(), 20u);
}

TEST(MostAwaitedTest, WithoutWaitsIsTheOneThatTheLoopSpendsMostTimeWith) {
  LoopOfLoaders loop(2);
  loop.Epoch(0);
  for (int i = 0; i < 50; ++i) loop.Take(0, 1, 2);  // waits for 0.05 s of 2.15 s
  loop.Epoch(1);
  for (int i = 0; i < 20; ++i) loop.Take(1, 0, 100);
  std::vector<LoaderRun> loaders = loop.Use();
  PutMostAwaitedFirst(loaders);
  EXPECT_EQ(loaders[0].batches.size(), 20u);
}

std::string Names(std::vector<LoaderRun> loaders) {
  NameLoaders(loaders);
  std::string names;
  for (const LoaderRun& run : loaders) names += (names.empty() ? "" : ", ") + run.name;
  return names;
}

TEST(NameLoadersTest, FileAndLineSuffice) {
  EXPECT_EQ(Names({Loader("/home/a/train.py:88"), Loader("train.py:90"), Loader("")}),
            "train.py:88, train.py:90, ");
}

TEST(NameLoadersTest, FoldersTellFilesOfOneNameApart) {
  EXPECT_EQ(Names({Loader("/a/left/data.py:8"), Loader("/a/right/data.py:8")}),
            "left/data.py:8, right/data.py:8");
}

TEST(NameLoadersTest, CallersTellTheLoadersOfOneFunctionApart) {
  EXPECT_EQ(
      Names({Loader("/a/data.py:8", "/a/train.py:20"), Loader("/a/data.py:8", "/a/train.py:21")}),
      "train.py:20, train.py:21");
}

TEST(NameLoadersTest, ANumberTellsTheLoadersOfOneLineApart) {
  EXPECT_EQ(Names({Loader("/a/train.py:8"), Loader("/a/train.py:8")}), "train.py:8, train.py:8 #2");
}

TEST(NameLoadersTest, ProcessesDoNotClash) {
  EXPECT_EQ(Names({Loader("/a/train.py:8", "", 0), Loader("/a/train.py:8", "", 1)}),
            "train.py:8, train.py:8");
}

}  // namespace
}  // namespace penstock::analyzer
