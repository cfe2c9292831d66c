// SPDX-License-Identifier: Apache-2.0
//
// Compares the simulator with the slow simulator on small random cases, and with known results.
#include "analyzer/simulate/simulate.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/analyzer/slow_simulator.h"

namespace penstock::analyzer {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  double Time() { return -std::log(1 - static_cast<double>(random_() >> 11) * 0x1p-53) * 10e-3; }
  double Maybe() { return Below(2) == 0 ? 0 : Time(); }

 private:
  std::mt19937_64 random_;
};

Work SomeWork(Dice& dice) {
  const double cpu = dice.Maybe();
  return {cpu + dice.Time(), cpu};
}

Pipeline SomePipeline(Dice& dice, bool sample_tasks) {
  Pipeline pipeline;
  pipeline.workers = static_cast<int>(1 + dice.Below(4));
  pipeline.prefetch = static_cast<int>(1 + dice.Below(3));
  pipeline.in_order = sample_tasks || dice.Below(3) > 0;
  pipeline.pin_thread = dice.Below(2) == 0;
  pipeline.sample_tasks = sample_tasks;
  pipeline.cores = std::array{0.5, 1.0, 2.0, 3.5, 16.0}[dice.Below(5)];
  pipeline.overhead = 0.1 * dice.Maybe();
  pipeline.feed_share = std::array{0.0, 0.3, 1.0}[dice.Below(3)];
  pipeline.get_share = std::array{0.0, 0.3, 1.0}[dice.Below(3)];
  pipeline.asking = dice.Maybe();
  pipeline.preempted = dice.Maybe();
  pipeline.step_load = std::array{0.0, 0.4, 1.0, 1.7}[dice.Below(4)];
  pipeline.worker_cpu = dice.Maybe();
  pipeline.others = std::array{0.0, 0.0, 1.3, 4.0}[dice.Below(4)];
  pipeline.device_per_sample = dice.Below(2) == 0 ? 0 : 0.3 * dice.Time();
  pipeline.turns = !sample_tasks && dice.Below(3) == 0;
  for (std::size_t w = dice.Below(3); w > 0; --w) {
    const Work work = SomeWork(dice);
    pipeline.slower.push_back({work.wall / 3, work.cpu / 3});
  }
  EpochDemand epoch;
  // The start of every worker is given. Workers without a given start would start at the same time.
  const std::size_t known = static_cast<std::size_t>(pipeline.workers) + dice.Below(3);
  for (std::size_t w = known; w > 0; --w) epoch.worker_start.push_back(dice.Time());
  epoch.one_more = 0.1 * dice.Maybe();
  if (!sample_tasks && dice.Below(3) == 0) epoch.warm_up.decode = SomeWork(dice);
  for (std::size_t n = 1 + dice.Below(30); n > 0; --n) {
    Demand demand;
    demand.read = SomeWork(dice);
    demand.decode = SomeWork(dice);
    demand.collate = sample_tasks && dice.Below(2) == 0 ? Work{} : SomeWork(dice);
    if (!sample_tasks && dice.Below(4) == 0) {  // three threads augment
      const double wall = dice.Time();
      demand.augment = {wall, 3 * wall};
    }
    demand.samples = static_cast<double>(1 + dice.Below(3));
    demand.put = dice.Maybe();
    demand.feed = dice.Maybe();
    demand.latency = dice.Time();  // a batch arrives later than it is finished
    demand.get = dice.Maybe();
    demand.pin = dice.Maybe();
    demand.next = dice.Time();  // so the loop wakes no worker at the moment when it wakes up itself
    demand.step = dice.Maybe();
    demand.h2d = dice.Maybe();
    demand.first_sample = epoch.samples.size();
    demand.tasks = sample_tasks ? 1 + dice.Below(4) : 0;
    for (std::size_t k = 0; k < demand.tasks; ++k) {
      const auto cpu = static_cast<float>(dice.Maybe());
      // A read is longer than the device's part by a random time. Otherwise two reads could come to
      // the device at the same moment, and either order would be right.
      const auto read = static_cast<float>(pipeline.device_per_sample + dice.Time());
      epoch.samples.push_back({read, 0, cpu, cpu, 0, 0});
    }
    epoch.batches.push_back(demand);
  }
  pipeline.epochs.push_back(epoch);
  return pipeline;
}

