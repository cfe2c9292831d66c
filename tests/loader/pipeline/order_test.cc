// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "loader/pipeline/cores.h"
#include "loader/pipeline/stats.h"

namespace penstock::loader {
namespace {

PipelineOptions Options(unsigned batch) {
  PipelineOptions options;
  options.batch = batch;
  options.seed = 3;
  return options;
}

struct Visit {
  std::uint64_t epoch, position;
  auto operator<=>(const Visit&) const = default;
};

std::vector<Visit> Visits(std::uint64_t samples, const PipelineOptions& options) {
  const auto order = SampleOrder::Make(samples, options);
  EXPECT_TRUE(order) << (order ? "" : order.error().message);
  std::vector<Visit> visits;
  for (std::uint64_t b = 0; b < order->batches(); ++b) {
    const BatchPlace place = order->At(b);
    for (std::uint64_t i = 0; i < place.valid; ++i) {
      visits.push_back({place.epoch, order->Position(place, i)});
    }
  }
  return visits;
}

TEST(SampleOrderTest, VisitsEveryPositionOnceInEachEpoch) {
  PipelineOptions options = Options(7);
  options.epochs = 3;
  std::vector<Visit> expected;
  for (std::uint64_t e = 0; e < 3; ++e) {
    for (std::uint64_t p = 0; p < 23; ++p) expected.push_back({e, p});
  }
  EXPECT_EQ(Visits(23, options), expected);
}

TEST(SampleOrderTest, SamplesOfAnEpochAreAPermutationThatEpochsDoNotShare) {
  const auto order = SampleOrder::Make(100, Options(10));
  ASSERT_TRUE(order);
  std::vector<std::uint64_t> first, second;
  for (std::uint64_t p = 0; p < 100; ++p) {
    first.push_back(order->Sample(0, p));
    second.push_back(order->Sample(1, p));
  }
  EXPECT_NE(first, second);
  for (auto* epoch : {&first, &second}) {
    std::sort(epoch->begin(), epoch->end());
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ((*epoch)[i], i);
  }
}

TEST(SampleOrderTest, WithoutShufflePositionIsTheSample) {
  PipelineOptions options = Options(4);
  options.shuffle = false;
  const auto order = SampleOrder::Make(9, options);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->Sample(5, 8), 8u);
}

TEST(SampleOrderTest, RanksShareAnEpochWithoutOverlapOrLoss) {
  for (const std::uint64_t samples : {1u, 2u, 3u, 10u, 23u}) {
    for (const std::uint64_t world : {1u, 2u, 3u, 5u}) {
      std::vector<Visit> all;
      for (std::uint64_t rank = 0; rank < world; ++rank) {
        PipelineOptions options = Options(4);
        options.rank = rank;
        options.world = world;
        options.epochs = 2;
        const std::vector<Visit> part = Visits(samples, options);
        for (const Visit& visit : part) EXPECT_EQ(visit.position % world, rank);
        all.insert(all.end(), part.begin(), part.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all.size(), 2 * samples);
      EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    }
  }
}

TEST(SampleOrderTest, ResumesAtAnyPositionOfAnyEpoch) {
  PipelineOptions options = Options(4);
  options.epochs = 3;
  const std::vector<Visit> whole = Visits(11, options);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::uint64_t position = 0; position <= 11; ++position) {
      options.resume = {epoch, position};
      const auto from = whole.begin() + static_cast<std::ptrdiff_t>(epoch * 11 + position);
      EXPECT_EQ(Visits(11, options), std::vector<Visit>(from, whole.end()));
    }
  }
}

TEST(SampleOrderTest, ContinuesBehindEachBatchForEveryRank) {
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    PipelineOptions options = Options(4);
    options.epochs = 2;
    options.rank = rank;
    options.world = 3;
    const std::vector<Visit> whole = Visits(31, options);
    const auto order = SampleOrder::Make(31, options);
    ASSERT_TRUE(order);
    std::size_t done = 0;
    for (std::uint64_t b = 0; b + 1 < order->batches(); ++b) {
      done += order->At(b).valid;
      PipelineOptions rest = options;
      rest.resume = order->After(order->At(b));
      const auto from = whole.begin() + static_cast<std::ptrdiff_t>(done);
      EXPECT_EQ(Visits(31, rest), std::vector<Visit>(from, whole.end())) << rank << " " << b;
    }
  }
}

