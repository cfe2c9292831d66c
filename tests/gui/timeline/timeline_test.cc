// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using testing::TimelineOf;
using traces::StageId;

TEST(TimelineTest, NestedSpansLieBelowWhatHoldsThem) {
  const Timeline timeline = TimelineOf({{{0, 100, StageId::kFetch},
                                         {10, 40, StageId::kSample},
                                         {20, 10, StageId::kDecode},
                                         {60, 30, StageId::kCollate}}});
  ASSERT_EQ(timeline.lanes.size(), 1U);
  const Lane& lane = timeline.lanes[0];
  ASSERT_EQ(lane.levels.size(), 3U);
  EXPECT_EQ(lane.levels[0].stage(0), StageId::kFetch);
  ASSERT_EQ(lane.levels[1].size(), 2U);
  EXPECT_EQ(lane.levels[1].stage(1), StageId::kCollate);
  EXPECT_EQ(lane.levels[2].stage(0), StageId::kDecode);
}

TEST(TimelineTest, SpansOfALevelNeverOverlap) {
  std::mt19937 random(7);
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 3000; ++i) {
    spans.push_back({static_cast<std::int64_t>(random() % 100'000),
                     static_cast<std::int64_t>(random() % 5'000), StageId::kRead});
  }
  const Timeline timeline = TimelineOf({spans});
  for (const Level& level : timeline.lanes[0].levels) {
    for (std::size_t i = 1; i < level.size(); ++i) {
      ASSERT_GE(level.start[i], level.end(i - 1));
    }
  }
}

TEST(TimelineTest, TimeBetweenTwoWaitsIsAStep) {
  const Timeline timeline = TimelineOf({{{0, 10, StageId::kWait, 0}, {30, 5, StageId::kWait, 1}}});
  const Level& level = timeline.lanes[0].levels[0];
  ASSERT_EQ(level.size(), 3U);
  EXPECT_EQ(level.stage(1), StageId::kStep);
  EXPECT_EQ(level.start[1], 10);
  EXPECT_EQ(level.length(1), 20);
  EXPECT_EQ(level.detail[1].batch, 0U);
  EXPECT_NE(level.detail[1].flags & SpanDetail::kDerived, 0);
}

TEST(TimelineTest, RecordedStepsAreNotDerivedAgain) {
  const Timeline timeline = TimelineOf(
      {{{0, 10, StageId::kWait, 0}, {10, 15, StageId::kStep, 0}, {30, 5, StageId::kWait, 1}}});
  EXPECT_EQ(timeline.lanes[0].spans, 3U);
}

TEST(TimelineTest, ConsumerComesFirstThenWorkersByNumber) {
  const Timeline timeline = TimelineOf(
      {{{0, 1, StageId::kWait, 0}}, {{0, 1, StageId::kFetch, 0}}, {{0, 1, StageId::kFetch, 1}}});
  ASSERT_EQ(timeline.groups.size(), 3U);
  EXPECT_EQ(timeline.groups[0].kind, GroupKind::kConsumer);
  EXPECT_EQ(timeline.groups[1].worker_id, 0);
  EXPECT_EQ(timeline.groups[2].worker_id, 1);
}

// The timeline of one process whose threads have these ids and names. Each thread has one span.
Timeline TimelineOfThreads(const std::vector<std::pair<std::uint32_t, std::string>>& threads) {
  traces::TraceData data;
  data.processes.emplace_back().pid = 100;
  for (const auto& [tid, name] : threads) {
    traces::ThreadInfo thread;
    thread.process = ProcessId{0};
    thread.tid = tid;
    thread.name = name;
    data.threads.push_back(thread);
    traces::Span span;
    span.start = TimeNs{1'000'000};
    span.duration = TimeNs{10};
    span.stage = StageId::kRead;
    data.spans.push_back({span});
  }
  return *BuildTimeline(*traces::MakeTrace(std::move(data)));
}

TEST(TimelineTest, ALaneHasTheNameOfItsThreadAndKnowsWhatItIs) {
  const Timeline timeline = TimelineOfThreads({{100, "python"},
                                               {101, ""},
                                               {102, "main"},
                                               {103, "GPU 0 stream 7"},
                                               {wire::LaneOf(2, 13), "GPU 2 stream 13"}});
  ASSERT_EQ(timeline.lanes.size(), 5U);
  EXPECT_EQ(timeline.lanes[0].label, "python");
  EXPECT_TRUE(timeline.lanes[0].main);
  EXPECT_EQ(timeline.lanes[1].label, "");
  // Any thread may have the name "main" or "GPU 0 stream 7", so these names prove nothing.
  EXPECT_FALSE(timeline.lanes[2].main);
  EXPECT_EQ(timeline.lanes[3].stream, std::nullopt);
  EXPECT_EQ(timeline.lanes[4].stream, (DeviceStream{2, 13}));
  EXPECT_FALSE(timeline.lanes[4].main);
}

TEST(TimelineTest, StopRequestedMeansNoTimeline) {
  const auto trace = testing::MakeThreads({{{0, 1, StageId::kWait, 0}}});
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(BuildTimeline(*trace, {source.get_token(), nullptr}).has_value());
}

TEST(TimelineTest, EmptyTraceHasNoLanes) {
  const Timeline timeline = *BuildTimeline(*traces::MakeTrace({}));
  EXPECT_TRUE(timeline.lanes.empty());
  EXPECT_GE(timeline.length, 1);
}

TEST(TimelineTest, AStageOfALaterVersionIsOfNoStage) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 10, static_cast<StageId>(200)}, {20, 10, StageId::kSync}}});
  const Level& level = timeline.lanes[0].levels[0];
  EXPECT_EQ(level.stage(0), StageId::kNone);
  EXPECT_EQ(level.totals.back().count[static_cast<std::size_t>(StageId::kSync)], 1U);
}

