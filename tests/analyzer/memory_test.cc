// SPDX-License-Identifier: Apache-2.0
//
// Memory of workers: why it grows, and how much it will take.
#include "analyzer/memory/memory_growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/report/memory_report.h"
#include "analyzer/stats/slope.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_memory.h"

namespace penstock::analyzer {
namespace {

using testing::AddCounter;
using testing::AddShm;
using testing::Copying;
using testing::FindingOf;
using testing::Leaking;
using testing::MakeSynthetic;
using testing::MemoryOf;
using testing::Synthetic;
using testing::Told;
using testing::TwoWorkers;
using testing::Walk;
using testing::WithMemory;

double Number(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key) return std::get<double>(value);
  }
  return std::nan("");
}

TEST(SlopeTest, IntervalHoldsTheSlopeAndShrinksWithPoints) {
  std::vector<double> x;
  std::vector<double> y;
  const std::vector<double> noise = {3, -5, 1, 6, -2, -6, 4, 0, -3, 5, 2, -4, -1};
  for (std::size_t i = 0; i < 40; ++i) {
    x.push_back(static_cast<double>(i));
    y.push_back(3 * x.back() + noise[i % noise.size()]);
  }
  const auto part = [&](std::size_t n) {
    return SlopeInterval(std::span(x).first(n), std::span(y).first(n));
  };
  const Interval many = part(40);
  const Interval few = part(8);
  EXPECT_NEAR(many.estimate, 3, 0.1);
  EXPECT_LT(many.low, 3);
  EXPECT_GT(many.high, 3);
  EXPECT_GT(few.high - few.low, 2 * (many.high - many.low));
  const Interval three = SlopeInterval(std::vector<double>{0, 1, 2}, std::vector<double>{0, 5, 4});
  EXPECT_EQ(three.low, -1);  // the lowest slope of any pair
  EXPECT_EQ(three.high, 5);
  EXPECT_EQ(part(1).high, 0);
}

// The shares of the permutations of `n` things that have 0, 1, 2, ... inversions.
std::vector<double> InversionShares(std::size_t n) {
  std::vector<double> shares = {1};
  for (std::size_t k = 2; k <= n; ++k) {
    std::vector<double> next(shares.size() + k - 1);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (std::size_t j = 0; j < k; ++j) next[i + j] += shares[i] / static_cast<double>(k);
    }
    shares = std::move(next);
  }
  return shares;
}

// With independent errors of one distribution, the number of pairwise slopes below the true slope
// is distributed as the number of inversions of a random permutation (Kendall). So the exact
// coverage follows from the place of the interval's ends among the slopes.
TEST(SlopeTest, IntervalHoldsTheSlopeInNineOfTenCases) {
  std::mt19937_64 random(1);
  for (std::size_t n = 4; n <= 60; ++n) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(i));
      y.push_back(static_cast<double>(random() >> 11));
    }
    std::vector<double> slopes;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = i + 1; k < n; ++k) slopes.push_back((y[k] - y[i]) / (x[k] - x[i]));
    }
    std::sort(slopes.begin(), slopes.end());
    const Interval interval = SlopeInterval(x, y);
    const auto low = std::lower_bound(slopes.begin(), slopes.end(), interval.low) - slopes.begin();
    ASSERT_EQ(slopes.end()[-1 - low], interval.high) << n;
    const std::vector<double> shares = InversionShares(n);
    const double missed = 2 * std::accumulate(shares.begin(), shares.begin() + low + 1, 0.0);
    EXPECT_LE(missed, 0.1) << n;
    EXPECT_GE(missed, n > 5 ? 0.05 : 0.01) << n;
  }
}

