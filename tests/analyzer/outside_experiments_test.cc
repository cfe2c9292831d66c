// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/outside_experiments.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/report/report.h"
#include "analyzer/report/slow_batches_report.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

// A run whose batches are delivered at 1, 2, ... 9; experiments last from 3 to 6.
LoaderRun ProbedRun() {
  LoaderRun run;
  run.batches.resize(9);
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    run.batches[i].delivered = static_cast<std::int64_t>(i) + 1;
  }
  run.probes = {{wire::kProbePlain, 1, 3, 4}, {wire::kProbeDecode, 2, 4, 6}};
  return run;
}

std::string Said(const LoaderRun& run, std::size_t from, std::size_t to,
                 Language language = Language::kEnglish) {
  SteadyState steady;
  steady.in_window.assign(run.batches.size(), false);
  for (std::size_t i = from; i < to; ++i) steady.in_window[i] = i < 3 || i >= 6;
  const auto said = OutsideExperiments(run, steady);
  return said ? Render(*said, language) : "";
}

// "46 of 600 batches outside the experiments" were those before the first window: the plain windows
// between two experiments belong to the experiments.
TEST(OutsideExperimentsTest, SaysOnWhichSideTheBatchesLieThatCount) {
  LoaderRun run = ProbedRun();
  EXPECT_EQ(Said(run, 0, 5), "before the experiments");
  EXPECT_EQ(Said(run, 5, 9), "after the experiments");
  EXPECT_EQ(Said(run, 0, 9), "before and after the experiments");
  EXPECT_EQ(Said(run, 0, 5, Language::kChinese), "实验之前");
  EXPECT_EQ(Said(run, 3, 6), "") << "no batch counts";
  run.probes.clear();
  EXPECT_EQ(Said(run, 0, 9), "") << "there were none";
}

TEST(OutsideExperimentsTest, HeadlineRateAndSlowBatchesSaySo) {
  testing::Synthetic made;
  made.costs = testing::Always({.decode = 30, .step = 5});
  Report report = BuildReport(*testing::SyntheticTrace(made), "t");
  LoaderRun& run = report.diagnosis.run.loaders.front();
  const std::int64_t end = run.batches.back().delivered;
  run.probes = {{wire::kProbePlain, 1, end, end + 1}};
  const SteadyState& steady = report.diagnosis.loader->steady;
  ASSERT_TRUE(OutsideExperiments(run, steady));
  const std::string headline = English(Summarise(report.diagnosis));
  EXPECT_NE(headline.find("samples/s before the experiments"), std::string::npos) << headline;
  const std::string rate = English(ThroughputOf(report.diagnosis));
  EXPECT_NE(rate.find(" before the experiments, of "), std::string::npos) << rate;
  const std::string slow = SlowBatchesSentence(report, Language::kEnglish);
  EXPECT_NE(slow.find(" before the experiments"), std::string::npos) << slow;
}

}  // namespace
}  // namespace penstock::analyzer
