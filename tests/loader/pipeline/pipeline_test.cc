// SPDX-License-Identifier: Apache-2.0
//
// The pipeline with sources that are only numbers: order, identity, back-pressure, errors,
// stopping.
#include "loader/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/loader/pipeline/support.h"

namespace penstock::loader {
namespace {

using test::Delivered;
using test::DoubleSource;
using test::Program;
using test::RunAll;
using test::Synthetic;

void ExpectSame(const Delivered& a, const Delivered& b, const std::string& what) {
  EXPECT_EQ(a.error, b.error) << what;
  EXPECT_EQ(a.ids, b.ids) << what;
  EXPECT_EQ(a.labels, b.labels) << what;
  ASSERT_EQ(a.digests.size(), b.digests.size()) << what;
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    EXPECT_EQ(a.digests[i].ordered, b.digests[i].ordered) << what;
    EXPECT_EQ(a.digests[i].unordered, b.digests[i].unordered) << what;
    EXPECT_EQ(a.digests[i].samples, b.digests[i].samples) << what;
  }
}

Result<void> Damaged(std::uint64_t index) {
  if (index % 10 == 3) {
    return Fail(ErrorKind::kInput, "sample " + std::to_string(index) + " is damaged");
  }
  return {};
}

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

TEST(PipelineTest, NeverWorksFurtherAheadThanTheRing) {
  std::atomic<std::uint64_t> begun{0};
  const DoubleSource source(400, [&](std::uint64_t) -> Result<void> {
    begun.fetch_add(1);
    return {};
  });
  for (const unsigned workers : {0u, 3u}) {
    PipelineOptions options = Synthetic(workers, 8);
    options.prefetch = 2;
    options.read_ahead = 4;
    begun = 0;
    const std::unique_ptr<Tracer> tracer = NoTracer();
    const AugmentProgram program = Program();
    auto pipeline = Pipeline::Start(source, program, options, *tracer);
    ASSERT_TRUE(pipeline);
    std::uint64_t released = 0;
    for (;;) {
      Result<Batch> batch = (*pipeline)->Next();
      ASSERT_TRUE(batch);
      if (!*batch) break;
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // time for workers to run ahead
      EXPECT_LE(begun.load(), (released + options.prefetch + options.held) * 8);
      batch->Release();
      ++released;
    }
    (*pipeline)->Stop();
    EXPECT_EQ(released, 50u);
    EXPECT_LE((*pipeline)->stats().ring_batches, 3u);
    EXPECT_EQ((*pipeline)->stats().ring_bytes % 64, 0u);
  }
}

TEST(PipelineTest, ConsumerThatHoldsEverythingIsToldSo) {
  const DoubleSource source(100);
  for (const unsigned workers : {0u, 2u}) {
    PipelineOptions options = Synthetic(workers, 4);
    options.prefetch = 1;
    const std::unique_ptr<Tracer> tracer = NoTracer();
    const AugmentProgram program = Program();
    auto pipeline = Pipeline::Start(source, program, options, *tracer);
    ASSERT_TRUE(pipeline);
    Result<Batch> first = (*pipeline)->Next();
    Result<Batch> second = (*pipeline)->Next();
    ASSERT_TRUE(first && *first && second && *second);
    const Result<Batch> third = (*pipeline)->Next();
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().kind, ErrorKind::kUsage);
    first->Release();
    const Result<Batch> again = (*pipeline)->Next();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->number(), 2u);
  }
}

TEST(PipelineTest, BatchesMayBeReleasedInAnyOrder) {
  const DoubleSource source(60);
  PipelineOptions options = Synthetic(2, 4);
  options.held = 3;
  options.prefetch = 2;
  const std::unique_ptr<Tracer> tracer = NoTracer();
  const AugmentProgram program = Program();
  auto pipeline = Pipeline::Start(source, program, options, *tracer);
  ASSERT_TRUE(pipeline);
  std::vector<Batch> held;
  std::uint64_t delivered = 0;
  for (;;) {
    Result<Batch> batch = (*pipeline)->Next();
    ASSERT_TRUE(batch) << batch.error().message;
    if (!*batch) break;
    EXPECT_EQ(batch->number(), delivered++);
    held.push_back(std::move(*batch));
    if (held.size() == 3) {
      held.erase(held.begin() + 1);
      held.erase(held.begin() + 1);
    }
    if (delivered % 4 == 0) held.clear();
  }
  EXPECT_EQ(delivered, 15u);
}

TEST(PipelineTest, SkippedSamplesAreReplacedByTheNextGoodOne) {
  const DoubleSource source(95, Damaged);
  PipelineOptions options = Synthetic(0, 8);
  options.shuffle = false;
  const Delivered reference = RunAll(source, options);
  ASSERT_EQ(reference.error, "");
  ASSERT_EQ(reference.ids.size(), 95u);
  for (std::size_t i = 0; i < 95; ++i) EXPECT_EQ(reference.ids[i], i % 10 == 3 ? i + 1 : i);
  EXPECT_EQ(reference.stats.errors, 10u);
  ASSERT_EQ(reference.stats.first_errors.size(), 10u);
  EXPECT_NE(reference.stats.first_errors[0].message.find("sample 3 is damaged"), std::string::npos);
  EXPECT_EQ(reference.stats.first_errors[1].sample, 13u);
  for (const unsigned workers : {1u, 4u}) {
    for (const unsigned augmenters : {0u, 2u}) {
      options.workers = workers;
      options.augment.threads = augmenters;
      const Delivered run = RunAll(source, options);
      ExpectSame(run, reference, "skip");
      EXPECT_EQ(run.stats.errors, 10u);
      EXPECT_EQ(run.stats.first_errors[9].sample, 93u);
    }
  }
}

