// SPDX-License-Identifier: Apache-2.0
//
// The marks that a person leaves in a trace are still there when it is opened again.
#include "gui/model/timeline/marks.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/gui/support.h"
#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

using testing::TestSpan;
using traces::StageId;

std::vector<TestSpan> Steps(std::int64_t from) {
  std::vector<TestSpan> spans;
  for (std::int64_t at = from; at < 10'000; at += 100) spans.push_back({at, 60, StageId::kStep});
  return spans;
}

TimelineState Marked(const Timeline& timeline) {
  TimelineState state;
  state.view = TimeView(timeline.length);
  state.bookmarks[0] = TimeRange{100, 200};
  state.bookmarks[8] = TimeRange{-50, 9'000};
  state.notes = {{{300, 400}, "slow = here, 慢"}, {{500, 501}, ""}};
  state.pins = {{RowKind::kLevel, 101, 101}, {RowKind::kCounter, Pin::kWholeRun, 2}};
  state.folded = {Row::kAllGroups, 1};
  return state;
}

TEST(MarksTest, SurviveAsText) {
  const Timeline timeline = testing::TimelineOf({Steps(0), Steps(0)});
  const Marks marks = MarksOf(timeline, Marked(timeline));
  EXPECT_EQ(ParseMarks(MarksText(marks)), marks);
}

// The begin of a trace may move when it is packed, or when an earlier span is recorded late.
TEST(MarksTest, KeepTheirTimeInATraceThatBeginsEarlier) {
  const Timeline before = testing::TimelineOf({Steps(0), Steps(0)});
  const Timeline after = testing::TimelineOf({Steps(-700), Steps(0)});
  ASSERT_EQ(after.begin, before.begin - 700);
  TimelineState state;
  state.view = TimeView(after.length);
  Restore(MarksOf(before, Marked(before)), after, state);
  EXPECT_EQ(state.bookmarks[0], (TimeRange{800, 900}));
  EXPECT_EQ(state.notes[0], (Note{{1'000, 1'100}, "slow = here, 慢"}));
  EXPECT_EQ(MarksOf(after, state), MarksOf(before, Marked(before)));
}

TEST(MarksTest, FoldedProcessesAreFoundByTheirPids) {
  Timeline timeline = testing::TimelineOf({Steps(0), Steps(0), Steps(0)});
  const Marks marks = MarksOf(timeline, Marked(timeline));
  std::swap(timeline.groups[1], timeline.groups[2]);
  TimelineState state;
  Restore(marks, timeline, state);
  EXPECT_EQ(state.folded, (std::set<std::uint32_t>{2, Row::kAllGroups}));
}

TEST(MarksTest, WhatWasMarkedMeanwhileStays) {
  const Timeline timeline = testing::TimelineOf({Steps(0), Steps(0)});
  TimelineState state;
  state.bookmarks[0] = TimeRange{7, 9};
  state.notes = {{{300, 400}, "slow = here, 慢"}};
  const Marks marks = MarksOf(timeline, Marked(timeline));
  Restore(marks, timeline, state);
  Restore(marks, timeline, state);
  EXPECT_EQ(state.bookmarks[0], (TimeRange{7, 9}));
  EXPECT_EQ(state.bookmarks[8], (TimeRange{-50, 9'000}));
  EXPECT_EQ(state.notes.size(), 2U);
  EXPECT_EQ(state.pins.size(), 2U);
}

TEST(MarksTest, WhatIsWrongInAFileIsPassedOver) {
  for (const char* text :
       {"", "\n\n=\n", "bookmark=0 1 2\n", "bookmark=10 1 2\n", "bookmark=1 5 5\n",
        "bookmark=1 9 5\n", "bookmark=1 2\n", "bookmark=x 1 2\n", "bookmark=1 1 2x\n",
        "bookmark=1 -9223372036854775808 9223372036854775807\n", "note=1\n", "note=5 1 late\n",
        "lane=1\n", "lane=-1 2\n", "folded=\n", "folded=all\n", "unknown=1 2 3\n"}) {
    EXPECT_TRUE(ParseMarks(text).empty()) << text;
  }
  EXPECT_EQ(ParseMarks("bookmark=1 1 2\nbookmark=0 1 2\n").bookmarks[0], (TimeRange{1, 2}));
}

class MarksOfATraceTest : public ::testing::Test {
 protected:
  static std::unique_ptr<traces::Trace> Trace(std::uint32_t pid, std::uint64_t start) {
    traces::TraceData data;
    data.facts = {{"boot_id", "b"}, {"host", "h"}, {"command", "python a.py"}};
    for (const std::uint32_t later : {0U, 1U}) {
      traces::ProcessInfo process;
      process.pid = pid + later;
      process.process_start = start == 0 ? 0 : start + later;
      data.processes.push_back(process);
    }
    return traces::MakeTrace(std::move(data));
  }
};

TEST_F(MarksOfATraceTest, AreFoundWhereverTheTraceLies) {
  const std::string name = MarksName(*Trace(10, 500), "/a/run.recording");
  EXPECT_EQ(MarksName(*Trace(10, 500), "/b/run.penstock"), name);
  EXPECT_NE(MarksName(*Trace(10, 501), "/a/run.recording"), name);
  EXPECT_NE(MarksName(*Trace(11, 500), "/a/run.recording"), name);
}

TEST_F(MarksOfATraceTest, AreFoundByThePathWhereNothingElseIsKnown) {
  const std::string name = MarksName(*Trace(10, 0), "/a/run.penstock");
  EXPECT_EQ(MarksName(*Trace(77, 0), "/a/./run.penstock"), name);
  EXPECT_NE(MarksName(*Trace(10, 0), "/b/run.penstock"), name);
}

TEST(MarksFileTest, IsThereAsLongAsThereAreMarks) {
  const traces::testing::TempFolder folder;
  const std::filesystem::path path = (folder / "deep") / "a.marks";
  EXPECT_TRUE(LoadMarks(path).empty());
  Marks marks;
  marks.bookmarks[3] = TimeRange{1, 2};
  ASSERT_TRUE(SaveMarks(path, marks));
  EXPECT_EQ(LoadMarks(path), marks);
  ASSERT_TRUE(SaveMarks(path, {}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MarksFolderTest, IsThatOfTheSpecification) {
  EXPECT_EQ(MarksFolder("/s", "/h"), "/s/penstock/marks");
  EXPECT_EQ(MarksFolder("relative", "/h"), "/h/.local/state/penstock/marks");
  EXPECT_EQ(MarksFolder("", ""), "");
}

}  // namespace
}  // namespace penstock::gui