TEST(MemoryGrowthTest, WhatWasSharedAndBecomesPrivateIsCopied) {
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), Copying));
  ASSERT_TRUE(memory.attributed);
  EXPECT_EQ(memory.workers.size(), 2u);
  EXPECT_TRUE(memory.growth.copied.certain());
  EXPECT_FALSE(memory.growth.fresh.certain());
  EXPECT_NEAR(memory.growth.copied.grown, 0.8 * 200e6, 10e6);  // after the first fifth
  EXPECT_NEAR(memory.growth.copied.per_batch.estimate, 200e6 / 400, 0.02 * 200e6 / 400);
  EXPECT_NEAR(memory.shared_bytes, 700e6, 1e6);
  // A worker cannot copy more than was shared.
  EXPECT_NEAR(memory.growth.copied.After(1e9).high, 900e6, 1e6);
}

TEST(MemoryGrowthTest, WhatIsNewIsFresh) {
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), Leaking));
  EXPECT_TRUE(memory.growth.fresh.certain());
  EXPECT_FALSE(memory.growth.copied.certain());
  EXPECT_NEAR(memory.growth.fresh.per_batch.estimate, 5e5, 1e4);
  EXPECT_NEAR(memory.growth.fresh.After(4000).estimate, 2e9, 5e7);  // a leak has no limit
}

TEST(MemoryGrowthTest, PagesOfFilesAreNeither) {
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), [](double at) {
    return Walk{40e6, 900e6, 400e6 * at};
  }));
  EXPECT_TRUE(memory.cached.certain());
  EXPECT_FALSE(memory.growth.copied.certain());
  EXPECT_FALSE(memory.growth.fresh.certain());
}

TEST(MemoryGrowthTest, PagesOfFilesThatAreNotWrittenBackAreNotCopied) {
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), [](double at) {
    return Walk{40e6, 900e6, 400e6 * at, 400e6 * at};
  }));
  EXPECT_FALSE(memory.growth.copied.certain());
  EXPECT_TRUE(memory.cached.certain());
  EXPECT_NEAR(memory.private_bytes, 40e6, 1e6);
  EXPECT_NEAR(memory.shared_bytes, 900e6, 1e6);
}

TEST(MemoryGrowthTest, MemoryIsInSwapOnlyAtWalksThatSaySo) {
  const auto nothing = [](double) { return Walk{}; };
  traces::TraceData once = WithMemory(TwoWorkers(), nothing);
  for (const std::uint32_t worker : {1u, 2u}) AddCounter(once, "swap_bytes", worker, 1010, 500e6);
  EXPECT_NEAR(MemoryOf(std::move(once)).private_bytes, 40e6, 1e6);  // the first walk alone
  traces::TraceData always = WithMemory(TwoWorkers(), nothing);
  const std::uint32_t walk = always.Intern("anonymous_bytes").value;
  const auto recorded = always.counters;
  for (traces::CounterSample sample : recorded) {
    if (sample.name.value != walk) continue;
    sample.name = always.Intern("swap_bytes");
    sample.value = 500'000'000;
    always.counters.push_back(sample);
  }
  EXPECT_NEAR(MemoryOf(std::move(always)).private_bytes, 540e6, 1e6);
}

TEST(MemoryGrowthTest, CopiesThatBecomeFewerSettle) {
  // Samples touch pages at random. Every 133 batches, the memory that is still shared shrinks to
  // 37 % of what it was.
  const auto course = [](double at) {
    const double copied = 300e6 * (1 - std::exp(-3 * at));
    return Walk{40e6 + copied, 900e6 - copied, 0};
  };
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), course));
  EXPECT_NEAR(memory.growth.copied.settles, 133, 30);
  EXPECT_NEAR(memory.growth.copied.limit, 300e6, 30e6);
  EXPECT_NEAR(memory.growth.copied.After(2000).estimate, 300e6, 30e6);
}

