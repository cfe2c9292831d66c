// SPDX-License-Identifier: Apache-2.0
//
// The clocks of several hosts are wrong on purpose; the analyzer must find by how much.
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/ranks/clocks.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::Ranked;
using testing::Skew;
using testing::TraceOfRank;

// After the collective, each rank continues its step for a random time of 0 to 2 ms.
Ranked Noisy() {
  Ranked run;
  run.batches = 200;
  run.after = [](int rank, int i) {
    std::mt19937 random(static_cast<unsigned>(1000 * rank + i));
    return std::uniform_real_distribution<>(0, 2)(random);
  };
  run.wait = [](int rank, int i) { return 1.0 + (i + rank) % 7; };
  return run;
}

std::vector<Alignment> Align(const Ranked& run, const std::vector<Skew>& skews,
                             AlignMethod method = AlignMethod::kAuto) {
  std::vector<ClockView> views;
  for (std::size_t rank = 0; rank < skews.size(); ++rank) {
    const auto trace = traces::MakeTrace(TraceOfRank(run, static_cast<int>(rank), skews[rank]));
    views.push_back(ViewClock(*trace, BuildRunModel(*trace)));
  }
  return AlignClocks(views, method);
}

// The error of the alignment in seconds, at the moment `later` seconds after the first iteration
// began.
double Miss(const Alignment& found, const Skew& reference, const Skew& skew, double later = 0) {
  constexpr double kStart = 1000;
  const double shown = kStart + later * (1 + skew.drift) + skew.offset_s;
  const TimeNs moved = found.shift.At(TimeNs{std::llround(shown * 1e9)});
  return Seconds(moved) - (kStart + later * (1 + reference.drift) + reference.offset_s);
}

TEST(ClocksTest, StepsTellHowFarTwoHostsAreApart) {
  const std::vector<Skew> skews = {{}, {37.5, 0, "two", "node1"}};
  Skew wrong_wall = skews[1];
  wrong_wall.wall_error_ns = 3'000'000'000;
  const auto found = Align(Noisy(), {skews[0], wrong_wall});
  EXPECT_EQ(found[0].by, AlignBy::kReference);
  EXPECT_EQ(found[1].by, AlignBy::kCollective);
  EXPECT_LT(std::abs(Miss(found[1], skews[0], skews[1])), 1e-3);
  EXPECT_LE(std::abs(Miss(found[1], skews[0], skews[1])), found[1].uncertainty);
  ASSERT_TRUE(found[1].bound);
  EXPECT_LE(std::abs(Miss(found[1], skews[0], skews[1])), *found[1].bound);
  ASSERT_TRUE(found[1].wall_difference);
  EXPECT_NEAR(std::abs(*found[1].wall_difference), 3.0, 0.01);
}

// With a GPU, the loop's steps do not tell when the ranks left the collective. The device's kernels
// do.
TEST(ClocksTest, CollectivesOfDevicesTellBetterThanTheLoop) {
  Ranked run = Noisy();
  run.after = [](int rank, int i) { return rank == 0 ? 0.1 : 3.0 + i % 5; };
  const Skew skew{2, 0, "two"};
  const double by_loop = std::abs(Miss(Align(run, {{}, skew})[1], {}, skew));
  run.kernels = true;
  const double by_device = std::abs(Miss(Align(run, {{}, skew})[1], {}, skew));
  EXPECT_GT(by_loop, 1e-3);
  EXPECT_LT(by_device, 2e-6);
}

TEST(TracksTest, AThreadNamedLikeAStreamIsAStream) {
  Ranked run;
  run.kernels = true;
  for (const auto& [tid, name, by_device] :
       {std::tuple(0x80000007u, "", true), std::tuple(107u, "GPU 0 stream 7", true),
        std::tuple(107u, "", false)}) {
    traces::TraceData data = TraceOfRank(run, 0);
    data.threads[1].tid = tid;
    data.threads[1].name = name;
    const auto trace = traces::MakeTrace(std::move(data));
    const std::vector<RankTrack> tracks = TracksOf(*trace, BuildRunModel(*trace));
    ASSERT_EQ(tracks.size(), 1u);
    EXPECT_EQ(tracks[0].by_device, by_device) << name;
  }
}

TEST(ClocksTest, DriftOfAClockIsFollowed) {
  Ranked run = Noisy();
  run.batches = 3000;
  const std::vector<Skew> skews = {{}, {-5, 80e-6, "two"}};
  const auto found = Align(run, skews);
  const double length = 3000 * 0.018;
  EXPECT_NEAR(found[1].shift.drift, -80e-6, 8e-6);
  EXPECT_LT(std::abs(Miss(found[1], skews[0], skews[1])), 1e-3);
  EXPECT_LT(std::abs(Miss(found[1], skews[0], skews[1], length)), 1e-3);
}

TEST(ClocksTest, TracesOfOneBootShareTheirClock) {
  const auto found = Align(Noisy(), {{}, {}});
  EXPECT_EQ(found[1].by, AlignBy::kSameClock);
  EXPECT_EQ(found[1].shift.offset.value, 0);
  EXPECT_EQ(found[1].uncertainty, 0);
}

