// SPDX-License-Identifier: Apache-2.0
#include "gui/main/options.h"

#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

OptionWords Picture() {
  OptionWords words;
  words.trace = "t.penstock";
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
  refuse([](OptionWords& words) { words.trace = ""; }, "--screenshot");
}

}  // namespace
}  // namespace penstock::gui
