// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/span_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyzer/synthetic.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using traces::StageId;

class SpanContextTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSample = 7;
  // Two samples of a batch. The first sample reads two files. Between the samples there is a gap
  // without spans.
  std::unique_ptr<traces::Trace> trace_ =
      testing::MakeThreads({{{0, 90, StageId::kWait, 0}},
                            {{0, 80, StageId::kFetch, 0},
                             {2, 40, StageId::kSample, 0, "", "", kSample},
                             {3, 5, StageId::kRead, 0, "", "/data/a.jpg", kSample},
                             {9, 4, StageId::kRead, 0, "", "/data/a.txt", kSample},
                             {14, 10, StageId::kDecode, 0, "PIL.load", "", kSample},
                             {25, 15, StageId::kAugment, 0, "Resize", "", kSample},
                             {26, 6, StageId::kAugment, 0, "Pad", "", kSample},
                             {50, 20, StageId::kSample, 0, "", "", kSample + 1},
                             {51, 8, StageId::kRead, 0, "", "/data/b.jpg", kSample + 1}}});
  Timeline timeline_ = *BuildTimeline(*trace_);

  // The span of a stage that begins at `start`.
  [[nodiscard]] SpanRef At(StageId stage, std::int64_t start) const {
    for (std::uint32_t v = 0; v < timeline_.lanes[1].levels.size(); ++v) {
      const Level& level = timeline_.lanes[1].levels[v];
      for (std::uint32_t i = 0; i < level.size(); ++i) {
        if (level.stage(i) == stage && level.start[i] == start) return {1, v, i};
      }
    }
    ADD_FAILURE() << "there is no such span";
    return {};
  }
  [[nodiscard]] std::vector<std::int64_t> Starts(const std::vector<SpanRef>& spans) const {
    std::vector<std::int64_t> starts;
    for (const SpanRef span : spans) starts.push_back(timeline_.start(span));
    return starts;
  }
};

TEST_F(SpanContextTest, ParentIsTheNearestSpanAround) {
  EXPECT_EQ(ParentOf(timeline_, At(StageId::kAugment, 26)), At(StageId::kAugment, 25));
  EXPECT_EQ(ParentOf(timeline_, At(StageId::kAugment, 25)), At(StageId::kSample, 2));
  EXPECT_EQ(ParentOf(timeline_, At(StageId::kSample, 50)), At(StageId::kFetch, 0));
  EXPECT_EQ(ParentOf(timeline_, At(StageId::kFetch, 0)), std::nullopt);
}

TEST_F(SpanContextTest, ASpanThatOnlyOverlapsIsNoParent) {
  const Timeline timeline = testing::TimelineOf(
      {{}, {{0, 10, StageId::kRead}, {5, 20, StageId::kDecode}, {6, 3, StageId::kAugment}}});
  const Lane& lane = timeline.lanes.back();
  ASSERT_EQ(lane.levels.size(), 3U);
  const auto last = static_cast<std::uint32_t>(timeline.lanes.size() - 1);
  EXPECT_EQ(ParentOf(timeline, {last, 1, 0}), std::nullopt);
  EXPECT_EQ(ParentOf(timeline, {last, 2, 0}), (SpanRef{last, 1, 0}));
}

TEST_F(SpanContextTest, ChildrenAreThoseOneLevelBelowTheLongestFirst) {
  const Children fetch = ChildrenOf(timeline_, At(StageId::kFetch, 0), 10);
  EXPECT_EQ(fetch.count, 2U);
  EXPECT_THAT(Starts(fetch.longest), ElementsAre(2, 50));
  const Children sample = ChildrenOf(timeline_, At(StageId::kSample, 2), 2);
  EXPECT_EQ(sample.count, 4U);
  EXPECT_THAT(Starts(sample.longest), ElementsAre(25, 14));
  EXPECT_EQ(ChildrenOf(timeline_, At(StageId::kRead, 3), 10).count, 0U);
}

