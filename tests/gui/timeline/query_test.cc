// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>

#include "gui/model/timeline/calls.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using traces::StageId;

TEST(AggregateTest, SaysWhatAPassOverTheSpansSays) {
  std::mt19937 random(11);
  std::vector<testing::TestSpan> spans;
  for (int i = 0; i < 6'000; ++i) {
    spans.push_back({static_cast<std::int64_t>(random() % 1'000'000),
                     static_cast<std::int64_t>(random() % 400),
                     random() % 2 == 0 ? StageId::kRead : StageId::kDecode});
  }
  const Timeline timeline = testing::TimelineOf({spans});
  for (int round = 0; round < 50; ++round) {
    const auto a = static_cast<std::int64_t>(random() % 1'000'000);
    const auto b = static_cast<std::int64_t>(random() % 1'000'000);
    const TimeRange range{std::min(a, b), std::max(a, b) + 1};
    std::map<StageId, StageSum> slow;
    for (const Level& level : timeline.lanes[0].levels) {
      for (std::size_t i = 0; i < level.size(); ++i) {
        if (level.end(i) <= range.from || level.start[i] >= range.to) continue;
        StageSum& sum = slow[level.stage(i)];
        const std::int64_t inside =
            std::min(level.end(i), range.to) - std::max(level.start[i], range.from);
        ++sum.count;
        sum.time += inside;
        if (inside == level.length(i)) continue;
        ++sum.cut;
        sum.cut_time += inside;
      }
    }
    for (const StageSum& sum : Aggregate(timeline, range)) {
      EXPECT_EQ(sum.count, slow[sum.stage].count);
      EXPECT_EQ(sum.time, slow[sum.stage].time);
      EXPECT_EQ(sum.cut, slow[sum.stage].cut);
      EXPECT_EQ(sum.cut_time, slow[sum.stage].cut_time);
    }
  }
}

// A mark within another one is on the same thread.
TEST(AggregateTest, MarksWithinEachOtherAreNotSaidToBeOfSeveralThreads) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 100, StageId::kMark}, {10, 80, StageId::kMark}, {20, 50, StageId::kDecode}}});
  const TimeRange whole{0, 100};
  for (const StageSum& sum : Aggregate(timeline, whole)) {
    const bool mark = sum.stage == StageId::kMark;
    EXPECT_EQ(sum.time, mark ? 180 : 50);
    EXPECT_EQ(sum.threads(whole), mark ? std::nullopt : std::optional(0.5));
  }
}

TEST(AggregateTest, AllStagesCountASpanWithoutLengthAtBothEndsOfTheTrace) {
  const Timeline timeline = testing::TimelineOf(
      {{{0, 0, StageId::kDecode}, {10, 80, StageId::kCollate}, {100, 0, StageId::kDecode}}});
  const std::vector<StageSum> sums = StageSums(timeline);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].stage, StageId::kCollate);
  EXPECT_EQ(sums[1].stage, StageId::kDecode);
  EXPECT_EQ(sums[1].count, 2U);
  EXPECT_EQ(sums[1].time, 0);
}

class WalkTest : public ::testing::Test {
 protected:
  // A batch that a worker (thread 1) makes, and the training loop (thread 0) then uses.
  std::unique_ptr<traces::Trace> trace_ =
      testing::MakeThreads({{{0, 100, StageId::kWait, 0}, {150, 60, StageId::kWait, 1}},
                            {{0, 80, StageId::kFetch, 0},
                             {5, 50, StageId::kDecode, 0, "PIL.load"},
                             {85, 5, StageId::kPut, 0},
                             {95, 90, StageId::kFetch, 1}}});
  Timeline timeline_ = *BuildTimeline(*trace_);

  [[nodiscard]] std::vector<StageId> Stages(const std::vector<SpanRef>& spans) const {
    std::vector<StageId> stages;
    for (const SpanRef span : spans) stages.push_back(timeline_.stage(span));
    return stages;
  }
};

TEST_F(WalkTest, StopsOfABatchComeInTheOrderOfTime) {
  EXPECT_THAT(Stages(StopsOf(timeline_, {0, 0})),
              ::testing::UnorderedElementsAre(StageId::kWait, StageId::kFetch, StageId::kPut,
                                              StageId::kStep));
  EXPECT_EQ(timeline_.stage(StopsOf(timeline_, {0, 0}).back()), StageId::kStep);
  EXPECT_TRUE(StopsOf(timeline_, {77, 0}).empty());
}

TEST_F(WalkTest, AlongABatchGoesForthAndBack) {
  const std::vector<SpanRef> stops = StopsOf(timeline_, {0, 0});
  EXPECT_EQ(AlongBatch(timeline_, stops[1], 1), stops[2]);
  EXPECT_EQ(AlongBatch(timeline_, stops[1], -1), stops[0]);
  EXPECT_EQ(AlongBatch(timeline_, stops.back(), 1), std::nullopt);
}