void ExpectSame(const Timeline& fast, const Timeline& slow, std::uint64_t seed) {
  ASSERT_EQ(fast.batch, slow.batch) << "seed " << seed;
  for (std::size_t k = 0; k < slow.delivered.size(); ++k) {
    ASSERT_NEAR(fast.entered[k], slow.entered[k], 1e-6) << "seed " << seed << " batch " << k;
    ASSERT_NEAR(fast.delivered[k], slow.delivered[k], 1e-6) << "seed " << seed << " batch " << k;
  }
  ASSERT_NEAR(fast.end, slow.end, 1e-6) << "seed " << seed;
}

TEST(SimulateTest, WorkersAgreeWithTheSlowSimulator) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    const Pipeline pipeline = SomePipeline(dice, false);
    const EpochDemand& epoch = pipeline.epochs.front();
    // If the sequence is longer than the recording, the recording begins again.
    const Sequence sequence{pipeline, epoch, epoch.batches.size() + dice.Below(5)};
    Timeline fast;
    RunWorkers(sequence, fast);
    ExpectSame(fast, testing::SlowWorkers(sequence), seed);
    if (HasFatalFailure()) return;
  }
}

TEST(SimulateTest, ThreadsAgreeWithTheSlowSimulator) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    const Pipeline pipeline = SomePipeline(dice, true);
    const EpochDemand& epoch = pipeline.epochs.front();
    const Sequence sequence{pipeline, epoch, epoch.batches.size() + dice.Below(5)};
    Timeline fast;
    RunThreads(sequence, fast);
    ExpectSame(fast, testing::SlowThreads(sequence), seed);
    if (HasFatalFailure()) return;
  }
}

// `n` batches that take `service` seconds, `cpu` of them computing, and steps of `step` seconds.
Pipeline Even(std::size_t n, double service, double cpu, double step) {
  Pipeline pipeline;
  pipeline.workers = 2;
  pipeline.cores = 16;
  EpochDemand epoch;
  Demand demand;
  demand.decode = {service, cpu};
  demand.step = step;
  epoch.batches.assign(n, demand);
  pipeline.epochs.push_back(epoch);
  return pipeline;
}

TEST(SimulateTest, EvenBatchesObeyTheBottleneckLaw) {
  for (const int workers : {1, 2, 3, 8}) {
    for (const double step : {0.0, 10e-3, 40e-3}) {
      Pipeline pipeline = Even(200, 40e-3, 0, step);
      pipeline.workers = workers;
      const double law = std::min(workers / 40e-3, step > 0 ? 1 / step : 1e9);
      EXPECT_NEAR(SimulateSteady(pipeline).rate(), law, 0.01 * law) << workers << " " << step;
    }
  }
}

TEST(SimulateTest, CoresBoundTheRateWhateverTheWorkers) {
  Pipeline pipeline = Even(200, 40e-3, 40e-3, 0);
  pipeline.cores = 2;
  for (const int workers : {2, 4, 8}) {
    pipeline.workers = workers;
    EXPECT_NEAR(SimulateSteady(pipeline).rate(), 50, 0.5) << workers;
  }
}

// Eight workers that wait 36 ms and compute 4 ms on one core are a closed queueing network. Exact
// mean value analysis (Reiser and Lavenberg 1980) gives 177.7 batches per second. Without queueing
// it would be 200.
TEST(SimulateTest, WaitingNeedsNoCoreAndComputingQueues) {
  Pipeline pipeline = Even(2000, 40e-3, 4e-3, 0);
  pipeline.cores = 1;
  pipeline.workers = 8;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 177.7, 5);
}

TEST(SimulateTest, AStepOfSeveralThreadsTakesTheirShare) {
  Pipeline pipeline = Even(200, 10e-3, 10e-3, 10e-3);
  pipeline.workers = 2;
  pipeline.cores = 2;
  pipeline.step_load = 2;  // CPU time on two cores: 20 ms per step, 10 ms per batch
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 2 / 30e-3, 3);
}

TEST(SimulateTest, OtherProgramsTakeTheirShareOfTheCores) {
  Pipeline pipeline = Even(200, 10e-3, 10e-3, 0);
  pipeline.cores = 2;
  pipeline.workers = 1;
  pipeline.others = 3;  // four threads on two cores
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 50, 0.5);
  pipeline.workers = 3;  // six threads: a third of the speed each
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 100, 1);
  pipeline.workers = 0;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 50, 0.5);
}

TEST(SimulateTest, StorageBoundsTheRateWhateverTheWorkers) {
  Pipeline pipeline = Even(400, 0, 0, 0);
  for (Demand& demand : pipeline.epochs.front().batches) demand.read = {50e-3, 0};
  pipeline.device_per_sample = 10e-3;  // 40 ms of each read overlap with others
  pipeline.workers = 1;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 20, 0.2);
  pipeline.workers = 4;
  const double four = SimulateSteady(pipeline).rate();
  EXPECT_GT(four, 68);    // 68.9 if each comes at random times (mean value analysis)
  EXPECT_LT(four, 80.5);  // 80 if none waits for another
  pipeline.workers = 16;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 100, 2);
}

