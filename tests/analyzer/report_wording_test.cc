// SPDX-License-Identifier: Apache-2.0
//
// What a report says in a few words must be true, be said once, and be plain without the rest of
// the page.
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analyzer/report/phrases.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/plan.h"
#include "analyzer/words/report.h"
#include "tests/analyzer/synthetic.h"
#include "traces/trace_builder.h"

namespace penstock::analyzer {
namespace {

using testing::Synthetic;

Report Reported(const Synthetic& run) {
  return BuildReport(*testing::SyntheticTrace(run), "t.penstock");
}

std::size_t Count(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(ReportWordingTest, AlmostAllIsNotWrittenAsAll) {
  EXPECT_EQ(PercentText(0.9996), "99.96 %");
  EXPECT_EQ(PercentText(0.9994), "99.9 %");
  EXPECT_EQ(PercentText(0.99997), "100 %");
}

TEST(ReportWordingTest, TwoLoadersAreBoth) {
  const auto waited = [](std::size_t loaders) {
    return English(Say<words::kLoopWaited>(
        Give<"wait">(0.84), Give<"whole">(false), Give<"steady">(true), GiveIf<"all">(true, 0.43),
        GiveIf<"loaders">(loaders > 1, loaders), Give<"both">(loaders == 2)));
  };
  EXPECT_EQ(Count(waited(1), "loaders"), 0u) << waited(1);
  EXPECT_EQ(Count(waited(2), "with both loaders"), 1u) << waited(2);
  EXPECT_EQ(Count(waited(3), "with all 3 loaders"), 1u) << waited(3);
}

TEST(ReportWordingTest, WorkersThatWereNotSeenAreNeitherBusyNorIdle) {
  Report report = Reported({});
  EXPECT_EQ(Count(English(LoaderOf(report.diagnosis)), "workers busy"), 1u);
  EXPECT_EQ(Count(English(LoaderOf(report.diagnosis)), " % in the steady part, idle "), 1u);
  report.diagnosis.whole_run = true;
  EXPECT_EQ(Count(English(LoaderOf(report.diagnosis)), "steady part"), 0u);
  EXPECT_EQ(
      Count(English(LoaderOf(report.diagnosis)), " % from the first batch of each to its last"),
      1u);
  report.diagnosis.loader->signals.worker_busy = report.diagnosis.loader->signals.worker_idle = 0;
  EXPECT_EQ(Count(English(LoaderOf(report.diagnosis)), "busy"), 0u);
}

// PyTorch pins nothing on a machine without an accelerator, whatever the program asks for.
TEST(ReportWordingTest, BatchesThatWereNotPinnedAreNotCalledPinned) {
  traces::TraceData data = testing::MakeSynthetic({});
  data.processes[0].facts["loader.0.pin_memory"] = "true";
  const auto line = [&] {
    return English(LoaderOf(BuildReport(*traces::MakeTrace(data), "t.penstock").diagnosis));
  };
  EXPECT_EQ(Count(line(), ", pinned"), 1u);
  data.processes[0].facts["loader.0.pin_memory_effective"] = "false";
  EXPECT_EQ(Count(line(), ", pinned"), 0u);
}

TEST(ReportWordingTest, OneChangeIsNotAllOfThePlan) {
  const auto ends = [](bool one, bool left) {
    return English(Say<words::kPlanEnds>(Give<"gain">(2.9), GiveIf<"left">(left, 6.5),
                                         Give<"one">(one), Give<"least">(false),
                                         Give<"open">(std::optional<Statement>{})));
  };
  EXPECT_EQ(ends(true, true).rfind("With this change the run", 0), 0u) << ends(true, true);
  EXPECT_EQ(ends(false, true).rfind("With the whole plan the run", 0), 0u) << ends(false, true);
  // It was "With this step ..., and the step is the limit": a line of the plan, and the training.
  EXPECT_NE(ends(true, false).find("as fast; then the training step is the limit"),
            std::string::npos)
      << ends(true, false);
}

TEST(ReportWordingTest, TheReasonForNoPlanIsSaidOnce) {
  Report report = Reported({});
  report.plan.steps.clear();
  report.plan.missing = Say<words::kNeedsBatches>(Give<"batches">(std::size_t{7}));
  Suggestion& suggestion = report.diagnosis.loader->suggestion;
  suggestion.changes = false;
  suggestion.missing = report.plan.missing;
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_EQ(Count(text, "Not enough: needs 16"), 1u) << text;
}

TEST(ReportWordingTest, ALowerBoundIsSaidToBeOne) {
  Diagnosis diagnosis = Reported({}).diagnosis;
  ASSERT_FALSE(diagnosis.loader->cpu.from_counters);  // the step's CPU time was not recorded
  EXPECT_EQ(Count(English(LoaderOf(diagnosis)), "; CPU at least "), 1U);
  diagnosis.loader->cpu.from_counters = true;
  EXPECT_EQ(Count(English(LoaderOf(diagnosis)), "at least"), 0U);
  const auto ends =
      Say<words::kPlanEnds>(Give<"gain">(2.9), GiveIf<"left">(true, 6.5), Give<"one">(false),
                            Give<"least">(true), Give<"open">(std::optional<Statement>{}));
  EXPECT_EQ(Count(English(ends), "make that at least 6.50 times as fast"), 1U) << English(ends);
}

TEST(ReportWordingTest, AnUpperBoundOfAGainHasNoInterval) {
  const Diagnosis diagnosis = Reported({}).diagnosis;
  Prediction predicted;
  predicted.rate = {1300, 1200, 1400};
  predicted.steady = predicted.speedup = 1.3;
  predicted.at_most = true;
  const std::string said = English(PredictionOf(predicted, diagnosis));
  EXPECT_EQ(said.rfind("at most ", 0), 0U) << said;
  EXPECT_EQ(said.find(".."), std::string::npos) << said;
}

TEST(ReportWordingTest, NoTwoEmptyLinesFollowEachOther) {
  EXPECT_EQ(Count(ReportText(Reported({}), Colour::kOff), "\n\n\n"), 0u);
  EXPECT_EQ(Count(ReportText(BuildReport(*traces::MakeTrace({}), "t"), Colour::kOff), "\n\n\n"),
            0u);
}

}  // namespace
}  // namespace penstock::analyzer
