// SPDX-License-Identifier: Apache-2.0
#include "gui/model/settings.h"

#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

TEST(SettingsTest, WhatIsWrittenIsRead) {
  Settings settings;
  settings.theme = Theme::kLight;
  settings.language = Language::kChinese;
  settings.scale = 1.5;
  settings.width = 1000;
  settings.wheel = Wheel::kZoom;
  settings.recent = {"/data/a b.penstock", "/data/=.penstock"};
  const Settings read = ParseSettings(SettingsText(settings), Settings{});
  EXPECT_EQ(read.theme, Theme::kLight);
  EXPECT_EQ(read.language, Language::kChinese);
  EXPECT_EQ(read.scale, 1.5);
  EXPECT_EQ(read.width, 1000);
  EXPECT_EQ(read.wheel, Wheel::kZoom);
  EXPECT_EQ(read.recent, settings.recent);
}

TEST(SettingsTest, TheLastFolderIsKept) {
  Settings settings;
  settings.folder = "/data/my runs";
  EXPECT_EQ(ParseSettings(SettingsText(settings), Settings{}).folder, settings.folder);
  EXPECT_TRUE(ParseSettings("folder=relative", Settings{}).folder.empty());
  settings.folder = "/two\nlines";
  EXPECT_TRUE(ParseSettings(SettingsText(settings), Settings{}).folder.empty());
}

TEST(SettingsTest, NonsenseIsPassedOver) {
  const Settings read =
      ParseSettings("theme=pink\nscale=1e9\nwidth=-3\nscale\n=\nheight=nan\n\xff\xfe", Settings{});
  EXPECT_EQ(SettingsText(read), SettingsText(Settings{}));
}

TEST(SettingsTest, LatestFileComesFirstAndOnce) {
  Settings settings;
  for (int i = 0; i < 20; ++i) settings.Remember("/t/" + std::to_string(i));
  settings.Remember("/t/15");
  ASSERT_EQ(settings.recent.size(), 10U);
  EXPECT_EQ(settings.recent[0], "/t/15");
  EXPECT_EQ(settings.recent[1], "/t/19");
  EXPECT_EQ(std::count(settings.recent.begin(), settings.recent.end(), "/t/15"), 1);
}

TEST(SettingsTest, LiesWhereTheSpecificationSays) {
  EXPECT_EQ(SettingsPath("/c", "/h"), "/c/penstock/gui.conf");
  EXPECT_EQ(SettingsPath("relative", "/h"), "/h/.config/penstock/gui.conf");
  EXPECT_TRUE(SettingsPath("", "").empty());
}

TEST(SettingsTest, LocaleChoosesTheLanguage) {
  EXPECT_EQ(LanguageOf("zh_CN.UTF-8"), Language::kChinese);
  EXPECT_EQ(LanguageOf("en_GB.UTF-8"), Language::kEnglish);
  EXPECT_EQ(LanguageOf(""), Language::kEnglish);
}

TEST(SettingsTest, AMissingFileGivesTheDefaults) {
  Settings defaults;
  defaults.scale = 2;
  EXPECT_EQ(LoadSettings("/nowhere/at/all", defaults).scale, 2);
}

}  // namespace
}  // namespace penstock::gui
