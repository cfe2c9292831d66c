// SPDX-License-Identifier: Apache-2.0
//
// The pipeline with sources that are only numbers: what it delivers, and what its options change.
#include "loader/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/loader/pipeline/support.h"

namespace penstock::loader {
namespace {

using test::Delivered;
using test::DoubleSource;
using test::ExpectSame;
using test::Program;
using test::RunAll;
using test::Synthetic;

TEST(PipelineTest, DeliversTheSameForAnyWorkersBatchesAndReadAhead) {
  const DoubleSource source(150);
  PipelineOptions options = Synthetic(0, 7);
  options.epochs = 2;
  const Delivered reference = RunAll(source, options);
  ASSERT_EQ(reference.error, "");
  ASSERT_EQ(reference.ids.size(), 300u);
  ASSERT_EQ(reference.digests.size(), 2u);
  EXPECT_NE(reference.digests[0].ordered, reference.digests[1].ordered);
  for (const unsigned workers : {0u, 1u, 2u, 8u}) {
    for (const unsigned batch : {1u, 7u, 64u, 1000u}) {
      for (const unsigned read_ahead : {1u, 5u}) {
        options.workers = workers;
        options.batch = batch;
        options.read_ahead = read_ahead;
        options.prefetch = 1 + batch % 3;
        ExpectSame(RunAll(source, options), reference,
                   std::to_string(workers) + " workers, batch " + std::to_string(batch));
      }
    }
  }
}

TEST(PipelineTest, StagesWithThreadsOfTheirOwnDeliverTheSame) {
  const DoubleSource source(150);
  PipelineOptions options = Synthetic(1, 7);
  options.epochs = 2;
  const Delivered reference = RunAll(source, options);
  for (unsigned mask = 1; mask < 8; ++mask) {
    options.read.threads = (mask & 1) != 0 ? 2 : 0;
    options.decode.threads = (mask & 2) != 0 ? 3 : 0;
    options.augment.threads = (mask & 4) != 0 ? 2 : 0;
    options.workers = mask == 7 ? 0 : 2;
    options.read_ahead = 1 + mask % 3;
    const Delivered staged = RunAll(source, options);
    ExpectSame(staged, reference, "stages " + std::to_string(mask));
    const std::size_t threads = (mask & 1) * 2 + (mask & 2) / 2 * 3 + (mask & 4) / 4 * 2;
    EXPECT_EQ(staged.stats.threads.size(), threads + options.workers);
  }
}

TEST(PipelineTest, RanksDeliverTheSamplesOfOneRunBetweenThem) {
  const DoubleSource source(101);
  const Delivered whole = RunAll(source, Synthetic(2, 8));
  for (const std::uint64_t world : {1u, 2u, 3u}) {
    std::uint64_t sum = 0;
    std::uint64_t samples = 0;
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      PipelineOptions options = Synthetic(2, 8);
      options.rank = rank;
      options.world = world;
      const Delivered part = RunAll(source, options);
      ASSERT_EQ(part.digests.size(), 1u);
      sum += part.digests[0].unordered;
      samples += part.digests[0].samples;
    }
    EXPECT_EQ(sum, whole.digests[0].unordered) << world;
    EXPECT_EQ(samples, 101u);
  }
}

TEST(PipelineTest, ResumesAfterAnyBatchWithTheSameBytes) {
  const DoubleSource source(50);
  PipelineOptions options = Synthetic(2, 8);
  options.epochs = 2;
  const Delivered whole = RunAll(source, options);
  std::size_t done = 0;
  for (std::size_t b = 0; b + 1 < whole.sizes.size(); ++b) {
    done += whole.sizes[b];
    options.resume = whole.resumes[b];
    const Delivered rest = RunAll(source, options);
    EXPECT_EQ(rest.ids,
              std::vector<std::uint64_t>(whole.ids.begin() + static_cast<std::ptrdiff_t>(done),
                                         whole.ids.end()));
    // The last epoch of the rest is whole, or lacks the samples that were delivered before.
    EXPECT_EQ(rest.digests.back().samples, std::min<std::size_t>(50, 100 - done));
    if (done <= 50) {
      EXPECT_EQ(rest.digests.back().ordered, whole.digests.back().ordered);
    }
  }
}

TEST(PipelineTest, SyntheticCostsChangeTimesButNotBytes) {
  const DoubleSource source(40);
  const Delivered plain = RunAll(source, Synthetic(2, 8));
  PipelineOptions options = Synthetic(3, 8);
  options.read.cost = *Cost::Parse("200us~exponential", false);
  options.collate = *Cost::Parse("50us", true);
  const Delivered costly = RunAll(source, options);
  ExpectSame(costly, plain, "with costs");
  EXPECT_EQ(costly.stats.stage(Stage::kRead).count, 40u);
  EXPECT_GT(costly.stats.stage(Stage::kRead).wall.value, 40 * 100'000);
}

TEST(PipelineTest, BurntCostIsCpuTimeOfTheStageWhateverTheNumberOfWorkers) {
  const DoubleSource source(40);
  PipelineOptions options = Synthetic(0, 8);
  options.decode.cost = *Cost::Parse("300us~lognormal:0.7", true);
  options.augment.on = false;
  double expected = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    expected += Seconds(options.decode.cost.Draw({options.seed, 0, i}, 0xC0570001));
  }
  for (const unsigned workers : {0u, 1u, 4u}) {
    options.workers = workers;
    const Delivered run = RunAll(source, options);
    EXPECT_GE(Seconds(run.stats.stage(Stage::kDecode).cpu), 0.99 * expected);
    EXPECT_LE(Seconds(run.stats.stage(Stage::kDecode).cpu), 1.5 * expected);
  }
}

TEST(PipelineTest, CostsWithASeedOfTheirOwnBelongToTheSamples) {
  PipelineOptions options;
  options.seed = 1;
  const Cost cost = *Cost::Parse("5ms~exponential", true);
  const auto drawn = [&](std::uint64_t epoch, std::uint64_t sample) {
    return cost.Draw(options.CostKey(epoch, sample), 0).value;
  };
  const std::int64_t anew = drawn(0, 7);
  EXPECT_NE(drawn(1, 7), anew);
  options.cost_seed = 5;
  const std::int64_t kept = drawn(0, 7);
  EXPECT_NE(kept, anew);
  EXPECT_EQ(drawn(1, 7), kept);
  EXPECT_NE(drawn(0, 8), kept);
  options.seed = 2;
  EXPECT_EQ(drawn(0, 7), kept);
}

TEST(PipelineTest, BatchSaysWhatItHolds) {
  const DoubleSource source(10);
  PipelineOptions options = Synthetic(2, 4);
  options.shuffle = false;
  options.epochs = 2;
  const Delivered run = RunAll(source, options);
  EXPECT_EQ(run.sizes, (std::vector<std::uint64_t>{4, 4, 2, 4, 4, 2}));
  EXPECT_EQ(run.epochs, (std::vector<std::uint64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(run.resumes[1], (StreamPosition{0, 8}));
  EXPECT_EQ(run.resumes[2], (StreamPosition{1, 0}));
  EXPECT_EQ(run.labels[7], 7);
}

TEST(PipelineTest, AugmentationSwitchedOffLeavesZerosAndCountsNothingLess) {
  const DoubleSource source(20);
  PipelineOptions options = Synthetic(2, 4);
  options.augment.on = false;
  const std::unique_ptr<Tracer> tracer = NoTracer();
  const AugmentProgram program = Program();
  auto pipeline = Pipeline::Start(source, program, options, *tracer);
  ASSERT_TRUE(pipeline);
  std::uint64_t samples = 0;
  for (;;) {
    const Result<Batch> batch = (*pipeline)->Next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    samples += batch->size();
    EXPECT_EQ(batch->pixels().size(), batch->size() * 6 * 6 * 3);
    for (const std::byte pixel : batch->pixels()) ASSERT_EQ(pixel, std::byte{0});
  }
  EXPECT_EQ(samples, 20u);
}

TEST(PipelineTest, StatisticsAddUp) {
  const DoubleSource source(100);
  PipelineOptions options = Synthetic(3, 8);
  options.epochs = 2;
  const Delivered run = RunAll(source, options);
  EXPECT_EQ(run.stats.samples, 200u);
  EXPECT_EQ(run.stats.batches, 26u);
  EXPECT_EQ(run.stats.waits.count(), 26u);
  EXPECT_EQ(run.stats.batch_latency.count(), 26u);
  ASSERT_EQ(run.stats.threads.size(), 3u);
  std::uint64_t samples = 0;
  for (const ThreadStats& thread : run.stats.threads) {
    samples += thread.samples;
    EXPECT_GE(thread.occupancy(), 0);
    EXPECT_LE(thread.occupancy(), 1);
    EXPECT_GE(thread.life, thread.idle);
  }
  EXPECT_EQ(samples, 200u);
  for (const StageStats& stage : run.stats.stages) EXPECT_EQ(stage.count, 200u);
}

TEST(PipelineTest, RefusesOptionsThatContradictEachOther) {
  const DoubleSource source(10);
  const auto refused = [&](auto&& change) {
    PipelineOptions options = Synthetic(1, 4);
    change(options);
    const Delivered run = RunAll(source, options);
    return !run.error.empty() && run.error_kind == ErrorKind::kUsage;
  };
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.prefetch = 0; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.prefetch = ~0U; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.batch = 0; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.held = 0; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.read_ahead = 0; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.world = 0; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) { o.resume.position = 99; }));
  EXPECT_TRUE(refused([](PipelineOptions& o) {
    o.workers = 0;
    o.decode.threads = 1;
  }));
}

}  // namespace
}  // namespace penstock::loader
