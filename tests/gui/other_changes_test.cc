// SPDX-License-Identifier: Apache-2.0
#include "gui/model/other_changes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

// A report that says "also --transfer u8: 1.23x" and as much of other options.
analyzer::Report WithChanges(std::initializer_list<const char*> options) {
  analyzer::Report report = analyzer::BuildReport(
      *analyzer::testing::SyntheticTrace(analyzer::testing::Synthetic{}), "t.penstock");
  report.changes.clear();
  const double now = report.diagnosis.base_rate();
  double times = 1.23;
  for (const char* option : options) {
    analyzer::TriedChange change;
    change.option = option;
    change.predicted.rate = {now * times, now * (times - 0.05), now * (times + 0.05)};
    change.predicted.speedup = change.predicted.steady = times;
    report.changes.push_back(change);
    times -= 0.02;
  }
  return report;
}

TEST(OtherChangesTest, TheReportsChangesAreInTheDashboardWithTheSameGains) {
  const analyzer::Report report = WithChanges({"--transfer u8"});
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const OtherChanges changes = OtherChangesOf(report, language);
    ASSERT_EQ(changes.shown.size(), 1U);
    const bool english = language == Language::kEnglish;
    EXPECT_EQ(changes.shown[0].name, english ? "Pixels as uint8" : "以 uint8 交付像素");
    EXPECT_EQ(changes.shown[0].option, "--transfer u8");
    EXPECT_EQ(changes.shown[0].command, "penstock whatif t.penstock --transfer u8");
    EXPECT_EQ(changes.shown[0].gain, "1.23x");
    EXPECT_EQ(changes.shown[0].effect, Effect::kGain);
    EXPECT_EQ(changes.more, "");
  }
}

TEST(OtherChangesTest, ThoseWithoutRoomAreNamed) {
  const analyzer::Report report =
      WithChanges({"--transfer u8", "--ram-cache", "--pack", "--gpu augment", "--decoder turbo"});
  const OtherChanges changes = OtherChangesOf(report, Language::kEnglish);
  ASSERT_EQ(changes.shown.size(), 3U);
  EXPECT_EQ(changes.more, "and 2 more: Augment on the GPU, --decoder turbo");
  EXPECT_EQ(OtherChangesOf(report, Language::kChinese).more,
            "另有 2 项：在 GPU 上做数据增强、--decoder turbo");
  EXPECT_TRUE(OtherChangesOf(WithChanges({}), Language::kEnglish).shown.empty());
}

TEST(OtherChangesTest, AHeadingNamesChangesOnlyIfThereAreSome) {
  EXPECT_EQ(HeadingOfGains(WithChanges({"--pack"}), true), Text::kPlanEachAlone);
  EXPECT_EQ(HeadingOfGains(WithChanges({}), true), Text::kIfFree);
  EXPECT_EQ(HeadingOfGains(WithChanges({}), false), Text::kSuggestion);
}

}  // namespace
}  // namespace penstock::gui