TEST_F(SpanContextTest, DecodesAndTransformsKnowTheFilesOfTheirSample) {
  for (const SpanRef span : {At(StageId::kDecode, 14), At(StageId::kAugment, 26),
                             At(StageId::kSample, 2), At(StageId::kRead, 3)}) {
    const SampleData data = SampleOf(timeline_, *trace_, span);
    ASSERT_EQ(data.files.size(), 2U);
    EXPECT_EQ(trace_->String(data.files[0].path), "/data/a.jpg");
    EXPECT_EQ(trace_->String(data.files[1].path), "/data/a.txt");
  }
  EXPECT_TRUE(SampleOf(timeline_, *trace_, At(StageId::kFetch, 0)).files.empty());
}

TEST_F(SpanContextTest, TheBytesOfADecodedPictureAreThoseOfNothingElse) {
  analyzer::testing::Synthetic run;
  run.batches = 4;
  run.file = "/data/one.jpg";
  for (const bool picture : {true, false}) {
    run.decoder = picture ? "PIL.load" : "numpy.load";
    const auto trace = analyzer::testing::SyntheticTrace(run);
    const Timeline timeline = *BuildTimeline(*trace);
    const auto transform = Longest(timeline, StageId::kAugment, {0, timeline.length});
    const SampleData data = SampleOf(timeline, *trace, *transform);
    EXPECT_DOUBLE_EQ(data.decoded, picture ? 600'000 : 0);
    EXPECT_DOUBLE_EQ(data.bytes, 100'000);
    ASSERT_EQ(data.files.size(), 1U);
    EXPECT_DOUBLE_EQ(data.files[0].bytes, 100'000);
  }
}

TEST_F(SpanContextTest, ASampleOfManyReadsSaysThatNotAllAreLookedAt) {
  for (const std::int64_t reads : {16'384, 20'000}) {
    std::vector<testing::TestSpan> spans = {{0, 10 * reads, StageId::kSample, 0, "", "", kSample}};
    for (std::int64_t i = 0; i < reads; ++i) {
      spans.push_back(
          {10 * i, 5, StageId::kRead, 0, "", "/data/" + std::to_string(i / 2), kSample});
    }
    const auto trace = testing::MakeThreads({spans});
    const Timeline timeline = *BuildTimeline(*trace);
    const SampleData data = SampleOf(timeline, *trace, {0, 0, 0});
    EXPECT_EQ(data.cut, reads > 16'384) << reads;
    EXPECT_EQ(data.files.size(), 8'192U) << "two reads of each file";
    EXPECT_EQ(trace->String(data.files[1].path), "/data/1");
  }
}

TEST_F(SpanContextTest, TheWayOfABatchHasAllOfItsTimeAndItsLongestPart) {
  for (const bool slow_step : {true, false}) {
    analyzer::testing::Synthetic run;
    run.costs = analyzer::testing::Always({.decode = 12, .step = slow_step ? 60.0 : 1.0});
    const auto trace = analyzer::testing::SyntheticTrace(run);
    const Timeline timeline = *BuildTimeline(*trace);
    const analyzer::RunModel model = analyzer::BuildRunModel(*trace);
    const analyzer::Batch& batch = model.loader().batches[100];
    const std::vector<SpanRef> stops = StopsOf(timeline, batch.key);
    ASSERT_FALSE(stops.empty());
    for (const SpanRef stop : stops) {
      const auto way = WayOf(timeline, model, stop);
      ASSERT_TRUE(way.has_value());
      EXPECT_EQ(way->begin, batch.index_sent - timeline.begin);
      EXPECT_EQ(way->end, batch.delivered - timeline.begin);
      const std::int64_t sum =
          std::accumulate(way->length.begin(), way->length.end(), std::int64_t{0});
      EXPECT_EQ(sum, way->end - way->begin);
      // If the steps are slow, batches wait for the loop; otherwise the loop waits for workers.
      const WayPart wanted = slow_step ? WayPart::kReady : WayPart::kMade;
      EXPECT_EQ(way->longest(), wanted);
    }
  }
}

TEST_F(SpanContextTest, ASpanWithoutABatchHasNoWay) {
  const analyzer::RunModel model = analyzer::BuildRunModel(*trace_);
  const Timeline timeline = testing::TimelineOf({{}, {{0, 10, StageId::kRead}}});
  EXPECT_EQ(WayOf(timeline, model, {0, 0, 0}), std::nullopt);
}

}  // namespace
}  // namespace penstock::gui