// Reads of 5 ms take turns, and each is followed by 5 ms of work. Two workers keep the lock busy,
// and a third adds nothing.
TEST(SimulateTest, TurnsAreTakenSampleBySample) {
  Pipeline pipeline = Even(400, 20e-3, 20e-3, 0);
  for (Demand& demand : pipeline.epochs.front().batches) {
    demand.read = {20e-3, 0};
    demand.samples = 4;
  }
  pipeline.device_per_sample = 5e-3;
  pipeline.turns = true;
  pipeline.workers = 1;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 100, 1);
  for (const int workers : {2, 3, 8}) {
    pipeline.workers = workers;
    EXPECT_NEAR(SimulateSteady(pipeline).rate(), 200, 3) << workers;
  }
}

TEST(SimulateTest, ASlowWorkerHoldsUpThoseInTurn) {
  Pipeline pipeline = Even(400, 10e-3, 0, 0);
  pipeline.workers = 4;
  pipeline.slower = {{30e-3, 0}};                        // for each sample; a batch has one
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 100, 1);  // four batches per 40 ms of the slow one
  pipeline.workers = 8;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 200, 2);
  pipeline.in_order = false;  // the others do not wait for it
  EXPECT_GT(SimulateSteady(pipeline).rate(), 500);
}

// docs/diagnosis.md 3.9: batches wait behind a very slow one. Delivery out of order and more
// credits both help.
TEST(SimulateTest, OrderAndCreditMatterWhereBatchesAreUneven) {
  Pipeline pipeline = Even(1000, 6e-3, 0, 12e-3);
  pipeline.workers = 4;
  for (std::size_t j = 0; j < 1000; ++j) {
    if (j * 7919 % 100 < 6) pipeline.epochs[0].batches[j].decode.wall = 250e-3;
  }
  const double base = SimulateSteady(pipeline).rate();
  Pipeline deeper = pipeline;
  deeper.prefetch = 8;
  Pipeline unordered = pipeline;
  unordered.in_order = false;
  EXPECT_GT(SimulateSteady(deeper).rate(), 1.2 * base);
  EXPECT_GT(SimulateSteady(unordered).rate(), 1.2 * base);
}

TEST(SimulateTest, ThePinThreadWorksBesideTheConsumer) {
  Pipeline pipeline = Even(200, 1e-3, 0, 10e-3);
  for (Demand& demand : pipeline.epochs[0].batches) demand.get = 8e-3;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 1 / 18e-3, 1);
  pipeline.pin_thread = true;
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 1 / 10e-3, 1);
}

TEST(SimulateTest, SampleThreadsShareABatch) {
  Pipeline pipeline = Even(100, 0, 0, 0);
  pipeline.sample_tasks = true;
  pipeline.workers = 4;
  EpochDemand& epoch = pipeline.epochs.front();
  for (Demand& demand : epoch.batches) {
    demand.first_sample = epoch.samples.size();
    demand.tasks = 8;
    epoch.samples.insert(epoch.samples.end(), 8, SampleCost{0, 0, 5e-3F, 0, 0, 0});
  }
  EXPECT_NEAR(SimulateSteady(pipeline).rate(), 4 / 40e-3, 1);  // batches of 8 samples each
}

// The first batches fill the queues and are not counted.
TEST(ShortenedTest, HasASteadyPartBehindLongQueues) {
  Pipeline pipeline = Even(1000, 0, 0, 0);
  std::vector<Demand>& batches = pipeline.epochs.front().batches;
  for (std::size_t j = 0; j < 300; ++j) batches[j].counted = false;
  const Pipeline part = Shortened(pipeline, 256, 2048);
  EXPECT_EQ(part.batches(), 300U + 256U);
  EXPECT_EQ(SteadyPart(part).batches(), 256U);
  batches[200].counted = true;
  EXPECT_EQ(Shortened(pipeline, 256, 2048).batches(), 256U);
}

TEST(SimulateTest, SurvivesCostsOfNothing) {
  Pipeline pipeline = Even(100'000, 0, 0, 0);
  EXPECT_GE(Simulate(pipeline).time, 0);
  pipeline.workers = 0;
  EXPECT_EQ(Simulate(pipeline).time, 0);
  EXPECT_EQ(SimulateSteady(Pipeline{}).time, 0);
}

}  // namespace
}  // namespace penstock::analyzer
