// SPDX-License-Identifier: Apache-2.0
#include "gui/model/overview.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/model/loop_use.h"
#include "analyzer/report/limits.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/format.h"
#include "gui/model/panels/loop_rate.h"
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

// The loop takes a batch of each of two loaders by turns: it waits 5 ms for the first, then 3 ms
// for the second, and then does a step of 2 ms.
TEST(OverviewTest, TheWaitForAnotherLoaderIsItsOwnPart) {
  analyzer::Report report;
  std::vector<analyzer::LoaderRun> loaders(2);
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      analyzer::Batch batch;
      const std::int64_t at = 1'000'000 * (10 * std::int64_t{i} + (k == 0 ? 1 : 6));
      batch.key = {i, static_cast<std::uint16_t>(k + 1)};
      batch.wait_start = at;
      batch.delivered = at + (k == 0 ? 5'000'000 : 3'000'000);
      batch.step_end = batch.delivered + (k == 0 ? 5'000'000 : 2'000'000);
      loaders[k].batches.push_back(batch);
    }
  }
  for (std::size_t k = 0; k < 2; ++k) {
    analyzer::Epoch epoch;
    epoch.generation = static_cast<std::uint16_t>(k + 1);
    epoch.count = 40;
    loaders[k].epochs = {epoch};
  }
  FindLoopUse(loaders);
  report.diagnosis.run.loaders = std::move(loaders);
  const analyzer::LoaderRun& run = report.diagnosis.run.loader();
  analyzer::LoaderDiagnosis loader;
  loader.steady = FindSteadyState(run);
  const double wait = WaitFraction(report.diagnosis.run, run, loader.steady);
  EXPECT_NEAR(wait, 0.8, 0.01);
  report.diagnosis.loader = loader;
  const Ribbon ribbon = BuildRibbon(report);
  ASSERT_EQ(ribbon.loop.size(), 3U);
  EXPECT_EQ(ribbon.loop[1].name, Text::kWaitForOthers);
  EXPECT_EQ(ribbon.loop[1].colour, ribbon.loop[0].colour);
  EXPECT_TRUE(ribbon.loop[1].lighter) << "the legend could not tell it from the wait before get";
  EXPECT_NEAR(ribbon.loop[1].seconds, 3e-3, 1e-4);
  EXPECT_NEAR(MeanStep(report.diagnosis), 2e-3, 1e-4);
  EXPECT_NEAR((ribbon.loop[0].seconds + ribbon.loop[1].seconds) / ribbon.loop_time, wait, 0.01);
  report.diagnosis.bottleneck = analyzer::Factor::kPrefetch;
  const Ribbon marked = BuildRibbon(report);
  EXPECT_TRUE(marked.loop[0].bottleneck);
  EXPECT_FALSE(marked.loop[1].bottleneck) << "deeper queues of this loader do not shorten it";
  report.diagnosis.bottleneck = analyzer::Factor::kStartup;
  for (const RibbonPart& part : BuildRibbon(report).loop) EXPECT_FALSE(part.bottleneck);
  report.duration = 0.402;
  const LoopRate rate = BuildLoopRate(report);
  EXPECT_NEAR(rate.wait.sum() * rate.wait.width, 40 * 8e-3, 1e-3);
}

// The card of the wait counts the time of `get`, and the part "wait" of the ribbon leaves it out:
// two parts of different names make up the wait.
TEST(OverviewTest, WaitAndGetMakeUpTheWaitForData) {
  Synthetic run;
  run.costs = Always({.decode = 30, .get = 3, .step = 10});
  const analyzer::Report report = ReportOf(run);
  const Ribbon ribbon = BuildRibbon(report);
  ASSERT_EQ(ribbon.loop.size(), 3U);
  EXPECT_EQ(ribbon.loop[0].name, Text::kWaitBeforeGet);
  EXPECT_EQ(ribbon.loop[1].name, Text::kHandoverGet);
  EXPECT_NEAR((ribbon.loop[0].seconds + ribbon.loop[1].seconds) / ribbon.loop_time,
              report.diagnosis.wait_fraction, 0.01);
  EXPECT_TRUE(ribbon.steady);
}

