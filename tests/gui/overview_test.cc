// SPDX-License-Identifier: Apache-2.0
#include "gui/model/overview.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

analyzer::Report ReportOf(const Synthetic& run) {
  return analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
}

TEST(OverviewTest, RibbonHoldsTheMeanOfEachPart) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 4, .augment = 2, .collate = 0.5, .step = 3});
  const Ribbon ribbon = BuildRibbon(ReportOf(run));
  const auto seconds = [&](Text name) {
    for (const RibbonPart& part : ribbon.making) {
      if (part.name == name) return part.seconds;
    }
    for (const RibbonPart& part : ribbon.loop) {
      if (part.name == name) return part.seconds;
    }
    return -1.0;
  };
  EXPECT_NEAR(seconds(Text::kDecode), 4e-3, 4e-4);
  EXPECT_NEAR(seconds(Text::kAugment), 2e-3, 2e-4);
  EXPECT_NEAR(seconds(Text::kStep), 3e-3, 3e-4);
  EXPECT_EQ(ribbon.workers, 2);
}

TEST(OverviewTest, OnlyTheBottleneckIsMarked) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 20, .augment = 2, .step = 1});
  const analyzer::Report report = ReportOf(run);
  ASSERT_EQ(report.diagnosis.bottleneck, analyzer::Factor::kDecode);
  const Ribbon ribbon = BuildRibbon(report);
  for (const RibbonPart& part : ribbon.making) {
    EXPECT_EQ(part.bottleneck, part.name == Text::kDecode);
  }
  EXPECT_TRUE(std::none_of(ribbon.loop.begin(), ribbon.loop.end(),
                           [](const RibbonPart& part) { return part.bottleneck; }));
}

TEST(OverviewTest, WaitingDecidesHowInputBoundARunIs) {
  Synthetic starved;
  starved.costs = Always({.decode = 30, .step = 2});
  EXPECT_EQ(Judge(ReportOf(starved)), InputBound::kHighly);
  Synthetic fed;
  fed.costs = Always({.read = 0.2, .decode = 1, .augment = 0.2, .collate = 0.1, .step = 30});
  EXPECT_EQ(Judge(ReportOf(fed)), InputBound::kNot);
  EXPECT_EQ(Judge(analyzer::Report{}), InputBound::kUnknown);
}

TEST(OverviewTest, ChineseVerdictNamesTheSameBottleneck) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 20, .augment = 2, .step = 1});
  const analyzer::Report report = ReportOf(run);
  EXPECT_EQ(VerdictText(report, Language::kEnglish), report.diagnosis.summary);
  const std::string chinese = VerdictText(report, Language::kChinese);
  EXPECT_NE(chinese.find("解码"), std::string::npos) << chinese;
  EXPECT_FALSE(VerdictText(analyzer::Report{}, Language::kChinese).empty());
}

TEST(OverviewTest, FindingsHaveATitleAndAdviceInBothLanguages) {
  Synthetic run;
  run.costs = Always({.decode = 30, .step = 2});
  const analyzer::Report report = ReportOf(run);
  ASSERT_FALSE(report.findings.empty());
  for (const analyzer::Finding& finding : report.findings) {
    EXPECT_EQ(TextOf(finding, Language::kEnglish).title, finding.title);
    const FindingText chinese = TextOf(finding, Language::kChinese);
    EXPECT_NE(chinese.title, finding.title) << finding.id << " has no Chinese title";
    EXPECT_EQ(chinese.detail, finding.title);
  }
}

TEST(OverviewTest, LossesAreSaid) {
  analyzer::Report report;
  EXPECT_TRUE(Warnings(report, Language::kEnglish).empty());
  report.losses.dropped_events = 3;
  ASSERT_EQ(Warnings(report, Language::kEnglish).size(), 1U);
  EXPECT_NE(Warnings(report, Language::kEnglish)[0].find('3'), std::string::npos);
}

}  // namespace
}  // namespace penstock::gui
