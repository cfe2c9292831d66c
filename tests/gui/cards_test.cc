// SPDX-License-Identifier: Apache-2.0
#include "gui/model/cards.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/needs.h"
#include "gui/model/forecast.h"
#include "gui/model/staircase.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using analyzer::testing::Always;
using analyzer::testing::Synthetic;
using analyzer::testing::SyntheticTrace;

analyzer::Report ReportOfRun(const Synthetic& run) {
  return analyzer::BuildReport(*SyntheticTrace(run), "t.penstock");
}

Card CardOf(const analyzer::Report& report, Text title) {
  const std::string name(TextOf(title, Language::kEnglish));
  for (const Card& card : CardsOf(report, Language::kEnglish)) {
    if (card.title.rfind(name, 0) == 0) return card;
  }
  ADD_FAILURE() << "no card " << name;
  return {};
}

Synthetic Fed() {
  return {.costs = Always({.read = 0.2, .decode = 1, .augment = 0.2, .step = 30})};
}

TEST(CardsTest, AFewBatchesHaveNoJudgementAndNoInterval) {
  Synthetic run = Fed();
  run.batches = 6;
  const analyzer::Report report = ReportOfRun(run);
  ASSERT_FALSE(report.diagnosis.loader->steady.steady);
  EXPECT_EQ(Judge(report), InputBound::kUnknown);
  EXPECT_EQ(CardOf(report, Text::kWaitsForData).tone, Tone::kUnknown);
  EXPECT_EQ(CardOf(report, Text::kThroughput).line.find("90 %"), std::string::npos);
  for (const Card& card : CardsOf(report, Language::kEnglish)) {
    EXPECT_NE(card.tone, Tone::kGood) << card.title;
  }
  EXPECT_EQ(Judge(ReportOfRun(Fed())), InputBound::kNot);
}

// The time before the first batch is the start-up of the run, not its usual wait.
// The stage table, which is of the whole run, had another share of waiting.
TEST(CardsTest, TheShareOfWaitingSaysWhichPartOfTheRunItIsOf) {
  const analyzer::Report report = ReportOfRun(Fed());
  ASSERT_TRUE(report.diagnosis.loader->steady.lasts());
  EXPECT_TRUE(CardOf(report, Text::kWaitsForData).line.ends_with("  ·  in the steady part"));
  Synthetic fresh = Fed();
  fresh.batches = 12;
  fresh.epochs = 5;
  fresh.worker_start = 400;
  const analyzer::Report whole = ReportOfRun(fresh);
  ASSERT_TRUE(whole.diagnosis.whole_run);
  EXPECT_EQ(CardOf(whole, Text::kWaitsForData).line.find("steady"), std::string::npos);
}

TEST(CardsTest, OneBatchHasNoShareOfWaiting) {
  Synthetic run = Fed();
  run.batches = 1;
  const Card card = CardOf(ReportOfRun(run), Text::kWaitsForData);
  EXPECT_EQ(CardOf(ReportOfRun(run), Text::kThroughput).figure, "–");
  EXPECT_EQ(card.figure, "–");
  EXPECT_LT(card.meter, 0);
  EXPECT_EQ(card.unit, "");
  EXPECT_EQ(card.tone, Tone::kUnknown);
}

TEST(CardsTest, AnErrorThatTheVerdictWarnsOfIsNotToldAgain) {
  analyzer::Report report = ReportOfRun(Fed());
  analyzer::Replay& replay = report.diagnosis.loader->replay;
  const auto told = [&](double ratio) {
    replay.simulated = ratio * replay.measured;
    EXPECT_EQ(analyzer::TellsReplayError(report.diagnosis), ratio > 1.05);
    return SureText(report, Language::kEnglish).find("simulation") != std::string::npos;
  };
  EXPECT_TRUE(told(1.04));
  EXPECT_FALSE(told(1.06));
  EXPECT_EQ(English(analyzer::ConfidenceOf(report.diagnosis)).find("simulation"),
            std::string::npos);
}

