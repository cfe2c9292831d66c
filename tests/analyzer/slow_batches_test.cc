// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/slow_batches.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/report.h"
#include "analyzer/report/slow_batches_report.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

constexpr int kBatches = 200;

// A batch takes 7.5 ms. `slow` tells which batches decode for 20 ms more.
Report WithSlow(const std::function<bool(int index)>& slow, double cpu_share = 1,
                int batches = kBatches) {
  Synthetic run;
  run.batches = batches;
  run.cpu_share = cpu_share;
  run.costs = [&](int, int index) {
    Costs costs;
    if (slow(index)) costs.decode += 20;
    return costs;
  };
  return BuildReport(*testing::SyntheticTrace(run), "t.penstock");
}

bool Says(const Report& report, const std::string& part) {
  return SlowBatchesSentence(report, Language::kEnglish).find(part) != std::string::npos;
}

TEST(SlowBatchesTest, NamesTheStageThatTakesLonger) {
  const Report report = WithSlow([](int index) { return index % 21 == 20; });
  ASSERT_TRUE(report.slow_batches);
  const SlowBatches& found = *report.slow_batches;
  EXPECT_EQ(found.stage, traces::StageId::kDecode);
  EXPECT_NEAR(found.share, 1, 0.02);
  EXPECT_EQ(found.slow, 9u);
  EXPECT_GT(found.times, 3);
  EXPECT_TRUE(found.cpu_known);
  EXPECT_FALSE(found.waits);
  EXPECT_TRUE(found.spread);
  EXPECT_TRUE(found.several_workers);
  for (const char* part : {"The slowest 9 of", "in decode; it is mostly computing",
                           "several workers have them", "spread over the run."}) {
    EXPECT_TRUE(Says(report, part)) << SlowBatchesSentence(report, Language::kEnglish);
  }
  EXPECT_NE(SlowBatchesSentence(report, Language::kChinese).find("在解码；其中大部分是计算"),
            std::string::npos);
}

// The two workers take turns: worker 0 makes the batches with even numbers.
TEST(SlowBatchesTest, NamesTheWorkerAndTheTime) {
  const Report report =
      WithSlow([](int index) { return index % 2 == 0 && index / 20 == 5; }, 1, 400);
  ASSERT_TRUE(report.slow_batches);
  EXPECT_EQ(report.slow_batches->worker.value_or(-1), 0);
  ASSERT_TRUE(report.slow_batches->between);
  EXPECT_FALSE(report.slow_batches->spread);
  EXPECT_TRUE(Says(report, "of worker 0; all between "));
}

// Workers that do not persist are new processes with the same numbers in each epoch.
TEST(SlowBatchesTest, WorkersOfSeveralEpochsAreThoseOfTheirNumbers) {
  const auto report = [](int workers) {
    Synthetic run;
    run.workers = workers;
    run.epochs = 4;
    run.batches = 80;
    run.costs = [workers](int, int index) {
      Costs costs;
      if (index % (10 * workers) == 9 * workers) costs.decode += 20;  // always of worker 0
      return costs;
    };
    return BuildReport(*testing::SyntheticTrace(run), "t.penstock");
  };
  const Report one = report(1);
  ASSERT_TRUE(one.slow_batches);
  EXPECT_FALSE(one.slow_batches->several_workers);
  EXPECT_FALSE(one.slow_batches->worker) << "there is no other to compare it with";
  const Report two = report(2);
  ASSERT_TRUE(two.slow_batches);
  EXPECT_FALSE(two.slow_batches->several_workers);
  EXPECT_EQ(two.slow_batches->worker, 0);
}

TEST(SlowBatchesTest, TimeWithoutComputingIsWaiting) {
  Report report = WithSlow([](int index) { return index % 21 == 20; }, 0.3);
  ASSERT_TRUE(report.slow_batches);
  EXPECT_TRUE(report.slow_batches->waits);
  report.diagnosis.loader->cpu.crowded = false;
  EXPECT_TRUE(Says(report, "it is mostly waiting, for a core, a lock or storage"));
}

TEST(SlowBatchesTest, WhereNoBatchIsSlowThatIsSaid) {
  const Report even = WithSlow([](int) { return false; });
  EXPECT_FALSE(even.slow_batches);
  EXPECT_TRUE(Says(even, "No batch is much slower than the others: the slowest of"));
  EXPECT_TRUE(Says(even, "took 7.50 ms to make, the median 7.50 ms."))
      << SlowBatchesSentence(even, Language::kEnglish);
  simdjson::dom::parser parser;
  const simdjson::padded_string json(ReportJson(even));
  EXPECT_EQ(parser.parse(json)["slow_batches"]["slow"].get_uint64().value(), 0u);
  // One of 400 is slow, which is less than one in twenty.
  EXPECT_TRUE(Says(WithSlow([](int index) { return index == 20; }, 1, 400),
                   "Only few batches are much slower than the others"));
}

TEST(SlowBatchesTest, FewBatchesAreNotCompared) {
  const Report few = WithSlow([](int index) { return index == 20; }, 1, 30);
  EXPECT_FALSE(few.slow_batches);
  EXPECT_TRUE(Says(few, "it takes 32 steady batches, there are "));
}

TEST(SlowBatchesTest, OfSeveralRanksTheOneIsNamed) {
  Report report = WithSlow([](int index) { return index % 21 == 20; });
  report.diagnosis.ranks.rows.resize(2);
  RankPlace place;
  place.consumer = report.diagnosis.run.loader().config.consumer;
  place.rank = 1;
  report.diagnosis.run.ranks.places = {place};
  EXPECT_TRUE(Says(report, "batches of rank 1 took"))
      << SlowBatchesSentence(report, Language::kEnglish);
}

// "The slowest 4 of 107 batches" stood under "All loaders together", whose table counted 368.
TEST(SlowBatchesTest, OfSeveralLoadersTheOneIsNamed) {
  Report report = WithSlow([](int index) { return index % 21 == 20; });
  RunModel& run = report.diagnosis.run;
  run.loaders.front().name = "train.py:10";
  EXPECT_TRUE(Says(report, "steady batches took"));
  run.loaders.push_back(run.loaders.front());
  EXPECT_TRUE(Says(report, "steady batches took")) << "of another rank";
  run.loaders.back().name = "train.py:20";
  EXPECT_TRUE(Says(report, "steady batches of train.py:10 took"))
      << SlowBatchesSentence(report, Language::kEnglish);
  EXPECT_NE(SlowBatchesSentence(report, Language::kChinese).find("加载器 train.py:10 的"),
            std::string::npos);
}

TEST(SlowBatchesTest, TheReportHasThemInJsonAndWithAllDetails) {
  const Report report = WithSlow([](int index) { return index % 21 == 20; });
  simdjson::dom::parser parser;
  const simdjson::padded_string json(ReportJson(report));
  const auto root = parser.parse(json);
  EXPECT_EQ(root["slow_batches"]["stage"].get_string().value(), "decode");
  EXPECT_EQ(root["slow_batches"]["slow"].get_uint64().value(), 9u);
  const auto trace = testing::SyntheticTrace({});
  EXPECT_NE(ReportHtml(report, BuildPlots(*trace, report), Language::kChinese)
                .find("个稳定批次中最慢的 9 个"),
            std::string::npos);
  EXPECT_EQ(ReportText(report, Colour::kOff).find("the slowest 9 of"), std::string::npos);
  EXPECT_NE(ReportText(report, Colour::kOff, Detail::kAll).find("  slow batches the slowest 9 of"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::analyzer