TEST(PipelineTest, FirstDamagedSampleOfTheStreamFailsTheRunWhereItStands) {
  const DoubleSource source(95, Damaged);
  PipelineOptions options = Synthetic(0, 8);
  options.on_error = OnError::kFail;
  const Delivered reference = RunAll(source, options);
  EXPECT_NE(reference.error.find("is damaged"), std::string::npos);
  EXPECT_EQ(reference.error_kind, ErrorKind::kInput);
  for (const unsigned workers : {1u, 2u, 8u}) {
    options.workers = workers;
    options.read.threads = workers == 2 ? 1 : 0;
    ExpectSame(RunAll(source, options), reference, "fail");
  }
}

TEST(PipelineTest, NothingButDamageInAVerySmallSetIsSaidInProperWords) {
  const auto damaged = [](std::uint64_t) -> Result<void> {
    return Fail(ErrorKind::kInput, "damaged");
  };
  EXPECT_NE(RunAll(DoubleSource(1, damaged), Synthetic(0, 8)).error.find("no other sample"),
            std::string::npos);
  EXPECT_NE(RunAll(DoubleSource(2, damaged), Synthetic(0, 8)).error.find("so is the sample that"),
            std::string::npos);
}

TEST(PipelineTest, NothingButDamageIsAnErrorUnderSkipToo) {
  const DoubleSource source(
      30, [](std::uint64_t) -> Result<void> { return Fail(ErrorKind::kInput, "all are damaged"); });
  for (const unsigned workers : {0u, 2u}) {
    const Delivered run = RunAll(source, Synthetic(workers, 8));
    EXPECT_NE(run.error.find("all are damaged, and so are the 29"), std::string::npos) << run.error;
    EXPECT_TRUE(run.ids.empty());
  }
}

TEST(PipelineTest, TroubleOfTheMachineIsNotSkipped) {
  const DoubleSource source(30, [](std::uint64_t index) -> Result<void> {
    if (index == 11) return Fail(ErrorKind::kEnvironment, "no descriptors are left");
    return {};
  });
  const Delivered run = RunAll(source, Synthetic(2, 8));
  EXPECT_EQ(run.error_kind, ErrorKind::kEnvironment);
  EXPECT_NE(run.error.find("no descriptors"), std::string::npos);
}

TEST(PipelineTest, ExceptionInAWorkerReachesTheConsumer) {
  const DoubleSource source(30, [](std::uint64_t index) -> Result<void> {
    if (index == 5) throw std::runtime_error("thrown in a worker");
    return {};
  });
  for (const unsigned workers : {0u, 1u, 4u}) {
    for (const unsigned decoders : {0u, 1u}) {
      if (workers == 0 && decoders != 0) continue;
      PipelineOptions options = Synthetic(workers, 8);
      options.decode.threads = decoders;
      const Delivered run = RunAll(source, options);
      EXPECT_NE(run.error.find("thrown in a worker"), std::string::npos) << workers;
      EXPECT_EQ(run.error_kind, ErrorKind::kEnvironment);
    }
  }
}

TEST(PipelineTest, StopsCleanlyAtAnyMoment) {
  const DoubleSource source(2000);
  const Delivered reference = [&] {
    PipelineOptions options = Synthetic(0, 16);
    return RunAll(source, options);
  }();
  std::mt19937 generator(20240607);
  const auto random = [&] { return static_cast<unsigned>(generator()); };
  for (int round = 0; round < 40; ++round) {
    PipelineOptions options = Synthetic(random() % 5, 16);
    options.read_ahead = 1 + random() % 4;
    if (options.workers != 0 && random() % 2 == 0) options.augment.threads = 1 + random() % 2;
    if (random() % 2 == 0) options.read.cost = *Cost::Parse("2ms~exponential", random() % 2 == 0);
    const std::unique_ptr<Tracer> tracer = NoTracer();
    const AugmentProgram program = Program();
    auto pipeline = Pipeline::Start(source, program, options, *tracer);
    ASSERT_TRUE(pipeline);
    std::thread stopper;
    const unsigned delay = random() % 2000;
    if (round % 3 == 0) {
      stopper = std::thread([&, delay] {
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
        (*pipeline)->RequestStop();
      });
    }
    const unsigned wanted = options.read.cost.none() ? random() % 60 : random() % 2;
    std::vector<std::uint64_t> ids;
    for (unsigned i = 0; i < wanted; ++i) {
      Result<Batch> batch = (*pipeline)->Next();
      ASSERT_TRUE(batch);
      if (!*batch) break;
      ids.insert(ids.end(), batch->ids().begin(), batch->ids().end());
    }
    if (round % 3 == 1) (*pipeline)->RequestStop();
    (*pipeline)->Stop();
    if (stopper.joinable()) stopper.join();
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), reference.ids.begin()));
    EXPECT_FALSE(*(*pipeline)->Next());
  }
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

TEST(PipelineTest, RingTooLargeForTheMachineIsOneLine) {
  const DoubleSource source(10);
  PipelineOptions options = Synthetic(1, 1'000'000'000);
  options.prefetch = 4'000'000;
  const Delivered run = RunAll(source, options, Program("random_crop=4000"));
  EXPECT_EQ(run.error_kind, ErrorKind::kEnvironment);
  EXPECT_NE(run.error.find("--prefetch"), std::string::npos);
}

}  // namespace
}  // namespace penstock::loader