TEST(CardsTest, ARunThatTheSimulationDoesNotRepeatSaysSoOnce) {
  analyzer::Report report = ReportOfRun(Fed());
  const analyzer::Statement unlike =
      analyzer::Say<analyzer::words::kNeedsExplained>(analyzer::Give<"error">(0.25));
  report.diagnosis.needs = report.plan.missing = unlike;
  report.diagnosis.summary = analyzer::Summarise(report.diagnosis);
  EXPECT_EQ(CardOf(report, Text::kFreeData).line, "the simulation does not match this run");
  EXPECT_EQ(SureText(report, Language::kEnglish).find("simulation"), std::string::npos);
  EXPECT_EQ(StaircaseOf(report, Language::kEnglish).missing, "No plan. The verdict says why.");
}

// An import of Nsight Systems has steps of 12 ms and waits of 8 ms, but not how batches are made.
TEST(CardsTest, TheStepBoundsTheGainEvenIfItIsUnknownHowBatchesAreMade) {
  analyzer::Report report = ReportOfRun(Fed());
  ASSERT_FALSE(report.diagnosis.whole_run);
  report.diagnosis.needs =
      analyzer::Say<analyzer::words::kNeedsSight>(analyzer::Give<"none">(false));
  report.diagnosis.wait_fraction = 0.4;
  report.diagnosis.samples_rate = 50;
  const Card card = CardOf(report, Text::kFreeData);
  EXPECT_EQ(card.figure, "≤ 1.67x");
  EXPECT_EQ(card.line, "at most: 83.3 samples/s, the step alone");
  // The card had no figure for a loop that waits 0.1 % of its time.
  report.diagnosis.wait_fraction = 0.001;
  EXPECT_EQ(CardOf(report, Text::kFreeData).figure, "≤ 1.00x");
  // The step of a loader that hands batches on is not the training step.
  analyzer::Report handed_on = report;
  handed_on.diagnosis.run.loaders.front().handed_on = true;
  EXPECT_EQ(CardOf(handed_on, Text::kFreeData).figure, "–");
  // A part of the step waits for the data of other ranks, which would cost nothing either.
  report.diagnosis.ranks.rows.resize(2);
  report.diagnosis.ranks.imbalance.together = true;
  report.diagnosis.ranks.imbalance.loop = 10;
  report.diagnosis.ranks.imbalance.cost = 2;
  ASSERT_TRUE(report.diagnosis.ceiling_is_least());
  EXPECT_EQ(CardOf(report, Text::kFreeData).figure, "–");
}

// The plan showed 1681 samples/s, and the card only ">20x".
TEST(CardsTest, AGainBeyondTwentyTimesHasItsRate) {
  analyzer::Report report = ReportOfRun(Fed());
  ASSERT_TRUE(analyzer::Predicts(report.diagnosis));
  report.diagnosis.ceiling = 25 * report.diagnosis.base_rate();
  const Card card = CardOf(report, Text::kFreeData);
  EXPECT_TRUE(card.figure.ends_with(">20x")) << card.figure;
  EXPECT_NE(card.line.find(analyzer::ShortNumber(report.diagnosis.ceiling)), std::string::npos)
      << card.line;
  report.diagnosis.loader->attribution.headroom = analyzer::kMostHeadroom;
  EXPECT_EQ(CardOf(report, Text::kFreeData).line, "") << "there is no ceiling";
}

// "Too little was recorded to say" stood beside a rate with its interval.
TEST(CardsTest, WhereNothingIsPredictedTheCardNamesTheReason) {
  analyzer::Report report = ReportOfRun(Fed());
  report.diagnosis.whole_run = true;  // its waits bound nothing
  report.diagnosis.needs =
      analyzer::Say<analyzer::words::kNeedsSight>(analyzer::Give<"none">(true));
  EXPECT_EQ(CardOf(report, Text::kFreeData).line, "how batches are made was not recorded");
  report.diagnosis.needs = analyzer::Say<analyzer::words::kNeedsReads>();
  EXPECT_EQ(CardOf(report, Text::kFreeData).line, "too little was recorded to say");
}

TEST(CardsTest, BusyWorkersAreThoseOfTheSteadyPart) {
  analyzer::Report report = ReportOfRun(Fed());
  EXPECT_EQ(CardOf(report, Text::kWorkersBusy).unit, "in the steady part");
  report.diagnosis.loader->cpu.core_wait = 0.78;  // its words had taken the place of the part
  EXPECT_EQ(CardOf(report, Text::kWorkersBusy).unit, "in the steady part");
}