TEST(OverviewTest, WhatTheLoopDoesAfterTheStepIsNamed) {
  Synthetic run;
  run.costs = Always({.decode = 4, .step = 30});
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  EXPECT_EQ(BuildRibbon(ReportOf(run)).loop.back().name, Text::kStep);
  for (traces::Span& span : data.spans[0]) {
    if (span.stage == traces::StageId::kStep) span.duration = analyzer::testing::Ms(28);
  }
  const auto report = analyzer::BuildReport(*traces::MakeTrace(std::move(data)), "t.penstock");
  const RibbonPart last = BuildRibbon(report).loop.back();
  EXPECT_EQ(last.name, Text::kStepAndRest);
  EXPECT_NEAR(last.seconds, 30e-3, 1e-4) << "the rest is no wait for data";
}

// The loop gets the second batch of each pair while it waits for the first, and need not wait for
// it any more.
TEST(OverviewTest, AGetDuringTheWaitForAnOlderBatchIsNoWait) {
  analyzer::Report report;
  report.diagnosis.run.loaders.resize(1);
  for (std::uint32_t i = 0; i < 40; ++i) {
    analyzer::Batch batch;
    batch.key = {i, 1};
    const bool first = i % 2 == 0;
    batch.wait_start = 20'000'000 * std::int64_t{i / 2} + (first ? 0 : 15'000'000);
    batch.delivered = batch.wait_start + (first ? 10'000'000 : 10'000);
    batch.step_end = batch.delivered + (first ? 5'000'000 : 4'990'000);
    batch.get.wall = 3e-3;
    report.diagnosis.run.loaders.front().batches.push_back(batch);
  }
  report.diagnosis.loader.emplace();
  const Ribbon ribbon = BuildRibbon(report);
  ASSERT_EQ(ribbon.loop.size(), 3U);
  EXPECT_EQ(ribbon.loop[1].name, Text::kHandoverGet);
  EXPECT_NEAR(ribbon.loop[1].seconds, 3e-3, 1e-6);
  EXPECT_NEAR(ribbon.loop[0].seconds, 5.005e-3 - 3e-3, 1e-6);
}

// A thread of its own puts a batch into the queue, while the worker makes the next one.
TEST(OverviewTest, APutBesideTheNextBatchTakesNoTimeOfTheWorker) {
  Synthetic run;
  run.costs = Always({.decode = 30, .put = 5, .step = 2});
  const Ribbon ribbon = BuildRibbon(ReportOf(run));
  EXPECT_NEAR(ribbon.making_time - ribbon.worker_time, 5e-3, 1e-4);
  EXPECT_NEAR(ribbon.worker_time / ribbon.workers, ribbon.loop_time, 0.02 * ribbon.loop_time);
  // Its tip says so: the blocks add up to more than the time beside them.
  for (const RibbonPart& part : ribbon.making) {
    EXPECT_EQ(part.beside, part.name == Text::kHandoverPut);
  }
}

// Decode takes 10 ms and augment 16 ms, 8 ms of them on a core.
TEST(OverviewTest, ABottleneckThatIsShorterThanAnotherPartSaysWhy) {
  Synthetic run;
  run.costs = Always({.decode = 10, .augment = 8, .step = 1});
  analyzer::Report report = ReportOf(run);
  report.diagnosis.bottleneck = analyzer::Factor::kDecode;
  for (analyzer::Batch& batch : report.diagnosis.run.loaders[0].batches) batch.augment.wall *= 2;
  analyzer::CpuLoad& cpu = report.diagnosis.loader->cpu;
  cpu.known = true;
  cpu.crowded = false;
  cpu.cores = 2;
  cpu.used = 1.97;
  const auto why = [&] {
    for (const RibbonPart& part : BuildRibbon(report).making) {
      if (part.bottleneck) return Render(part.why, Language::kEnglish);
    }
    return std::string("no bottleneck");
  };
  EXPECT_EQ(why().find("the cores are full, and it needs them longer than augment ("), 0U) << why();
  // Neither part of split augmenting is longer than decoding, but both together are.
  analyzer::StageTotals& augment = report.diagnosis.run.stages[traces::StageId::kAugment];
  analyzer::PartTotals& named = augment.children.begin()->second;
  named.wall.value = 2 * augment.wall.value / 5;
  named.cpu.value = 2 * augment.cpu.value / 5;
  ASSERT_EQ(BuildRibbon(report).making[3].name, Text::kOtherCode);
  EXPECT_EQ(why().find("the cores are full, and it needs them longer than augment ("), 0U) << why();
  cpu.used = 1;
  EXPECT_EQ(why(), "") << "cores are free";
}

// The overview of such a run was two thirds blank, although decode and augment were recorded.
TEST(OverviewTest, ALoopThatMakesItsDataItselfHasARibbon) {
  analyzer::Report report;
  analyzer::Feed& feed = report.diagnosis.feed;
  feed.doubt = analyzer::FeedDoubt::kNone;
  feed.rate = 100;
  feed.own = 0.4;
  feed.bottleneck = analyzer::Factor::kCompute;
  feed.gains = {{analyzer::Factor::kCompute, 2.5},
                {analyzer::Factor::kDecode, 1 / (1 - 0.3)},
                {analyzer::Factor::kAugment, 1 / (1 - 0.1)},
                {analyzer::Factor::kRead, 1}};
  const Ribbon ribbon = BuildRibbon(report);
  ASSERT_EQ(ribbon.making.size(), 2U);
  EXPECT_EQ(ribbon.making[0].name, Text::kDecode);
  EXPECT_NEAR(ribbon.making[0].seconds, 3e-3, 1e-9);
  EXPECT_NEAR(ribbon.making[1].seconds, 1e-3, 1e-9);
  ASSERT_EQ(ribbon.loop.size(), 2U);
  EXPECT_NEAR(ribbon.loop[0].seconds, 4e-3, 1e-9);
  EXPECT_NEAR(ribbon.loop[1].seconds, 6e-3, 1e-9);
  EXPECT_TRUE(ribbon.loop[1].bottleneck);
  EXPECT_EQ(ribbon.title, Text::kRibbonOfImage);
  feed.makers = 2;
  EXPECT_TRUE(BuildRibbon(report).empty()) << "other threads make its data";
}

TEST(OverviewTest, PausesAreNoPartOfTheMeanStep) {
  Synthetic run;
  run.batches = 200;
  run.costs = [](int, int index) {
    analyzer::testing::Costs costs{.decode = 4, .step = 10};
    if (index == 80 || index == 140) costs.step = 5000;  // a checkpoint
    return costs;
  };
  const analyzer::Report report = ReportOf(run);
  EXPECT_NEAR(MeanStep(report.diagnosis), 10e-3, 1e-3);
}

// The host's time in the call, which a GPU's own copies outlast or fall short of.
TEST(OverviewTest, TheHostsTimeInACopyIsNamedAsACall) {
  Synthetic run;
  run.costs = Always({.decode = 4, .step = 10, .h2d = 2});
  const Ribbon ribbon = BuildRibbon(ReportOf(run));
  EXPECT_TRUE(std::any_of(ribbon.loop.begin(), ribbon.loop.end(),
                          [](const RibbonPart& part) { return part.name == Text::kCopyCall; }));
}

// Decode was marked as the bottleneck beside a longer augment, which mostly waited for a core.
TEST(OverviewTest, TheTimeOnACoreIsToldWhereItDiffersFromTheTime) {
  Synthetic run;
  run.costs = Always({.decode = 8, .augment = 8, .step = 3});
  for (const RibbonPart& part : BuildRibbon(ReportOf(run)).making) {
    EXPECT_LT(part.computing, 0) << "all of it computes";
  }
  run.cpu_share = 0.5;
  for (const RibbonPart& part : BuildRibbon(ReportOf(run)).making) {
    if (part.name == Text::kDecode || part.name == Text::kAugment) {
      EXPECT_NEAR(part.computing, part.seconds / 2, part.seconds / 10);
    }
    EXPECT_TRUE(part.name != Text::kRead || part.computing < 0);
  }
}

// Of 873 ms of "augment" less than half was in transforms; the rest had no name.
TEST(OverviewTest, AugmentingThatIsMostlyOtherCodeIsSplit) {
  Synthetic run;
  run.cpu_share = 0.5;
  run.costs = Always({.decode = 4, .augment = 8, .step = 3});
  analyzer::Report report = ReportOf(run);
  const auto parts = [&report] {
    std::vector<std::pair<Text, double>> found;
    for (const RibbonPart& part : BuildRibbon(report).making) {
      if (part.colour == traces::StageId::kAugment) found.emplace_back(part.name, part.seconds);
    }
    return found;
  };
  ASSERT_EQ(parts().size(), 1U);
  EXPECT_EQ(parts()[0].first, Text::kAugment);
  const double whole = parts()[0].second;
  analyzer::StageTotals& augment = report.diagnosis.run.stages[traces::StageId::kAugment];
  ASSERT_EQ(augment.children.size(), 1U);
  analyzer::PartTotals& named = augment.children.begin()->second;
  named.wall.value = augment.wall.value / 4;
  named.cpu.value = augment.cpu.value / 2;
  ASSERT_EQ(parts().size(), 2U);
  EXPECT_EQ(parts()[0].first, Text::kTransforms);
  EXPECT_NEAR(parts()[0].second, whole / 4, 1e-6);
  EXPECT_EQ(parts()[1].first, Text::kOtherCode);
  EXPECT_NEAR(parts()[1].second, 3 * whole / 4, 1e-6);
}

// The first batches are slow, and the epoch was not seen to end: the figures are of the steady
// part.
TEST(OverviewTest, TheLoopsTimeIsTheAnalyzersTimeOfABatch) {
  Synthetic run;
  run.costs = [](int, int index) {
    return analyzer::testing::Costs{.decode = index < 4 ? 400.0 : 20.0};
  };
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  std::erase_if(data.events,
                [](const auto& event) { return event.type == traces::EventType::kEpochEnd; });
  const analyzer::Report report = analyzer::BuildReport(*traces::MakeTrace(std::move(data)), "t");
  ASSERT_FALSE(report.diagnosis.whole_run);
  EXPECT_LT(report.diagnosis.whole_rate, 0.9 * report.diagnosis.samples_rate);
  EXPECT_NEAR(BuildRibbon(report).loop_time * report.diagnosis.batch_rate, 1, 0.01);
}

TEST(OverviewTest, NoTwoPartsOfABatchsWayHaveOneName) {
  Synthetic run;
  run.costs = Always({.read = 1, .decode = 4, .augment = 2, .collate = 0.5, .step = 3});
  const Ribbon ribbon = BuildRibbon(ReportOf(run));
  std::vector<Text> names;
  for (const auto* parts : {&ribbon.making, &ribbon.loop}) {
    for (const RibbonPart& part : *parts) names.push_back(part.name);
  }
  const std::size_t all = names.size();
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(names.size(), all);
  EXPECT_NE(std::find(names.begin(), names.end(), Text::kHandoverPut), names.end());
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

// It once said that there was nothing to complain about, of a run of which little was checked.
TEST(OverviewTest, WithoutFindingsTheListSaysWhatWasCheckedAndWhatNot) {
  const Synthetic run{.batches = 6, .costs = Always({.decode = 30})};
  const analyzer::Report report = ReportOf(run);
  ASSERT_TRUE(report.findings.empty());
  ASSERT_FALSE(report.not_checked.empty());
  const analyzer::Report nothing = analyzer::BuildReport(*traces::MakeTrace({}), "t.penstock");
  ASSERT_TRUE(nothing.stages.empty());
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const auto lines = InsteadOfFindings(report, language);
    ASSERT_EQ(lines.size(), 1 + report.not_checked.size());
    EXPECT_EQ(lines[0], TextOf(Text::kNoFindings, language));
    for (std::size_t i = 0; i < report.not_checked.size(); ++i) {
      const std::string why = Render(analyzer::Unchecked(report.not_checked[i]), language);
      EXPECT_NE(lines[i + 1].find(why), std::string::npos) << lines[i + 1];
    }
    EXPECT_EQ(InsteadOfFindings(nothing, language).at(0), TextOf(Text::kNothingChecked, language));
    const std::string unchecked = InsteadOfFindings(nothing, language).at(1);
    const std::string colon(analyzer::Colon(language));
    EXPECT_EQ(unchecked.find(colon), unchecked.rfind(colon)) << unchecked;
  }
  EXPECT_NE(TextOf(Text::kNoFindings, Language::kEnglish).find("this recording allows"),
            std::string_view::npos);
  analyzer::Report found = report;
  found.findings.emplace_back();
  EXPECT_TRUE(InsteadOfFindings(found, Language::kEnglish).empty());
}

// 36.5 ms a batch are 438 samples/s, where the card beside it said 419 with the starts of epochs.
// The loop leaves each epoch without asking for another batch. Then 1 s passes, which once made 20
// ms of a step of 10 ms, and "step, with the rest of the loop" of a step.
TEST(OverviewTest, TheGapAfterAnEpochIsNoPartOfTheMeanOfAllBatches) {
  Synthetic run;
  run.batches = 50;
  run.epochs = 2;
  run.costs = [](int, int index) {
    return analyzer::testing::Costs{.decode = 4, .step = index == 49 ? 1010.0 : 10.0};
  };
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  std::erase_if(data.spans[0], [](const traces::Span& span) {
    const bool last = span.stage == traces::StageId::kStep && span.batch.index == 49;
    return last || (span.stage == traces::StageId::kWait && !span.batch.valid());
  });
  analyzer::Report report = analyzer::BuildReport(*traces::MakeTrace(std::move(data)), "t");
  report.diagnosis.whole_run = true;
  const Ribbon ribbon = BuildRibbon(report);
  ASSERT_FALSE(ribbon.window);
  EXPECT_NEAR(ribbon.loop.back().seconds, 10e-3, 1e-4);
  EXPECT_EQ(ribbon.loop.back().name, Text::kStep);
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
  EXPECT_EQ(VerdictText(report, Language::kEnglish), English(report.diagnosis.summary));
  const std::string chinese = VerdictText(report, Language::kChinese);
  EXPECT_NE(chinese.find("解码"), std::string::npos) << chinese;
}

TEST(OverviewTest, FindingsHaveATitleAndAdviceInBothLanguages) {
  Synthetic run;
  run.costs = Always({.decode = 30, .step = 2});
  const analyzer::Report report = ReportOf(run);
  ASSERT_FALSE(report.findings.empty());
  for (const analyzer::Finding& finding : report.findings) {
    EXPECT_EQ(TextOf(finding, Language::kEnglish).title, Typeset(English(finding.seen)));
    const FindingText chinese = TextOf(finding, Language::kChinese);
    EXPECT_NE(chinese.title, English(finding.seen)) << finding.id << " has no Chinese title";
    EXPECT_NE(chinese.detail, English(finding.seen))
        << finding.id << ": what was seen is not in Chinese";
    EXPECT_EQ(chinese.detail.find('{'), std::string::npos) << chinese.detail;
    EXPECT_NE(TitleOfRule(finding.id, Language::kChinese), finding.id);
  }
}

TEST(OverviewTest, AFindingSaysItsFiguresInChineseToo) {
  const auto with = [](std::optional<double> floating) {
    analyzer::Finding finding;
    finding.id = "normalize-on-cpu";
    finding.seen = analyzer::Say<analyzer::words::kNormalizeOnCpu>(
        analyzer::Give<"share_of_fetch">(0.12),
        analyzer::Give<"floating_share_of_batch">(floating));
    return TextOf(finding, Language::kChinese).detail;
  };
  EXPECT_NE(with(std::nullopt).find("12 %"), std::string::npos) << with(std::nullopt);
  EXPECT_EQ(with(std::nullopt).find("批次字节"), std::string::npos);
  EXPECT_NE(with(0.95).find("95 %"), std::string::npos) << with(0.95);
}

TEST(OverviewTest, NoBlankStandsBetweenChineseSentences) {
  Synthetic run;
  run.costs = Always({.decode = 30, .step = 2});
  const analyzer::Report report = ReportOf(run);
  int predicted = 0;
  for (const analyzer::Finding& finding : report.findings) {
    const std::string chinese = AdviceText(report, finding, Language::kChinese);
    EXPECT_EQ(chinese.find("。 "), std::string::npos) << chinese;
    if (!finding.predicted) continue;
    ++predicted;
    EXPECT_NE(chinese.find("。单独改动的预测："), std::string::npos) << chinese;
    const std::string english = AdviceText(report, finding, Language::kEnglish);
    EXPECT_NE(english.find(". Predicted by itself: "), std::string::npos) << english;
  }
  EXPECT_GT(predicted, 0);
}

TEST(OverviewTest, SentencesOfTheAnalyzerAreSet) {
  EXPECT_EQ(Typeset("the loop waits (1 -> 2)"), "The loop waits (1 → 2)");
  EXPECT_EQ(Typeset("num_workers is 0"), "num_workers is 0");
  EXPECT_EQ(Typeset("6.2 MB are decoded"), "6.2 MB are decoded");
  EXPECT_EQ(Typeset(""), "");
}

TEST(OverviewTest, WhatWasNotCheckedIsSaidInWordsOfBothLanguages) {
  Synthetic run;
  run.costs = Always({.decode = 30, .step = 2});
  const analyzer::Report report = ReportOf(run);
  ASSERT_FALSE(report.not_checked.empty());
  for (const analyzer::NotChecked& missing : report.not_checked) {
    const std::string chinese = Render(analyzer::Unchecked(missing), Language::kChinese);
    EXPECT_EQ(chinese.find(English(missing.needs)), std::string::npos) << chinese;
    const std::string english = English(analyzer::Unchecked(missing));
    for (const std::string_view id : missing.ids) {
      EXPECT_EQ(chinese.find(id), std::string::npos) << chinese;
      // "stragglers" and the like are words.
      if (id.find('-') != std::string_view::npos) {
        EXPECT_EQ(english.find(id), std::string::npos) << english;
      }
    }
  }
}

TEST(OverviewTest, LimitsOfARecordingHaveTheSameFiguresInBothLanguages) {
  traces::Losses losses;
  EXPECT_TRUE(analyzer::Lost(losses, {}).empty());
  losses.dropped_events = 31;
  losses.lost_threads = 47;
  losses.truncated = true;
  analyzer::Coverage coverage;
  coverage.known = true;
  coverage.bytes_seen = 3'000'000;
  coverage.bytes_total = 4'000'000;
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const std::string lost = Render(analyzer::Lost(losses, {}), language);
    EXPECT_NE(lost.find("31"), std::string::npos) << lost;
    EXPECT_NE(lost.find("47"), std::string::npos) << lost;
    const std::string blind = Render(analyzer::PartlyBlind(coverage), language);
    EXPECT_NE(blind.find("75"), std::string::npos) << blind;
    const std::string seen = Render(analyzer::Seen(coverage), language);
    EXPECT_NE(seen.find("4.00 MB"), std::string::npos) << seen;
  }
}