TEST(ClocksTest, TimeNamespacesOfOneBootAreKnownExactly) {
  Skew container;
  container.offset_s = 1000.25;
  container.namespace_ns = 1'000'250'000'000;
  const auto found = Align(Noisy(), {{}, container});
  EXPECT_EQ(found[1].by, AlignBy::kSameClock);
  EXPECT_EQ(found[1].shift.offset.value, -1'000'250'000'000);
}

TEST(ClocksTest, AnOffsetThatNoNamespaceHasIsLeftOut) {
  const auto zero_of = [](const char* offset) {
    traces::TraceData data = TraceOfRank(Noisy(), 0);
    data.facts["clock.offset_ns"] = offset;
    const auto trace = traces::MakeTrace(std::move(data));
    return ViewClock(*trace, BuildRunModel(*trace)).namespace_zero.value;
  };
  EXPECT_EQ(zero_of("-1000"), -1000);
  EXPECT_EQ(zero_of("9223372036854775807"), 0);
  EXPECT_EQ(zero_of("-9223372036854775808"), 0);
}

TEST(ClocksTest, RanksOfOneHostAreMovedTogether) {
  const Skew other{12, 0, "two", "node1"};
  Ranked run = Noisy();
  run.ranks = 4;
  const auto found = Align(run, {{}, {}, other, other});
  EXPECT_EQ(found[2].by, AlignBy::kCollective);
  EXPECT_EQ(found[2].shift.offset, found[3].shift.offset);
  EXPECT_LT(std::abs(Miss(found[3], {}, other)), 1e-3);
}

TEST(ClocksTest, RanksThatDoNotWaitForEachOtherSayNothingOfClocks) {
  Ranked run = Noisy();
  run.together = false;
  run.wait = [](int rank, int) { return rank == 0 ? 1.0 : 9.0; };
  const auto found = Align(run, {{}, {4, 0, "two"}});
  EXPECT_EQ(found[1].by, AlignBy::kWallClock);
  EXPECT_LT(std::abs(Miss(found[1], {}, {4, 0, "two"})), 1e-6);
  EXPECT_GT(found[1].uncertainty, 1e-3);
}

TEST(ClocksTest, AFewIterationsAreNotEnough) {
  Ranked run = Noisy();
  run.batches = 7;
  EXPECT_EQ(Align(run, {{}, {4, 0, "two"}})[1].by, AlignBy::kWallClock);
}

TEST(ClocksTest, AMethodThatIsAskedForIsTaken) {
  const std::vector<Skew> skews = {{}, {4, 0, "two"}};
  EXPECT_EQ(Align(Noisy(), skews, AlignMethod::kWallClock)[1].by, AlignBy::kWallClock);
  EXPECT_EQ(Align(Noisy(), {{}, {}}, AlignMethod::kCollective)[1].by, AlignBy::kCollective);
}

TEST(ClocksTest, ByTheSharedClockOnlyAnotherBootIsNotAligned) {
  Ranked run = Noisy();
  run.ranks = 3;
  const auto found = Align(run, {{}, {}, {4, 0, "two"}}, AlignMethod::kSameClock);
  EXPECT_EQ(found[1].by, AlignBy::kSameClock);
  EXPECT_EQ(found[2].by, AlignBy::kNothing);
  EXPECT_EQ(found[2].shift.offset.value, -4'000'000'000);  // so all three begin together
  EXPECT_EQ(found[2].uncertainty, 0);
  EXPECT_FALSE(found[2].wall_difference);
}

TEST(ClocksTest, AnUnknownMethodIsAMistake) {
  EXPECT_TRUE(ParseAlignMethod("steps"));
  const auto wrong = ParseAlignMethod("gps");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kUsage);
}

// Only rank 0 validates after its first epoch, so its second training epoch has generation 2.
TEST(ClocksTest, EpochsAreCountedByLoader) {
  Ranked run = Noisy();
  run.epochs = 2;
  traces::TraceData data = TraceOfRank(run, 0);
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.batch.generation == 1) span.batch.generation = 2;
    }
  }
  data.processes[0].facts["loader.1.num_workers"] = "0";
  data.processes[0].facts["epoch.1"] = "1";
  data.processes[0].facts["epoch.2"] = "0";
  const auto first = traces::MakeTrace(std::move(data));
  const Skew skew{8, 0, "two"};
  const auto second = traces::MakeTrace(TraceOfRank(run, 1, skew));
  const std::vector<ClockView> views = {ViewClock(*first, BuildRunModel(*first)),
                                        ViewClock(*second, BuildRunModel(*second))};
  const auto found = AlignClocks(views, AlignMethod::kAuto);
  EXPECT_EQ(found[1].iterations, 400u);
  EXPECT_LT(std::abs(Miss(found[1], {}, skew)), 1e-3);
}

}  // namespace
}  // namespace penstock::analyzer