// The verdict named decode, while other programs had the cores.
TEST(CardsTest, WorkersThatWaitForACoreAreNotJustBusy) {
  analyzer::Report report = ReportOfRun(Fed());
  report.diagnosis.loader->cpu.core_wait = 0.78;
  const std::string line = CardOf(report, Text::kWorkersBusy).line;
  EXPECT_TRUE(line.starts_with("78 % of it waiting for a core  ·  CPU ")) << line;
}

TEST(CardsTest, TheRateOfAWholeRunNamesExperiments) {
  analyzer::Report report = ReportOfRun(Fed());
  const auto line = [&] { return CardOf(report, Text::kThroughput).line; };
  EXPECT_EQ(line().find("experiments"), std::string::npos);
  report.diagnosis.run.loaders.front().probes.emplace_back();
  EXPECT_NE(line().find("experiments"), std::string::npos);
}

TEST(CardsTest, ASeparatorStandsBetweenUnitAndLineOnlyIfThereAreBoth) {
  Card card;
  card.unit = "workers";
  EXPECT_EQ(LineOf(card, true), "workers");
  EXPECT_EQ(LineOf(card, false), "");
  card.line = "pinned";
  EXPECT_EQ(LineOf(card, true), "workers  ·  pinned");
  EXPECT_EQ(LineOf(card, false), "pinned");
  card.unit.clear();
  EXPECT_EQ(LineOf(card, true), "pinned");
}

TEST(CardsTest, SettingsThatWereNotRecordedAreNotInvented) {
  analyzer::Report report = ReportOfRun(Fed());
  analyzer::LoaderRun& run = report.diagnosis.run.loaders.front();
  run.config.workers_known = false;
  run.config.num_workers = 0;
  run.config.batch_size = 0;
  run.samples_known = false;
  report.diagnosis.loader->fetched = 0;
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    for (const Card& card : CardsOf(report, language)) {
      EXPECT_NE(card.figure, "0") << card.title;
      EXPECT_NE(card.line, TextOf(Text::kLoaderMakesItself, language));
    }
  }
  EXPECT_EQ(CardOf(report, Text::kWorkers).figure, "–");
  EXPECT_NE(CardOf(report, Text::kWorkers).line.find("penstock record"), std::string::npos);
  EXPECT_NE(CardOf(report, Text::kLoader).line.find("penstock record"), std::string::npos);
  report.diagnosis.run.collected = true;
  EXPECT_EQ(CardOf(report, Text::kWorkers).line, "the loader does not report its workers");
  EXPECT_EQ(CardOf(report, Text::kLoader).line.find("penstock record"), std::string::npos);
  EXPECT_EQ(CardOf(report, Text::kLoader).line.find("batch 1"), std::string::npos);
  EXPECT_EQ(SureText(report, Language::kEnglish).find("simulation"), std::string::npos);
  EXPECT_FALSE(BuildRibbon(report).workers_known);
}

// The device is idle for several causes. The one that is named has its own share.
TEST(CardsTest, ACauseOfIdleTimeHasItsOwnShare) {
  const auto trace = traces::MakeTrace(testing::MakeGpuRun({}));
  const analyzer::Report report = analyzer::BuildReport(*trace, "t.penstock");
  const analyzer::DeviceActivity& device = report.diagnosis.loader->device;
  ASSERT_GT(device.idle.loader, 0);
  ASSERT_GT(device.idle.loader, std::max(device.idle.copy, device.idle.launch));
  ASSERT_GT(device.idle.copy, 0);
  const double idle = 1 - device.Share(device.computing);
  const std::string share = analyzer::PercentText(device.Share(device.idle.loader));
  ASSERT_NE(share, analyzer::PercentText(idle));
  EXPECT_EQ(CardOf(report, Text::kGpuBusy).line, share + " of all time: the loop waits for data");
}

