// SPDX-License-Identifier: Apache-2.0
//
// The pipeline with sources that refuse samples or throw: what is skipped, and what ends the run.
#include "loader/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/loader/pipeline/support.h"

namespace penstock::loader {
namespace {

using test::Delivered;
using test::DoubleSource;
using test::ExpectSame;
using test::RunAll;
using test::Synthetic;

Result<void> Damaged(std::uint64_t index) {
  if (index % 10 == 3) {
    return Fail(ErrorKind::kInput, "sample " + std::to_string(index) + " is damaged");
  }
  return {};
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

TEST(PipelineTest, TheErrorThatAllAreDamagedFitsSetsOfOneAndTwo) {
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

}  // namespace
}  // namespace penstock::loader
