// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using traces::StageId;

Place Selected(const std::vector<std::string>& words) {
  Place place;
  for (const std::string& word : words) EXPECT_TRUE(ReadSelected(word, &place)) << word;
  return place;
}

TEST(PlaceTest, TimesMayBeOpenAtOneEnd) {
  const auto both = ReadTimes("--at", "350ms..2");
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(*both->from, 0.35);
  EXPECT_DOUBLE_EQ(*both->to, 2);
  EXPECT_FALSE(ReadTimes("--at", "2.1s..")->to);
  EXPECT_FALSE(ReadTimes("--at", "..2.4s")->from);
  EXPECT_EQ(ReadTimes("--at", "1s..")->Within(3'000'000'000),
            (TimeRange{1'000'000'000, 3'000'000'000}));
}

TEST(PlaceTest, BadTimesAreRefusedInOneLine) {
  for (const char* bad : {"", "..", "2.1s", "2s..1s", "2s..2s", "a..b", "1s..3h", "1s...2s"}) {
    const auto times = ReadTimes("--at", bad);
    ASSERT_FALSE(times) << bad;
    EXPECT_EQ(times.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(times.error().message, HasSubstr("--at"));
  }
}

TEST(PlaceTest, WhatWasReadIsWrittenTheSame) {
  const std::vector<std::string> words = {"2.1s..2.400000001s", "batch:12@3", "sample:345",
                                          "stage:decode"};
  EXPECT_EQ(SelectedWords(Selected(words)), words);
  EXPECT_THAT(SelectedWords(Selected({"batch:12"})), ElementsAre("batch:12"));
  EXPECT_EQ(TimesText({0, 1'500'000'000}), "0s..1.5s");
}

TEST(PlaceTest, BadSelectionsAreRefusedInOneLine) {
  for (const char* bad :
       {"", "12", "batch", "batch:", "batch:x", "batch:-1", "batch:1@", "batch:99999999999",
        "sample:1.5", "stage:nosuch", "stage:none", "file:a", "2s..1s", "batch:1..2"}) {
    Place place;
    const auto read = ReadSelected(bad, &place);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(read.error().message, HasSubstr("--select"));
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  Place place = Selected({"batch:12"});
  EXPECT_FALSE(ReadSelected("batch:13", &place));
}

TEST(PlaceTest, TheLongestSpanWithAllPropertiesIsSelected) {
  const Timeline timeline = testing::TimelineOf({{{0, 100, StageId::kWait, 0}},
                                                 {{0, 80, StageId::kFetch, 0},
                                                  {5, 20, StageId::kDecode, 0, "", "", 7},
                                                  {30, 40, StageId::kDecode, 0, "", "", 8},
                                                  {95, 90, StageId::kFetch, 1},
                                                  {100, 30, StageId::kDecode, 1, "", "", 7}}});
  const auto start = [&](const std::vector<std::string>& words, const Times& at = {}) {
    Place place = Selected(words);
    place.at = at;
    const auto span = FindSelected(timeline, place);
    return span ? timeline.start(*span) : -1;
  };
  EXPECT_EQ(start({"stage:decode"}), 30);
  EXPECT_EQ(start({"stage:decode", "..0.000000025s"}), 5) << "the interval comes first";
  EXPECT_EQ(start({"stage:decode"}, {80e-9, {}}), 100);
  EXPECT_EQ(start({"stage:decode"}, {72e-9, 80e-9}), -1) << "not in sight";
  EXPECT_EQ(start({"sample:7"}), 100);
  EXPECT_EQ(start({"sample:7", "batch:0"}), 5);
  EXPECT_EQ(start({"batch:1"}), 95);
  EXPECT_EQ(start({"batch:1@4"}), -1);
  EXPECT_EQ(start({"sample:9"}), -1);
}

TEST(PlaceTest, ASelectionFromBeforeTheTraceIsWrittenFromItsBegin) {
  const Timeline timeline = testing::TimelineOf({{{0, 100, StageId::kWait, 0}}});
  TimelineState state;
  state.selection = TimeRange{-12, 90};
  EXPECT_THAT(SelectedWords(SelectedIn(timeline, state)), ElementsAre("0s..0.00000009s"));
  state.selection = TimeRange{-12, 0};
  EXPECT_THAT(SelectedWords(SelectedIn(timeline, state)), ElementsAre());
  EXPECT_EQ(SecondsText(-12'000'000), "-0.012s") << "a person may write such a time";
}

TEST(PlaceTest, TheChosenSpanIsFoundAgainByItsWords) {
  const Timeline timeline =
      testing::TimelineOf({{{0, 100, StageId::kWait, 0}},
                           {{0, 80, StageId::kFetch, 0}, {5, 20, StageId::kDecode, 0, "", "", 7}}});
  TimelineState state;
  state.selection = TimeRange{1, 90};
  state.span = FindSelected(timeline, Selected({"sample:7"}));
  const std::vector<std::string> words = SelectedWords(SelectedIn(timeline, state));
  EXPECT_THAT(words,
              ElementsAre("0.000000001s..0.00000009s", "batch:0@0", "sample:7", "stage:decode"));
  EXPECT_EQ(FindSelected(timeline, Selected(words)), state.span);
}

}  // namespace
}  // namespace penstock::gui