TEST(SampleOrderTest, AllRanksContinueAtOnePlaceAfterAResumeWithinARound) {
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    PipelineOptions options = Options(2);
    options.epochs = 2;
    options.rank = rank;
    options.world = 3;
    options.resume = {0, 10};  // a run of one rank stopped here
    const auto order = SampleOrder::Make(31, options);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->After(order->At(0)), (StreamPosition{0, 16})) << rank;
    EXPECT_EQ(order->After(order->At(1)), (StreamPosition{0, 22})) << rank;
    EXPECT_EQ(order->After(order->At(3)), (StreamPosition{1, 0})) << rank;
    EXPECT_EQ(order->After(order->At(4)), (StreamPosition{1, 6})) << rank;
  }
}

TEST(SampleOrderTest, DropsTheShortBatchWhenAsked) {
  PipelineOptions options = Options(4);
  options.epochs = 2;
  options.drop_last = true;
  const auto order = SampleOrder::Make(11, options);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->batches(), 4u);
  for (std::uint64_t b = 0; b < 4; ++b) EXPECT_EQ(order->At(b).valid, 4u);
  EXPECT_TRUE(order->At(1).last);
}

TEST(SampleOrderTest, EndsAfterTheBatchesAskedFor) {
  PipelineOptions options = Options(4);
  options.epochs = 0;
  options.batches = 100;
  const auto order = SampleOrder::Make(5, options);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->batches(), 100u);
  EXPECT_EQ(order->At(99).epoch, 49u);
}

TEST(SampleOrderTest, RefusesWhatCannotBe) {
  EXPECT_FALSE(SampleOrder::Make(0, Options(4)));
  PipelineOptions options = Options(4);
  options.rank = 2;
  options.world = 2;
  EXPECT_FALSE(SampleOrder::Make(10, options));
  options = Options(4);
  options.resume = {0, 11};
  EXPECT_FALSE(SampleOrder::Make(10, options));
  options.resume = {1, 0};
  EXPECT_FALSE(SampleOrder::Make(10, options));
  options = Options(0);
  EXPECT_FALSE(SampleOrder::Make(10, options));
}

TEST(StreamPositionTest, ReadsBothSpellings) {
  EXPECT_EQ(*StreamPosition::Parse("12"), (StreamPosition{0, 12}));
  EXPECT_EQ(*StreamPosition::Parse("3:12"), (StreamPosition{3, 12}));
  for (const char* bad : {"", ":", "1:", ":1", "a", "1:2:3", "-1", "1.5", " 1"}) {
    EXPECT_FALSE(StreamPosition::Parse(bad)) << bad;
  }
}

TEST(HistogramTest, QuantilesAreWithinFivePercent) {
  Histogram histogram;
  for (std::int64_t i = 1; i <= 100'000; ++i) histogram.Add(TimeNs{i * 37});
  for (const double p : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double truth = p * 100'000 * 37;
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(p).value), truth, truth * 0.05) << p;
  }
}

TEST(HistogramTest, KeepsSmallAndHugeLengths) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5).value, 0);
  histogram.Add(TimeNs{3});
  histogram.Add(TimeNs{-5});
  histogram.Add(TimeNs{std::int64_t{1} << 60});
  EXPECT_EQ(histogram.Quantile(0.01).value, 0);
  EXPECT_EQ(histogram.Quantile(0.5).value, 3);
  EXPECT_GT(histogram.Quantile(1).value, std::int64_t{2'000'000'000} * 1000);
}

TEST(CoresTest, TakesTheSmallestQuotaOnTheWayUp) {
  const std::filesystem::path root = testing::TempDir() + "penstock_cores";
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup/a/b");
  std::ofstream(root / "proc/self/cgroup") << "0::/a/b\n";
  std::ofstream(root / "sys/fs/cgroup/cpu.max") << "max 100000\n";
  std::ofstream(root / "sys/fs/cgroup/a/cpu.max") << "150000 100000\n";
  std::ofstream(root / "sys/fs/cgroup/a/b/cpu.max") << "400000 100000\n";
  EXPECT_DOUBLE_EQ(CpuQuota(root), 1.5);
  EXPECT_GE(CoresToUse(root), 1u);
  EXPECT_LE(CoresToUse(root), 2u);
  std::filesystem::remove_all(root);
  EXPECT_EQ(CpuQuota(root), 0);
  EXPECT_GE(CoresToUse(root), 1u);
}

}  // namespace
}  // namespace penstock::loader
