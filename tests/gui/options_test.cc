// SPDX-License-Identifier: Apache-2.0
#include "gui/main/options.h"

#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

OptionWords Picture() {
  OptionWords words;
  words.files = {"t.penstock"};
  words.screenshot = "o.png";
  return words;
}

TEST(OptionsTest, TimesHaveUnits) {
  EXPECT_DOUBLE_EQ(*ReadTime("--from", "1.2s"), 1.2);
  EXPECT_DOUBLE_EQ(*ReadTime("--from", "350ms"), 0.35);
  EXPECT_DOUBLE_EQ(*ReadTime("--from", "2"), 2);
  EXPECT_FALSE(ReadTime("--from", "soon"));
  EXPECT_FALSE(ReadTime("--from", "3h"));
  EXPECT_FALSE(ReadTime("--from", "inf"));
}

TEST(OptionsTest, EveryViewHasItsName) {
  for (const ViewInfo& view : kViews) {
    OptionWords words = Picture();
    words.view = view.name;
    const auto options = ReadOptions(words);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->view, view.id);
  }
}

TEST(OptionsTest, FunctionsAreAHalfOfTheStages) {
  OptionWords words = Picture();
  words.view = "functions";
  const auto options = ReadOptions(words);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->view, ViewId::kStages);
  EXPECT_TRUE(options->functions);
  words.view = "stages";
  EXPECT_FALSE(ReadOptions(words)->functions);
}

TEST(OptionsTest, MistakesAreUsageErrorsThatNameTheOption) {
  const auto refuse = [](auto change, const char* option) {
    OptionWords words = Picture();
    change(words);
    const auto options = ReadOptions(words);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().kind, ErrorKind::kUsage);
    EXPECT_NE(options.error().message.find(option), std::string::npos) << options.error().message;
  };
  refuse([](OptionWords& words) { words.view = "nosuch"; }, "--view");
  refuse([](OptionWords& words) { words.size = "10x10"; }, "--size");
  refuse([](OptionWords& words) { words.size = "1280"; }, "--size");
  refuse([](OptionWords& words) { words.theme = "pink"; }, "--theme");
  refuse([](OptionWords& words) { words.language = "xx"; }, "--lang");
  refuse([](OptionWords& words) { words.from = "x"; }, "--from");
  refuse(
      [](OptionWords& words) {
        words.from = "2s";
        words.to = "1s";
      },
      "--to");
  refuse([](OptionWords& words) { words.at = "2.1s"; }, "--at");
  refuse(
      [](OptionWords& words) {
        words.at = "1s..2s";
        words.to = "3s";
      },
      "--at");
  refuse([](OptionWords& words) { words.select = {"stage:nosuch"}; }, "--select");
  refuse([](OptionWords& words) { words.files.clear(); }, "--screenshot");
  for (const char* scale : {"nan", "inf", "0.5", "3.1", "-1", "1e0", "0x1", "1.0.0", "big", "."}) {
    refuse([&](OptionWords& words) { words.scale = scale; }, "--scale");
  }
}

TEST(OptionsTest, AScaleIsTakenAsItIs) {
  OptionWords words = Picture();
  words.scale = "1.25";
  const auto options = ReadOptions(words);
  ASSERT_TRUE(options);
  EXPECT_DOUBLE_EQ(options->scale, 1.25);
  EXPECT_DOUBLE_EQ(ReadOptions(Picture())->scale, 0);
}

TEST(OptionsTest, APlaceOpensTheTimelineUnlessAViewIsNamed) {
  OptionWords words = Picture();
  words.at = "2.1s..2.4s";
  words.select = {"batch:12", "stage:decode"};
  const auto options = ReadOptions(words);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->view, ViewId::kTimeline);
  EXPECT_DOUBLE_EQ(*options->place.at.from, 2.1);
  EXPECT_EQ(options->place.batch, 12U);
  EXPECT_EQ(options->place.stage, traces::StageId::kDecode);
  words.view = "io";
  EXPECT_EQ(ReadOptions(words)->view, ViewId::kIo);
}

TEST(OptionsTest, WithoutAViewWhatIsOpenedDecides) {
  EXPECT_FALSE(ReadOptions(Picture())->view);
}

TEST(OptionsTest, TwoTracesAndASweepAreTheMost) {
  OptionWords words = Picture();
  words.files = {"a", "b", "c"};
  EXPECT_EQ(ReadOptions(words)->files.size(), 3U);
  words.files.emplace_back("d");
  EXPECT_FALSE(ReadOptions(words));
}

TEST(OptionsTest, AThirdTraceAndASecondSweepAreRefused) {
  Options options;
  options.files = {"a.penstock", "b.penstock", "c.json"};
  EXPECT_TRUE(CheckFiles(options));
  options.files = {"a.penstock", "b.penstock", "c.penstock"};
  const auto three = CheckFiles(options);
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().kind, ErrorKind::kUsage);
  options.files = {"a.json", "b.json"};
  EXPECT_FALSE(CheckFiles(options));
}

}  // namespace
}  // namespace penstock::gui