TEST(MemoryGrowthTest, WorkersSettleWhereMostOfThemDo) {
  const auto cache = [](double at) {
    return Walk{40e6 + 200e6 * (1 - std::exp(-4 * at)), 900e6, 0};
  };
  // The growth of only one of two workers settles. That is too few to predict a limit.
  Told told;
  told.last = Leaking;
  const Growth half = MemoryOf(WithMemory(TwoWorkers(), cache, told)).growth.fresh;
  EXPECT_EQ(half.settles, 0);
  EXPECT_EQ(half.limit, 0);
  Synthetic three = TwoWorkers();
  three.workers = 3;
  const MemoryModel most = MemoryOf(WithMemory(three, cache, told));
  ASSERT_EQ(most.workers.size(), 3u);
  EXPECT_EQ(most.workers[2].fresh.settles, 0);
  EXPECT_GE(most.growth.fresh.settles,
            std::min(most.workers[0].fresh.settles, most.workers[1].fresh.settles));
  EXPECT_GT(most.growth.fresh.settles, 0);
}

TEST(MemoryGrowthTest, AFewWalksAreNoSlope) {
  EXPECT_FALSE(MemoryOf(WithMemory(TwoWorkers(), Copying, {.walks = 3})).known);
  EXPECT_TRUE(MemoryOf(WithMemory(TwoWorkers(), Copying, {.walks = 6})).growth.copied.certain());
}

TEST(MemoryGrowthTest, FewerWorkersMakeMoreBatchesEach) {
  const MemoryModel memory = MemoryOf(WithMemory(TwoWorkers(), Leaking));
  EXPECT_EQ(memory.growth.horizon, 800);
  EXPECT_NEAR(memory.growth.Change(2).estimate, 0, 5e6);
  EXPECT_NEAR(memory.growth.Change(1).estimate, 200e6, 10e6);
  EXPECT_NEAR(memory.growth.Change(4).estimate, -100e6, 10e6);
}

TEST(MemoryGrowthTest, TheIntervalOfAChangeHoldsItsEstimate) {
  WorkerGrowth growth;
  growth.copied.per_second = growth.copied.per_batch = {1e6, 0.5e6, 2e6};
  growth.copied.grown = 60e6;
  growth.copied.limit = 100e6;
  growth.batches = 60;
  growth.horizon = 100;
  EXPECT_EQ(growth.Change(1).high, 0) << "not foreseeable";
  growth.foreseeable = true;
  const Interval change = growth.Change(1);
  EXPECT_NEAR(change.estimate, 40e6, 1);
  EXPECT_NEAR(change.low, 0, 1);      // at 2 MB per batch the limit is already reached
  EXPECT_NEAR(change.high, 40e6, 1);  // at 0.5 MB per batch only 20 MB are added
}

TEST(MemoryGrowthTest, SettingsAreJudgedByTheEndOfTheEpoch) {
  const auto trace = traces::MakeTrace(WithMemory(TwoWorkers(), Copying));
  const Diagnosis diagnosis = Diagnose(*trace);
  const LoaderFacts& facts = diagnosis.loader->facts;
  EXPECT_NEAR(WorkerBytes(facts, 2), 240e6, 5e6);
  EXPECT_NEAR(WorkerBytes(facts, 4), 140e6, 10e6);
  const std::vector<MemoryForecast> forecasts = MemoryForecasts(diagnosis);
  ASSERT_FALSE(forecasts.empty());
  EXPECT_EQ(forecasts[0].workers, 2);
  EXPECT_GT(forecasts[0].total.estimate, 2 * 235e6);
  EXPECT_LE(forecasts[0].total.low, forecasts[0].total.estimate);
}

TEST(MemoryGrowthTest, PagesOfFilesAreNotWhatAWorkerNeeds) {
  const auto mapped = [](double at) { return Walk{40e6, 900e6, 400e6 * at}; };
  const auto trace = traces::MakeTrace(WithMemory(TwoWorkers(), mapped));
  const LoaderDiagnosis loader = *Diagnose(*trace).loader;
  ASSERT_TRUE(loader.memory.attributed);
  EXPECT_EQ(loader.facts.worker_bytes, loader.memory.private_bytes);
  EXPECT_NEAR(WorkerBytes(loader.facts, 2), 40e6, 1e6);
}

