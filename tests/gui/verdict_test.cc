// SPDX-License-Identifier: Apache-2.0
//
// The Chinese and the English verdict must have the same branch, figures and unit.
#include <gtest/gtest.h>

#include <map>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/needs.h"
#include "gui/model/overview.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::gui {
namespace {

using analyzer::Factor;
using analyzer::Report;
using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

Report ReportOfVerdict(const Synthetic& run) {
  return analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
}

std::string ChineseOf(const Report& report) {
  return Render(analyzer::Summarise(report.diagnosis), Language::kChinese);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(VerdictTest, StagesOfARunMadeOutOfSightAreNamedWithoutAGain) {
  Report report = ReportOfVerdict({.costs = Always({.decode = 30, .step = 2})});
  ASSERT_TRUE(report.diagnosis.loader.has_value());
  report.diagnosis.loader->fetched = 0.2;
  report.diagnosis.loader->attribution.bottleneck = Factor::kDecode;
  report.diagnosis.bottleneck = Factor::kDecode;
  const std::string english = English(analyzer::Summarise(report.diagnosis));
  ASSERT_TRUE(Has(english, "takes most of the data threads' time")) << english;
  const std::string chinese = ChineseOf(report);
  EXPECT_TRUE(Has(chinese, "解码占用数据线程的大部分时间")) << chinese;
  EXPECT_FALSE(Has(chinese, "不耗时")) << chinese;
}

// "What holds the run back was not seen" stood above a card "Held back by data".
TEST(VerdictTest, DataHoldsARunBackWhoseBatchesAreMadeOutOfSight) {
  Report report = ReportOfVerdict({.costs = Always({.decode = 30, .step = 2})});
  report.diagnosis.loader->fetched = 0;
  report.diagnosis.loader->attribution.bottleneck = Factor::kNone;
  report.diagnosis.wait_fraction = 0.4;
  const std::string english = English(analyzer::Summarise(report.diagnosis));
  EXPECT_TRUE(
      english.starts_with("Data holds the run back: the loop waits for it 40 % of the time"))
      << english;
  EXPECT_TRUE(Has(ChineseOf(report), "瓶颈是数据：训练循环有 40 %")) << ChineseOf(report);
  report.diagnosis.confidence = 0.01;
  EXPECT_TRUE(English(analyzer::Summarise(report.diagnosis)).starts_with("Data seems to hold the"));
  EXPECT_TRUE(Has(ChineseOf(report), "瓶颈似乎是数据")) << ChineseOf(report);
  report.diagnosis.wait_fraction = 0.1;
  EXPECT_TRUE(English(analyzer::Summarise(report.diagnosis))
                  .starts_with("The loop waits for data 10 % of the time"));
  EXPECT_FALSE(Has(ChineseOf(report), "瓶颈")) << ChineseOf(report);
}

TEST(VerdictTest, AStepThatAFewBatchesShowIsSaidOfThem) {
  Report report = ReportOfVerdict({.costs = Always({.decode = 1, .step = 30})});
  report.diagnosis.loader->fetched = 0.2;
  report.diagnosis.loader->attribution.bottleneck = Factor::kCompute;
  report.diagnosis.ceiling = report.diagnosis.base_rate();
  report.diagnosis.gains = {{Factor::kCompute, 1.5}};
  EXPECT_TRUE(
      English(analyzer::Summarise(report.diagnosis)).starts_with("The training step holds"));
  report.diagnosis.loader->steady.steady = false;
  report.diagnosis.loader->steady.batches = 5;
  EXPECT_TRUE(English(analyzer::Summarise(report.diagnosis))
                  .starts_with("In the batches that counted (5), the training step holds"));
  EXPECT_TRUE(Has(ChineseOf(report), "在计入的 5 个批次中")) << ChineseOf(report);
}

TEST(VerdictTest, WithoutAPredictionTheSuggestionLeadsToTheFindings) {
  Report report = ReportOfVerdict({.costs = Always({.decode = 30, .step = 2})});
  report.diagnosis.loader->suggestion.missing =
      analyzer::Say<analyzer::words::kNeedsSight>(analyzer::Give<"none">(true));
  report.findings.clear();
  EXPECT_FALSE(Has(English(analyzer::Keep(report)), "findings"));
  analyzer::Finding finding;
  finding.severity = analyzer::Severity::kWarning;
  finding.action = analyzer::Say<analyzer::words::kNeedsSight>(analyzer::Give<"none">(true));
  report.findings.push_back(finding);
  const std::string keep = English(analyzer::Keep(report));
  EXPECT_TRUE(keep.starts_with("none. Not enough: ")) << keep;
  EXPECT_TRUE(Has(keep, "; the findings say what can be done")) << keep;
  EXPECT_TRUE(Has(Render(analyzer::Keep(report), Language::kChinese), "各项发现"));
  EXPECT_TRUE(Has(keep, "which no batch of this recording has")) << keep;
  report.plan.missing = report.diagnosis.loader->suggestion.missing;
  EXPECT_TRUE(English(analyzer::Keep(report)).starts_with("none. The plan says why; the findings"));
}

TEST(VerdictTest, ARecordingThatDoesNotSufficeGivesAHintAndNoFigure) {
  const Report report = ReportOfVerdict({.batches = 6, .costs = Always({.decode = 30, .step = 2})});
  ASSERT_FALSE(report.diagnosis.needs.empty());
  ASSERT_TRUE(Has(English(report.diagnosis.summary), "Not enough"));
  const std::string chinese = ChineseOf(report);
  EXPECT_TRUE(Has(chinese, "数据不足")) << chinese;
  EXPECT_FALSE(Has(chinese, "速度可达")) << chinese;
}

TEST(VerdictTest, AStepBesideManySmallPartsIsWeighedAgainstAllOfThem) {
  Report report = ReportOfVerdict({.costs = Always({.decode = 30, .step = 2})});
  analyzer::Attribution& found = report.diagnosis.loader->attribution;
  found.bottleneck = report.diagnosis.bottleneck = Factor::kCompute;
  const double base = report.diagnosis.base_rate();
  report.diagnosis.gains = {{Factor::kCompute, 1.24}, {Factor::kDecode, 1.1}};
  report.diagnosis.ceiling = 1.63 * base;
  const std::string english = English(analyzer::Summarise(report.diagnosis));
  ASSERT_TRUE(Has(english, "more than any one part of the data path")) << english;
  const std::string chinese = ChineseOf(report);
  EXPECT_TRUE(Has(chinese, "任一环节") && Has(chinese, "1.24") && Has(chinese, "1.63")) << chinese;
  report.diagnosis.ceiling = 1.1 * base;
  EXPECT_TRUE(Has(English(analyzer::Summarise(report.diagnosis)), "not the data"));
  EXPECT_TRUE(Has(ChineseOf(report), "而非数据"));
}

TEST(VerdictTest, TheUnitIsThatOfTheEnglishSentence) {
  const std::map<std::string_view, std::string_view> units = {
      {"samples/s", "样本/秒"}, {"batches/s", "批/秒"}, {"images/s", "图像/秒"}};
  std::vector<Report> reports;
  reports.push_back(ReportOfVerdict({.costs = Always({.decode = 30, .step = 2})}));
  reports.push_back(reports[0]);
  reports[1].diagnosis.run.loaders[0].samples_known = false;
  reports.push_back(reports[0]);
  reports[2].diagnosis.loader.reset();
  reports[2].diagnosis.run.loaders.clear();
  reports[2].diagnosis.samples_known = false;
  for (Report& report : reports) {
    report.diagnosis.summary = analyzer::Summarise(report.diagnosis);
    for (const auto& [english, chinese] : units) {
      EXPECT_EQ(Has(English(report.diagnosis.summary), english), Has(ChineseOf(report), chinese))
          << English(report.diagnosis.summary) << ChineseOf(report);
    }
  }
}

}  // namespace
}  // namespace penstock::gui