// Two ranks, each with a wait for its batch 3.
std::unique_ptr<traces::Trace> TwoRanks() {
  traces::TraceData data;
  for (std::uint32_t p = 0; p < 2; ++p) {
    traces::ProcessInfo process;
    process.pid = 100 + p;
    process.role = wire::kRoleConsumer;
    process.rank = static_cast<std::int32_t>(p);
    data.processes.push_back(process);
    traces::ThreadInfo thread;
    thread.process = ProcessId{p};
    thread.tid = 100 + p;
    data.threads.push_back(thread);
    traces::Span wait;
    wait.start = TimeNs{1'000'000 + 10 * p};
    wait.duration = TimeNs{5};
    wait.stage = StageId::kWait;
    wait.batch = {3, 1};
    data.spans.push_back({wait});
  }
  return traces::MakeTrace(std::move(data));
}

TEST(StopsTest, ABatchOfAnotherTrainingProcessWithTheSameKeyHasItsOwnStops) {
  const Timeline timeline = *BuildTimeline(*TwoRanks());
  const SpanRef first{0, 0, 0};
  EXPECT_EQ(StopsOf(timeline, {3, 1}).size(), 2U);
  EXPECT_THAT(OwnStopsOf(timeline, first), ElementsAre(first));
  EXPECT_EQ(AlongBatch(timeline, first, 1), std::nullopt);
}

TEST(StopsTest, ACallOfAnotherTrainingProcessIsOfAnotherBatch) {
  const auto trace = TwoRanks();
  const Timeline timeline = *BuildTimeline(*trace);
  const SpanRef span{0, 0, 0};
  Call call;
  call.thread = timeline.lanes[0].thread;
  call.detail = timeline.detail(span);
  EXPECT_TRUE(IsOfBatchOf(timeline, call, span));
  call.thread = timeline.lanes[1].thread;
  EXPECT_FALSE(IsOfBatchOf(timeline, call, span));
}

TEST(SearchTest, ARankIsFoundWithoutTheOthers) {
  const auto trace = TwoRanks();
  const Timeline timeline = *BuildTimeline(*trace);
  EXPECT_EQ(Search(timeline, *trace, "batch 3").hits().size(), 2U);
  EXPECT_THAT(Search(timeline, *trace, "rank 1 batch 3").hits(), ElementsAre(SpanRef{1, 0, 0}));
  EXPECT_THAT(Search(timeline, *trace, "rank:0").hits(), ElementsAre(SpanRef{0, 0, 0}));
}

TEST_F(WalkTest, SearchFindsStagesNamesBatchesAndLengths) {
  EXPECT_THAT(Stages(Search(timeline_, *trace_, "decode").hits()), ElementsAre(StageId::kDecode));
  EXPECT_THAT(Stages(Search(timeline_, *trace_, "解码").hits()), ElementsAre(StageId::kDecode));
  EXPECT_EQ(Search(timeline_, *trace_, "生成批次 批次 1").hits(),
            Search(timeline_, *trace_, "fetch batch 1").hits());
  EXPECT_THAT(Stages(Search(timeline_, *trace_, "pil.LOAD").hits()), ElementsAre(StageId::kDecode));
  EXPECT_THAT(Stages(Search(timeline_, *trace_, "fetch batch 1").hits()),
              ElementsAre(StageId::kFetch));
  EXPECT_EQ(Search(timeline_, *trace_, ">85ns").hits().size(), 2U);
  EXPECT_TRUE(Search(timeline_, *trace_, "nothing of that name").hits().empty());
  EXPECT_TRUE(Search(timeline_, *trace_, "").hits().empty());
}

TEST_F(WalkTest, NextAndPreviousHitWrapAround) {
  const Search search(timeline_, *trace_, "fetch");
  ASSERT_EQ(search.hits().size(), 2U);
  EXPECT_EQ(search.Next(timeline_, 0), 1U);
  EXPECT_EQ(search.Next(timeline_, 95), 0U);
  EXPECT_EQ(search.Previous(timeline_, 95), 0U);
  EXPECT_EQ(search.Previous(timeline_, 0), 1U);
}

TEST_F(WalkTest, NeighboursEndWhereTheLevelEnds) {
  const SpanRef first = Search(timeline_, *trace_, "fetch").hits()[0];
  EXPECT_EQ(Neighbour(timeline_, first, -1), std::nullopt);
  const auto next = Neighbour(timeline_, first, 1);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(timeline_.stage(*next), StageId::kPut);
}