TEST(MemoryGrowthTest, MemoryRunsOutWhereALeakMeetsItsLimit) {
  Synthetic run = TwoWorkers();
  run.persistent = true;
  const auto grows = [&](double available) {
    return MemoryOf(WithMemory(run, Leaking, {.walks = 20, .available = available}));
  };
  const MemoryModel memory = grows(10e9);
  EXPECT_EQ(memory.room, 10e9);
  const auto out = memory.OutOfMemory(2);
  ASSERT_TRUE(out);
  // Each batch leaves half a megabyte in a worker, at the rate of the loop.
  EXPECT_NEAR(out->estimate, 10e9 / (5e5 * memory.batch_rate), 0.05 * out->estimate);
  EXPECT_LE(out->low, out->estimate);
  EXPECT_GE(out->high, out->estimate);
  // Workers that end with the epoch do not grow enough to run out.
  run.persistent = false;
  EXPECT_FALSE(grows(10e9).OutOfMemory(2));
  EXPECT_FALSE(MemoryOf(WithMemory(run, Copying, {.walks = 20, .available = 10e9})).OutOfMemory(2));
}

TEST(MemoryGrowthTest, TheTrainingProcessCounts) {
  const auto nothing = [](double) { return Walk{}; };
  Synthetic run = TwoWorkers();
  // Memory that the training process takes in its first minute does not count as growth.
  for (const int batches : {400, 3200}) {
    run.batches = batches;
    EXPECT_FALSE(MemoryOf(WithMemory(run, nothing, {20, 1e9, 100e6})).trainer.certain());
  }
  run.batches = 20'000;
  const MemoryModel memory = MemoryOf(WithMemory(run, nothing, {20, 1e9, 100e6}));
  EXPECT_TRUE(memory.trainer.certain());
  const auto out = memory.OutOfMemory(2);
  ASSERT_TRUE(out);
  EXPECT_NEAR(out->estimate, 1e9 / memory.trainer.per_second.estimate, 1);
}