TEST(TimelineTest, ARangeOfALibraryIsOfTheStageThatItNames) {
  const auto mark = [](std::int64_t start, const char* name) {
    return testing::TestSpan{start, 10, StageId::kMark, wire::kNoBatch, name};
  };
  const Timeline timeline =
      TimelineOf({{mark(0, "libjpeg_turbo_decoder process #0"),
                   mark(20, "[DALI][CPU op] Run Resize"), mark(40, "forward")}});
  EXPECT_EQ(timeline.stages,
            (std::vector<StageId>{StageId::kDecode, StageId::kAugment, StageId::kMark}));
}

TEST(TimelineTest, StagesAreThoseThatOccurInTheOrderOfTheDatasWay) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 10, StageId::kStep}}, {{0, 10, StageId::kDecode}, {20, 10, StageId::kRead}}});
  EXPECT_EQ(timeline.stages,
            (std::vector<StageId>{StageId::kRead, StageId::kDecode, StageId::kStep}));
}

TEST(LaneRoleTest, ThreadsOfALoaderAreNamedByWhatTheyDo) {
  traces::TraceData data;
  traces::ProcessInfo process;
  process.pid = 100;
  data.processes.push_back(process);
  const auto add = [&](std::uint32_t tid, std::vector<StageId> stages) {
    traces::ThreadInfo thread;
    thread.tid = tid;
    thread.name = tid == 104 ? traces::kBackwardThread : "python3";
    data.threads.push_back(thread);
    std::vector<traces::Span> spans;
    for (const StageId stage : stages) {
      traces::Span span;
      span.start = TimeNs{static_cast<std::int64_t>(spans.size()) * 100};
      span.duration = TimeNs{50};
      span.stage = stage;
      spans.push_back(span);
    }
    data.spans.push_back(spans);
  };
  add(100, {StageId::kFetch, StageId::kPut});
  add(101, {StageId::kPut, StageId::kPut});
  add(102, {StageId::kGet, StageId::kPin});
  add(103, {StageId::kDecode});
  add(104, {StageId::kMark});  // the window names it in its own language
  const Timeline timeline = *BuildTimeline(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(timeline.lanes.size(), 5U);
  EXPECT_EQ(timeline.lanes[0].role, LaneRole::kNone);
  EXPECT_EQ(timeline.lanes[1].role, LaneRole::kQueueFeeder);
  EXPECT_EQ(timeline.lanes[2].role, LaneRole::kPinThread);
  EXPECT_EQ(timeline.lanes[3].role, LaneRole::kNone);
  EXPECT_EQ(timeline.lanes[4].role, LaneRole::kBackward);
}

}  // namespace
}  // namespace penstock::gui
