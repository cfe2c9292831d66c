// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_workers.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

WorkerTimes TimesFrom(std::vector<double> batches) {
  WorkerTimes times{std::move(batches), 0};
  times.mean = std::accumulate(times.batches.begin(), times.batches.end(), 0.0) /
               static_cast<double>(times.batches.size());
  return times;
}

WorkerTimes EvenWorker(double each, std::size_t batches = 8) {
  return TimesFrom(std::vector<double>(batches, each));
}

TEST(FindSlowWorkersTest, FindsEachFromOneAndAHalfTimesTheMedianOn) {
  const std::vector<WorkerTimes> workers = {EvenWorker(1),    EvenWorker(1.5), EvenWorker(1),
                                            EvenWorker(1.49), EvenWorker(1),   EvenWorker(1),
                                            EvenWorker(3)};
  const std::vector<SlowWorker> slow = FindSlowWorkers(workers);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].index, 1U);
  EXPECT_NEAR(slow[0].times, 1.5, 1e-9);
  EXPECT_EQ(slow[1].index, 6U);
  EXPECT_NEAR(slow[1].times, 3, 1e-9);
}

TEST(FindSlowWorkersTest, BlamesNoneForOneSlowBatch) {
  const std::vector<WorkerTimes> workers = {EvenWorker(1), EvenWorker(1),
                                            TimesFrom({1, 1, 1, 1, 1, 1, 1, 100})};
  EXPECT_TRUE(FindSlowWorkers(workers).empty());
}

TEST(FindSlowWorkersTest, ComparesThreeWorkersWithEightBatches) {
  EXPECT_EQ(FindSlowWorkers(std::vector{EvenWorker(1), EvenWorker(1), EvenWorker(2)}).size(), 1U);
  EXPECT_TRUE(FindSlowWorkers(std::vector{EvenWorker(1), EvenWorker(2)}).empty());
  EXPECT_TRUE(FindSlowWorkers(std::vector{EvenWorker(1), EvenWorker(1, 7), EvenWorker(2)}).empty());
}

TEST(FindSlowWorkersTest, LeavesOutWorkersThatHaveJustBegun) {
  const std::vector<WorkerTimes> workers = {EvenWorker(1, 2), EvenWorker(1), EvenWorker(1),
                                            EvenWorker(9, 3), EvenWorker(2)};
  const std::vector<SlowWorker> slow = FindSlowWorkers(workers);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].index, 4U);
}

TEST(TimesOfWorkersTest, AreThoseOfTheFetches) {
  testing::Synthetic run;
  run.workers = 4;
  run.costs = [](int, int index) {
    testing::Costs costs;
    if (index % 4 == 2) costs.decode = 14;  // worker 2: 17.5 ms a batch, the others 7.5
    return costs;
  };
  const RunModel model = BuildRunModel(*traces::MakeTrace(testing::MakeSynthetic(run)));
  const std::vector<WorkerTimes> times = TimesOfWorkers(model.loader());
  ASSERT_EQ(times.size(), 4U);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double expected = model.loader().workers[i].worker_id == 2 ? 17.5e-3 : 7.5e-3;
    EXPECT_NEAR(times[i].mean, expected, 1e-4);
    EXPECT_NEAR(times[i].batches.front(), expected, 1e-4);
  }
  EXPECT_EQ(FindSlowWorkers(times).size(), 1U);
}

TEST(TimesOfWorkersTest, AreThoseOfANumberWhereEachEpochHasNewProcesses) {
  testing::Synthetic run;
  run.workers = 4;
  run.epochs = 3;
  run.batches = 16;  // four for each process
  run.costs = [](int, int index) {
    testing::Costs costs;
    if (index % 4 == 2) costs.decode = 14;
    return costs;
  };
  const RunModel model = BuildRunModel(*traces::MakeTrace(testing::MakeSynthetic(run)));
  const std::vector<WorkerTimes> times = TimesOfWorkers(model.loader());
  ASSERT_EQ(times.size(), 12U);
  const std::vector<SlowWorker> slow = FindSlowWorkers(times);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(times[slow[0].index].batches.size(), 12U);
  EXPECT_EQ(model.loader().workers[slow[0].index].worker_id, 2);
}

TEST(TimesOfWorkersTest, AreThoseOfTheFirstWhereAProcessHasSeveral) {
  LoaderRun run;
  run.workers.resize(2);
  for (std::size_t i = 0; i < run.workers.size(); ++i) {
    run.workers[i].process = ProcessId{3};
    run.workers[i].worker_id = static_cast<std::int32_t>(i);
    run.workers[i].batches = 4;
    run.workers[i].busy = 2;
  }
  run.batches.resize(8);
  for (Batch& batch : run.batches) {
    batch.worker_process = 3;
    batch.fetch_end = 1;
  }
  const std::vector<WorkerTimes> times = TimesOfWorkers(run);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].batches.size(), 8U);
  EXPECT_TRUE(times[1].batches.empty());
  EXPECT_NEAR(times[1].mean, 0.5, 1e-9);
}

}  // namespace
}  // namespace penstock::analyzer