TEST(CardsTest, IdleTimeWithoutAKnownCauseIsNamedBeforeASmallerKnownOne) {
  analyzer::DeviceActivity device;
  device.window = 100;
  const auto said = [&] { return IdleText(device, Language::kEnglish); };
  EXPECT_EQ(said(), "");
  device.idle.unknown = 59;
  EXPECT_EQ(said(), "59 % of all time: reason not known");
  device.idle.loader = 35;
  device.idle.copy = 1;
  EXPECT_EQ(said(), "59 % of all time: reason not known; 35 %: the loop waits for data");
  EXPECT_EQ(IdleText(device, Language::kChinese),
            "占全部时间的 59 %：原因未知；另有 35 %：循环在等数据");
  device.idle.unknown = 5;
  EXPECT_EQ(said(), "35 % of all time: the loop waits for data");
}

TEST(CardsTest, WorkersWhoseFetchesWereNotSeenAreNotSaidToBeIdle) {
  analyzer::Report report = ReportOfRun(Fed());
  report.diagnosis.loader->fetched = 0;
  report.diagnosis.loader->signals.worker_busy = 0;
  const Card card = CardOf(report, Text::kWorkersBusy);
  EXPECT_EQ(card.figure, "–");
  const std::string unknown(TextOf(Text::kHowMadeUnknown, Language::kEnglish));
  EXPECT_LT(card.meter, 0);
  report.diagnosis.loader->cpu.known = false;
  EXPECT_EQ(CardOf(report, Text::kWorkersBusy).line, unknown);
  report.diagnosis.loader->cpu.known = true;
  report.diagnosis.loader->cpu.from_counters = true;
  report.diagnosis.loader->cpu.used = 3.5;
  report.diagnosis.loader->cpu.cores = 8;
  const std::string with_cpu = CardOf(report, Text::kWorkersBusy).line;
  EXPECT_EQ(with_cpu, unknown + "  ·  " + Filled(Text::kCpuOfCores, Language::kEnglish, "3.5", "8"))
      << "the CPU was measured";
  report.diagnosis.loader->cpu.from_counters = false;
  EXPECT_EQ(CardOf(report, Text::kWorkersBusy).line, unknown + "  ·  CPU at least 3.5 of 8 cores")
      << "spans of workers lack the step";
}

TEST(CardsTest, AVerdictOfLittleConfidenceIsNoAlarm) {
  analyzer::Report report = ReportOfRun({.costs = Always({.decode = 30, .step = 2})});
  ASSERT_EQ(Judge(report), InputBound::kHighly);
  EXPECT_EQ(ToneOfVerdict(report), Tone::kBad);
  report.diagnosis.confidence = 0.01;
  EXPECT_EQ(ToneOfVerdict(report), Tone::kWarn);
}

TEST(CardsTest, ConfidenceIsNoShareOfTheLoop) {
  const std::string sure = SureText(ReportOfRun(Fed()), Language::kEnglish);
  EXPECT_NE(sure.find("of 100"), std::string::npos) << sure;
  EXPECT_EQ(sure.find("within 0.0"), std::string::npos) << sure;
}

TEST(CardsTest, WhereStartUpCountsAllFiguresAreOfTheWholeRun) {
  Synthetic run{.batches = 12, .epochs = 5, .worker_start = 400};
  run.costs = Always({.decode = 20, .step = 5});
  analyzer::Report report = ReportOfRun(run);
  const analyzer::Diagnosis& diagnosis = report.diagnosis;
  ASSERT_TRUE(diagnosis.whole_run);
  // "86 % of the whole loop" stood beside 72 % of a loop that validates with another loader.
  EXPECT_EQ(CardOf(report, Text::kWaitsForData).unit, "of the whole loop");
  report.diagnosis.run.loaders[0].use = analyzer::LoopUse::kInTurn;
  EXPECT_EQ(CardOf(report, Text::kWaitsForData).unit, "of this loader's loop");
  EXPECT_EQ(CardOf(report, Text::kThroughput).figure, analyzer::ShortNumber(diagnosis.whole_rate));
  double wait = 0;
  double all = 0;
  for (const analyzer::Batch& batch : diagnosis.run.loader().batches) {
    wait += batch.wait();
    all += batch.wait() + batch.step();
  }
  for (const analyzer::Epoch& epoch : diagnosis.run.loader().epochs) {
    wait += epoch.stop;
    all += epoch.stop;
  }
  EXPECT_NEAR(diagnosis.wait_fraction, wait / all, 1e-9);
  const Ribbon ribbon = BuildRibbon(report);
  EXPECT_NEAR(ribbon.loop.front().seconds / ribbon.loop_time, wait / all, 0.03);
  // "92 %" busy was of the steady windows, beside 5 % idle of the workers' lives.
  double busy = 0;
  double life = 0;
  for (const analyzer::WorkerRun& worker : diagnosis.run.loader().workers) {
    busy += worker.busy;
    life += worker.life();
  }
  const Card card = CardOf(report, Text::kWorkersBusy);
  EXPECT_EQ(card.figure, analyzer::PercentText(busy / life));
  EXPECT_EQ(card.unit, "first batch to last");
  const std::string loader = English(analyzer::LoaderOf(diagnosis));
  EXPECT_NE(loader.find("busy " + card.figure + ", idle "), std::string::npos) << loader;
}

