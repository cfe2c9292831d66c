// SPDX-License-Identifier: Apache-2.0
//
// The ring of batches between the pipeline and its consumer: its size, release and stopping.
#include "loader/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/loader/pipeline/support.h"

namespace penstock::loader {
namespace {

using test::Delivered;
using test::DoubleSource;
using test::Program;
using test::RunAll;
using test::Synthetic;

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