TEST_F(WalkTest, LongestLooksOnlyInsideTheRange) {
  EXPECT_EQ(timeline_.start(*Longest(timeline_, StageId::kFetch, {0, 300})), 95);
  EXPECT_EQ(timeline_.start(*Longest(timeline_, StageId::kFetch, {0, 90})), 0);
  EXPECT_EQ(Longest(timeline_, StageId::kKernel, {0, 300}), std::nullopt);
}

TEST_F(WalkTest, SnapsToAnEdgeWithinReachOnly) {
  const Level& level = timeline_.lanes[1].levels[0];
  EXPECT_EQ(SnapToEdge(level, 82, 3), 80);
  EXPECT_EQ(SnapToEdge(level, 84, 3), 85);
  EXPECT_EQ(SnapToEdge(level, 40, 3), 40);
}

TEST(SearchTest, AFileIsFoundWithAllThatWasDoneForItsSamples) {
  const auto trace = testing::MakeThreads(
      {{{0, 5, StageId::kRead, 0, "", "/data/cat.jpg", 7},
        {5, 20, StageId::kDecode, 0, "PIL.load", "", 7},
        {30, 5, StageId::kRead, 0, "", "/data/dog.jpg", 8},
        {35, 20, StageId::kDecode, 0, "PIL.load", "", 8},
        {60, 5, StageId::kDecode, 1, "PIL.load", "", 7},  // in another batch, without a read
        {70, 5, StageId::kRead, 1, "", "/data/cat.jpg"}}});
  const Timeline timeline = *BuildTimeline(*trace);
  const auto starts = [&](std::string_view text) {
    const Search search(timeline, *trace, text);
    std::vector<std::int64_t> found;
    for (const SpanRef hit : search.hits()) found.push_back(timeline.start(hit));
    return found;
  };
  EXPECT_THAT(starts("cat.jpg"), ElementsAre(0, 5, 70));
  EXPECT_THAT(starts("cat.jpg decode"), ElementsAre(5));
  EXPECT_THAT(starts("pil.load"), ElementsAre(5, 35, 60));
}

TEST(SearchTest, APhraseInQuotationMarksIsAPartOfANameWhateverItSays) {
  const auto trace = testing::MakeThreads({{{0, 5, StageId::kMark, 0, "wait for the device"},
                                            {10, 5, StageId::kMark, 0, "device of the wait"},
                                            {20, 5, StageId::kWait, 0},
                                            {30, 5, StageId::kMark, 0, "train step"},
                                            {40, 5, StageId::kStep, 0},
                                            {50, 5, StageId::kMark, 0, ">5"},
                                            {60, 5, StageId::kMark, 0, "batch 0"},
                                            {70, 5, StageId::kMark, 0, "say \"go\""}}});
  const Timeline timeline = *BuildTimeline(*trace);
  const auto starts = [&](std::string_view text) {
    const Search search(timeline, *trace, text);
    std::vector<std::int64_t> found;
    for (const SpanRef hit : search.hits()) found.push_back(timeline.start(hit));
    return found;
  };
  EXPECT_THAT(starts("\"wait for the device\""), ElementsAre(0));
  EXPECT_THAT(starts("\"Train Step\""), ElementsAre(30));
  EXPECT_THAT(starts("\">5\""), ElementsAre(50));
  EXPECT_THAT(starts("\"batch 0\""), ElementsAre(60));
  EXPECT_THAT(starts("\"wait\" mark"), ElementsAre(0, 10)) << "words beside it hold as ever";
  EXPECT_THAT(starts("\"train st"), ElementsAre(30)) << "not closed yet";
  EXPECT_THAT(starts("\"\""), ElementsAre());
  EXPECT_EQ(QuotedPhrase("say \"go\""), "\"say \"\"go\"\"\"");
  EXPECT_THAT(starts(QuotedPhrase("say \"go\"")), ElementsAre(70));
}

TEST(SearchTest, HitsOfALevelAreItsShareOfAllByStart) {
  const auto trace = testing::MakeThreads(
      {{{0, 100, StageId::kSample}, {10, 20, StageId::kDecode}, {40, 20, StageId::kDecode}},
       {{5, 20, StageId::kDecode}}});
  const Timeline timeline = *BuildTimeline(*trace);
  const Search search(timeline, *trace, "decode");
  EXPECT_EQ(search.hits().size(), 3U);
  EXPECT_TRUE(search.HitsOf(0, 0).empty());
  ASSERT_EQ(search.HitsOf(0, 1).size(), 2U);
  EXPECT_LT(timeline.start(search.HitsOf(0, 1)[0]), timeline.start(search.HitsOf(0, 1)[1]));
  EXPECT_EQ(search.HitsOf(1, 0).size(), 1U);
}

}  // namespace
}  // namespace penstock::gui
