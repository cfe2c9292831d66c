// SPDX-License-Identifier: Apache-2.0
#include "gui/model/gpu.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "gui/model/stretches.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using testing::GpuRun;

GpuModel GpuOf(const GpuRun& run, std::optional<TimeRange> range = std::nullopt) {
  const Document document = testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun(run)));
  return BuildGpu({document.trace.get(), range}, *document.analysis);
}

double IdleOf(const GpuModel& gpu, IdleCause cause) {
  return gpu.idle[static_cast<std::size_t>(cause)];
}

TEST(GpuModelTest, CausesOfIdlenessAddUpToTheIdleTime) {
  const GpuModel gpu = GpuOf({});
  EXPECT_EQ(gpu.kernels, 100U);
  EXPECT_NEAR(gpu.activity.computing, 100 * 0.003, 1e-6);
  EXPECT_NEAR(std::accumulate(gpu.idle.begin(), gpu.idle.end(), 0.0), gpu.idle_time(), 1e-6);
}

TEST(GpuModelTest, EveryMomentWithoutAKernelHasTheCauseOfTheLoop) {
  const GpuModel gpu = GpuOf({});
  // A step: 1 ms copy, 2 ms in which nothing is launched, 3 ms kernel. The rest is waiting.
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kCopy), 100 * 0.001, 1e-6);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kLaunch), 100 * 0.002, 1e-6);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kLoader), gpu.activity.window - 100 * 0.006, 1e-3);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kUnknown), 0, 1e-3);
}

TEST(GpuModelTest, CopiesAreCountedByTheMemoryTheyComeFrom) {
  const GpuModel pageable = GpuOf({});
  ASSERT_EQ(pageable.copy_rows.size(), 1U);
  EXPECT_EQ(pageable.copy_rows[0].kind, CopyRow::Kind::kPageable);
  EXPECT_EQ(pageable.copy_rows[0].count, 100U);
  EXPECT_EQ(pageable.copy_rows[0].bytes, 100'000'000U);
  EXPECT_NEAR(pageable.copy_rows[0].median, 1e9, 1e3);
  EXPECT_EQ(GpuOf({.pinned = true}).copy_rows[0].kind, CopyRow::Kind::kPinned);
}

TEST(GpuModelTest, BusySharesOverTimeAddUpToTheBusyTime) {
  const GpuModel gpu = GpuOf({});
  EXPECT_NEAR(gpu.computing.sum() * gpu.computing.width, gpu.activity.computing, 1e-6);
  EXPECT_NEAR(gpu.copying.sum() * gpu.copying.width, gpu.activity.copying, 1e-6);
  EXPECT_LE(gpu.computing.most(), 1 + 1e-9);
}

TEST(GpuModelTest, CountersComeInUnitsOfAPersonAndBitsAreLeftOut) {
  const GpuModel gpu = GpuOf({});
  ASSERT_EQ(gpu.counters.size(), 2U);
  EXPECT_EQ(gpu.counters[0].unit, GpuUnit::kPercent);
  EXPECT_DOUBLE_EQ(gpu.counters[0].curve.mean, 40);
  EXPECT_EQ(gpu.counters[1].unit, GpuUnit::kWatts);
  EXPECT_DOUBLE_EQ(gpu.counters[1].curve.mean, 250);
}

TEST(GpuModelTest, ASelectionIsTheStretchThatSharesAreOf) {
  const GpuModel gpu = GpuOf({}, TimeRange{500'000'000, 1'000'000'000});
  EXPECT_NEAR(gpu.activity.window, 0.5, 1e-9);
  EXPECT_LT(gpu.kernels, 100U);
  EXPECT_NEAR(std::accumulate(gpu.idle.begin(), gpu.idle.end(), 0.0) + gpu.activity.computing, 0.5,
              0.004);
}

TEST(GpuModelTest, WithoutAGpuThereIsACommandThatWouldRecordIt) {
  const GpuModel gpu = GpuOf({.kernel = 0, .copy = 0, .counters = false});
  EXPECT_FALSE(gpu.recorded());
  traces::TraceData data;
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "doctor"),
            "penstock doctor -- python train.py");
  data.facts["command"] = "python a.py --x";
  EXPECT_EQ(PenstockCommand(*traces::MakeTrace(data), "record --gpu auto"),
            "penstock record --gpu auto -- python a.py --x");
}

TEST(StretchesTest, SayWhatAnArrayOfMomentsSays) {
  std::mt19937 random(5);
  constexpr std::int64_t kLength = 60;
  const auto draw = [&] {
    std::vector<Stretch> any;
    for (int i = 0; i < 6; ++i) {
      const auto from = static_cast<std::int64_t>(random() % kLength);
      any.push_back(
          {from, std::min<std::int64_t>(from + static_cast<std::int64_t>(random() % 12), kLength)});
    }
    return any;
  };
  const auto holds = [](const Stretches& set, std::int64_t at) {
    for (const Stretch& one : set.parts()) {
      if (at >= one.from && at < one.to) return true;
    }
    return false;
  };
  for (int round = 0; round < 200; ++round) {
    const Stretches a(draw());
    const Stretches b(draw());
    const Stretches both = a.Both(b);
    const Stretches left = a.Without(b);
    for (std::int64_t at = 0; at < kLength; ++at) {
      ASSERT_EQ(holds(both, at), holds(a, at) && holds(b, at));
      ASSERT_EQ(holds(left, at), holds(a, at) && !holds(b, at));
    }
    EXPECT_EQ(both.length() + left.length(), a.length());
  }
}

}  // namespace
}  // namespace penstock::gui