TEST(MemoryGrowthTest, FurtherWorkersTakeTheirMemoryAtOnce) {
  MemoryModel memory;
  memory.worker_count = 2;
  memory.private_bytes = 4e9;
  memory.room = 10e9;
  memory.batch_rate = 10;
  EXPECT_FALSE(memory.OutOfMemory(2));
  EXPECT_FALSE(memory.OutOfMemory(4));  // the two further workers take 8 GB
  const auto six = memory.OutOfMemory(6);
  ASSERT_TRUE(six);
  EXPECT_EQ(six->estimate, 0);
  EXPECT_EQ(six->high, 0);
  memory.trainer.per_second = memory.trainer.per_batch = {1e6, 1e6, 1e6};
  memory.trainer.grown = 1e9;
  memory.watched = 300;
  const auto seconds = [&](int count) { return memory.OutOfMemory(count)->estimate; };
  EXPECT_NEAR(seconds(2), 10'000, 1);
  EXPECT_NEAR(seconds(4), 2'000, 1);
  EXPECT_NEAR(seconds(1), 14'000, 1);
  memory.watched = 60;  // seconds; too short for a forecast of more than an hour
  EXPECT_NEAR(seconds(4), 2'000, 1);
  EXPECT_FALSE(memory.OutOfMemory(2));
}

TEST(MemoryGrowthTest, TheLimitOfTheControlGroupBinds) {
  traces::TraceData data = WithMemory(TwoWorkers(), Leaking, {.walks = 20, .available = 10e9});
  data.facts["cgroup.memory_limit"] = "4000000000";
  AddCounter(data, "cgroup_memory_bytes", 0, 1005, 3e9);
  const MemoryModel memory = MemoryOf(std::move(data));
  EXPECT_EQ(memory.room, 1e9);
  EXPECT_EQ(memory.limit_of, "control group");
}

TEST(WorkerMemoryGrowthTest, NamesCopyOnWriteWithItsFigures) {
  const auto finding = FindingOf("worker-memory-growth", WithMemory(TwoWorkers(), Copying));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->seen).find("copy on write"), std::string::npos);
  EXPECT_NEAR(Number(*finding, "bytes_per_batch"), 5e5, 2e4);
  EXPECT_NEAR(Number(*finding, "bytes_per_sample"), 5e5 / 4, 5e3);
  EXPECT_NEAR(Number(*finding, "private_bytes_at_epoch_end"), 240e6, 10e6);
  EXPECT_EQ(finding->pids.size(), 2u);
  EXPECT_NE(English(finding->action).find("numpy"), std::string::npos);
  EXPECT_FALSE(FindingOf("worker-memory-leak", WithMemory(TwoWorkers(), Copying)));
}

TEST(WorkerMemoryGrowthTest, IsSilentWhereLittleIsCopied) {
  const auto little = [](double at) { return Walk{40e6 + 30e6 * at, 900e6 - 30e6 * at, 0}; };
  EXPECT_FALSE(FindingOf("worker-memory-growth", WithMemory(TwoWorkers(), little)));
}

TEST(WorkerMemoryGrowthTest, SpeaksEarlyOfALongEpoch) {
  // 30 MB are little, but workers grew by them in a twentieth of the epoch.
  const auto little = [](double at) { return Walk{40e6 + 30e6 * at, 900e6 - 30e6 * at, 0}; };
  traces::TraceData data = WithMemory(TwoWorkers(), little);
  data.processes[0].facts["loader.0.dataset_len"] = std::to_string(20 * 800 * 4);
  const auto finding = FindingOf("worker-memory-growth", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Number(*finding, "private_bytes_at_epoch_end"), 40e6 + 20 * 30e6, 60e6);
}

TEST(WorkerMemoryLeakTest, NamesALeakAndWhenMemoryRunsOut) {
  Synthetic run = TwoWorkers();
  run.persistent = true;
  const auto data = [&] { return WithMemory(run, Leaking, {.walks = 20, .available = 10e9}); };
  const auto finding = FindingOf("worker-memory-leak", data());
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, Severity::kCritical);
  EXPECT_GT(Number(*finding, "out_of_memory_s"), 1);
  EXPECT_LE(Number(*finding, "out_of_memory_s_low"), Number(*finding, "out_of_memory_s"));
  EXPECT_NE(English(finding->action).find("runs out in"), std::string::npos);
  EXPECT_FALSE(FindingOf("worker-memory-growth", data()));
}

TEST(WorkerMemoryLeakTest, IsSilentOfACacheThatFills) {
  const auto cache = [](double at) {
    return Walk{40e6 + 200e6 * (1 - std::exp(-4 * at)), 900e6, 0};
  };
  EXPECT_FALSE(FindingOf("worker-memory-leak", WithMemory(TwoWorkers(), cache)));
}

TEST(WorkerMemoryLeakTest, IsSilentOfPagesOfFiles) {
  const auto mapped = [](double at) { return Walk{40e6, 900e6, 400e6 * at}; };
  EXPECT_FALSE(FindingOf("worker-memory-leak", WithMemory(TwoWorkers(), mapped)));
  EXPECT_FALSE(FindingOf("worker-memory-growth", WithMemory(TwoWorkers(), mapped)));
}

// A trace in which almost nothing of /dev/shm is used before the loader runs, and `most` bytes
// then.
traces::TraceData WithShm(double most) {
  Synthetic run = TwoWorkers();
  run.sample_bytes = 4'000'000;  // 16 MB a batch
  traces::TraceData data = MakeSynthetic(run);
  data.facts["shm.size"] = "67108864";
  AddShm(data, 0, 4096, most);
  return data;
}

TEST(SharedMemoryTooSmallTest, SaysWhatWasUsed) {
  const auto finding = FindingOf("shared-memory-too-small", WithShm(60e6));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Number(*finding, "most_used_bytes"), 60e6, 1e4);
  EXPECT_GE(Number(*finding, "most_batches_seen"), 2);
  EXPECT_LE(Number(*finding, "most_batches_seen"), 6);
}

TEST(SharedMemoryTooSmallTest, IsSilentOfBatchesThatTakeAnotherWay) {
  EXPECT_FALSE(FindingOf("shared-memory-too-small", WithShm(4096)));
}

}  // namespace
}  // namespace penstock::analyzer