TEST(ForecastTest, OnlyWhatLiesAboveTheRunWithItsWholeIntervalIsAGain) {
  const analyzer::Diagnosis diagnosis = ReportOfRun(Fed()).diagnosis;
  const double now = diagnosis.base_rate();
  const auto effect = [&](double times, double low, double high) {
    analyzer::Prediction predicted;
    predicted.rate = {now * times, now * low, now * high};
    predicted.speedup = predicted.steady = times;
    return ForecastOf(diagnosis, predicted).effect;
  };
  EXPECT_EQ(effect(0.99, 0.94, 1.04), Effect::kWithinDoubt);
  EXPECT_EQ(effect(1.03, 0.98, 1.08), Effect::kWithinDoubt);
  EXPECT_EQ(effect(1.3, 1.2, 1.4), Effect::kGain);
  EXPECT_EQ(effect(0.7, 0.6, 0.8), Effect::kLoss);
}

TEST(ForecastTest, AnUpperBoundIsNoGainAndHasNoInterval) {
  analyzer::Report report = ReportOfRun(Fed());
  const double now = report.diagnosis.base_rate();
  analyzer::Prediction predicted;
  predicted.rate = {now * 1.3, now * 1.2, now * 1.4};
  predicted.speedup = predicted.steady = 1.3;
  predicted.at_most = true;
  const Forecast forecast = ForecastOf(report.diagnosis, predicted);
  EXPECT_EQ(forecast.effect, Effect::kWithinDoubt);
  EXPECT_EQ(GainText(forecast, Language::kEnglish), "at most 1.30x");
  EXPECT_EQ(GainText(forecast, Language::kChinese), "至多 1.30x");
  analyzer::Finding finding;
  finding.predicted = predicted;
  const std::string advice = AdviceText(report, finding, Language::kEnglish);
  EXPECT_NE(advice.find("Predicted by itself: at most "), std::string::npos) << advice;
  EXPECT_EQ(advice.find("90 %"), std::string::npos) << advice;
}

TEST(ForecastTest, AnEffectHasOneColourWhereverItIsShown) {
  for (const Theme theme : {Theme::kDark, Theme::kLight}) {
    const Palette& p = PaletteOf(theme);
    EXPECT_EQ(ColourOf(p, EffectOf(100, {120, 110, 130})), p.good);
    EXPECT_EQ(ColourOf(p, EffectOf(100, {80, 70, 90})), p.bad);
    EXPECT_EQ(ColourOf(p, EffectOf(100, {101, 95, 107})), p.text);
  }
  EXPECT_EQ(EffectOf(0, {120, 110, 130}), Effect::kWithinDoubt) << "no rate to compare with";
}

TEST(ForecastTest, ARateOfAWholeRunHasNoInterval) {
  EXPECT_EQ(IntervalText({300, 290, 310}, Language::kEnglish), "290 to 310 (90 %)");
  EXPECT_EQ(IntervalText({300, 300, 300}, Language::kEnglish), "");
  EXPECT_EQ(IntervalText({465, 464.8, 465.2}, Language::kEnglish), "") << "465 to 465";
}

TEST(ForecastTest, BeyondTwentyTimesThereAreNoDigits) {
  EXPECT_EQ(GainText(296.64), ">20x");
  EXPECT_EQ(GainText(20), "20.00x");
  EXPECT_EQ(GainText(1.234), "1.23x");
  EXPECT_EQ(LeastGainText(1.234), "≥ 1.23x");
  EXPECT_EQ(LeastGainText(296.64), ">20x");
}

}  // namespace
}  // namespace penstock::gui