TEST(OverviewTest, LossesAreSaid) {
  analyzer::Report report;
  EXPECT_TRUE(Warnings(report, Language::kEnglish).empty());
  report.losses.dropped_events = 3;
  ASSERT_EQ(Warnings(report, Language::kEnglish).size(), 1U);
  const std::string said = Warnings(report, Language::kEnglish)[0];
  EXPECT_NE(said.find('3'), std::string::npos);
  EXPECT_TRUE(said.ends_with(" All figures are of the recorded part.")) << said;
}

// "If one part cost nothing: prefetch 1.02x" named a setting among the parts.
TEST(OverviewTest, AListOfFreePartsNamesUnevenBatchesNotASetting) {
  EXPECT_EQ(NameOfFree(analyzer::Factor::kPrefetch), Text::kUnevenBatches);
  EXPECT_EQ(NameOfFree(analyzer::Factor::kDecode), Text::kDecode);
}

TEST(OverviewTest, NothingIsSaidToBeLostOnlyWhereSomethingWasSeen) {
  const auto said = [](const analyzer::Report& report) {
    return CoverageText(report, Language::kEnglish).find("Nothing lost") != std::string::npos;
  };
  analyzer::Report report;
  EXPECT_FALSE(said(report));
  report.stages.emplace_back();
  EXPECT_TRUE(said(report));
  report.losses.dropped_events = 3;
  EXPECT_FALSE(said(report));
}

}  // namespace
}  // namespace penstock::gui
