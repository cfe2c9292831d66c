// SPDX-License-Identifier: Apache-2.0
//
// How long a followed sample would have taken, from the samples around it.
#include "analyzer/model/unit_neighbours.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::analyzer {
namespace {

using traces::CallTree;

constexpr std::int64_t kStart = 5'000'000'000;
constexpr std::int64_t kPeriod = 20'000'000;

// Samples of one thread in batches of `batch_size`. Each sample takes 10 ms.
std::vector<SampleTime> Samples(std::size_t count, std::uint32_t batch_size,
                                std::int64_t start = kStart) {
  std::vector<SampleTime> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    samples[i].id = static_cast<std::int64_t>(i);
    samples[i].start = start + static_cast<std::int64_t>(i) * kPeriod;
    samples[i].time = 0.010F;
    samples[i].batch = {static_cast<std::uint32_t>(i) / batch_size, 1};
  }
  return samples;
}

// The unit of sample `at`, which took 25 ms because it was followed.
CallTree Follow(std::vector<SampleTime>& samples, std::size_t at) {
  samples[at].time = 0.025F;
  CallTree tree;
  tree.unit.stage = traces::StageId::kSample;
  tree.unit.at = TimeNs{samples[at].start + 2'000};
  tree.unit.sample = samples[at].id;
  tree.unit.batch = samples[at].batch;
  return tree;
}

double Milliseconds(TimeNs time) {
  return static_cast<double>(time.value) * 1e-6;
}

// The machine becomes slower in the middle of the run.
TEST(UnitNeighboursTest, TakesTheSamplesBeforeAndAfter) {
  std::vector<SampleTime> samples = Samples(400, 8);
  for (std::size_t i = 200; i < 400; ++i) samples[i].time = 0.014F;
  const std::vector<CallTree> trees = {Follow(samples, 100), Follow(samples, 300)};
  const std::vector<TimeNs> times = TimesOfNeighbours(trees, {samples});
  EXPECT_NEAR(Milliseconds(times.at(0)), 10, 1e-3);
  EXPECT_NEAR(Milliseconds(times.at(1)), 14, 1e-3);
}

TEST(UnitNeighboursTest, ComparesTheFirstSampleOfABatchWithFirstSamples) {
  std::vector<SampleTime> samples = Samples(400, 8);
  for (std::size_t i = 0; i < 400; i += 8) samples[i].time = 0.013F;
  const std::vector<CallTree> trees = {Follow(samples, 160), Follow(samples, 163)};
  const std::vector<TimeNs> times = TimesOfNeighbours(trees, {samples});
  EXPECT_NEAR(Milliseconds(times.at(0)), 13, 1e-3);
  EXPECT_NEAR(Milliseconds(times.at(1)), 10, 1e-3);
}

TEST(UnitNeighboursTest, LeavesOutFollowedAndMuchLongerSamples) {
  std::vector<SampleTime> samples = Samples(100, 1);
  samples[45].time = 0.9F;
  const std::vector<CallTree> trees = {Follow(samples, 50), Follow(samples, 51)};
  const std::vector<TimeNs> times = TimesOfNeighbours(trees, {samples});
  EXPECT_NEAR(Milliseconds(times.at(0)), 10, 1e-3);
  EXPECT_NEAR(Milliseconds(times.at(1)), 10, 1e-3);
}

TEST(UnitNeighboursTest, StaysInItsThread) {
  std::vector<SampleTime> samples = Samples(20, 1);
  std::vector<SampleTime> others = Samples(400, 1, kStart + 30 * kPeriod);
  for (SampleTime& sample : others) sample.time = 0.020F;
  for (SampleTime& sample : others) {
    sample.batch.generation = 2;
    sample.thread = 1;
  }
  const std::vector<CallTree> trees = {Follow(samples, 19)};
  samples.insert(samples.end(), others.begin(), others.end());
  EXPECT_NEAR(Milliseconds(TimesOfNeighbours(trees, {samples}).at(0)), 10, 1e-3);
}

TEST(UnitNeighboursTest, SaysNothingFromFewSamplesOrOfOtherUnits) {
  std::vector<SampleTime> samples = Samples(8, 1);
  std::vector<CallTree> trees = {Follow(samples, 4)};
  EXPECT_EQ(TimesOfNeighbours(trees, {samples}).at(0).value, 0);  // seven neighbours
  samples = Samples(100, 1);
  trees = {Follow(samples, 40), Follow(samples, 41), Follow(samples, 42)};
  trees[0].unit.stage = traces::StageId::kCollate;
  trees[1].unit.at = TimeNs{1};  // the same sample of another process
  trees[2].unit.sample = 5000;
  for (const TimeNs time : TimesOfNeighbours(trees, {samples})) EXPECT_EQ(time.value, 0);
}

}  // namespace
}  // namespace penstock::analyzer
