// SPDX-License-Identifier: Apache-2.0
//
// Compares ranks: which one is slow, what this costs, and whether the host can feed all of them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/ranks/rank_summary.h"
#include "analyzer/report/rank_report.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::FindingOf;
using testing::OneIsSlow;
using testing::Ranked;
using testing::SideBySide;
using testing::Synthetic;
using testing::TraceOfAll;
using testing::TraceOfRank;

RankSummary SummaryOf(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  return SummariseRanks(*trace, BuildRunModel(*trace));
}

double RankEvidence(const Finding& finding, const std::string& key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key) return std::get<double>(value);
  }
  ADD_FAILURE() << "no " << key;
  return 0;
}

bool IsThere(const Findings& findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

TEST(RankSummaryTest, CostsWhatTheLongestWaitExceedsThoseOfTheOthers) {
  const RankSummary ranks = SummaryOf(TraceOfAll(OneIsSlow()));
  ASSERT_EQ(ranks.rows.size(), 4u);
  const Imbalance& found = ranks.imbalance;
  EXPECT_TRUE(found.together);
  EXPECT_TRUE(found.fixed);
  EXPECT_EQ(found.slowest, 2);
  EXPECT_EQ(found.iterations, 96u);  // without the four that fill the queues
  EXPECT_NEAR(found.cost, 96 * (6 - 1) * 1e-3, 1e-6);
  EXPECT_NEAR(found.slowest_share, 1, 1e-9);
  EXPECT_NEAR(ranks.rows[2].wait, 6e-3, 1e-9);
  EXPECT_NEAR(ranks.rows[0].step, 16.2e-3, 1e-6);  // includes 5 ms of waiting for rank 2
  EXPECT_NEAR(ranks.rows[1].samples_rate, 8 / 17.2e-3, 1);
  EXPECT_NEAR(ranks.rows[2].data_bound, 1, 1e-9);
}

TEST(RankSummaryTest, CollectivesOfAnotherLoadersBatchesDoNotReplaceTheSteps) {
  Ranked run = OneIsSlow();
  run.kernels = true;
  traces::TraceData data = TraceOfAll(run);
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kKernel) span.batch.generation = 9;
    }
  }
  EXPECT_TRUE(SummaryOf(std::move(data)).imbalance.together);
}

TEST(RankSummaryTest, RanksMeetAfterAsManyBatchesInWhateverOrder) {
  Ranked run;
  run.wait = [](int, int i) { return i % 2 == 0 ? 6.0 : 1.0; };
  traces::TraceData data = TraceOfAll(run);
  for (traces::ProcessInfo& process : data.processes) {
    process.facts["loader.0.in_order"] = "false";
  }
  for (traces::Span& span : data.spans[1]) span.batch.index ^= 1;  // of rank 1
  const Imbalance found = SummaryOf(std::move(data)).imbalance;
  EXPECT_TRUE(found.together);
  EXPECT_EQ(found.iterations, 96u);
  EXPECT_NEAR(found.cost, 0, 1e-6);
}

// Rank 0 validates alone, in more batches than it trains.
TEST(RankSummaryTest, RanksAreComparedByTheLoaderThatAllHave) {
  traces::TraceData data = TraceOfAll(OneIsSlow());
  for (traces::ProcessInfo& process : data.processes) {
    process.facts["loader.0.made_at"] = "/a/train.py:10";
  }
  auto& facts = data.processes[0].facts;
  facts["loader.1.kind"] = "pytorch";
  facts["loader.1.num_workers"] = "0";
  facts["loader.1.made_at"] = "/a/train.py:20";
  facts["epoch.9"] = "1";
  std::vector<traces::Span>& spans = data.spans[0];
  traces::Span wait = spans.back();
  for (std::uint32_t i = 0; i < 150; ++i) {
    wait.stage = traces::StageId::kWait;
    wait.start = spans.back().end();
    wait.duration = testing::Ms(1);
    wait.batch = {i, 9};
    traces::Span step = wait;
    step.stage = traces::StageId::kStep;
    step.start = wait.end();
    spans.push_back(wait);
    spans.push_back(step);
  }
  const RankSummary ranks = SummaryOf(std::move(data));
  ASSERT_EQ(ranks.rows.size(), 4u);
  EXPECT_EQ(ranks.rows[0].batches, 100u);
  EXPECT_EQ(ranks.imbalance.slowest, 2);
}

TEST(RankSummaryTest, TheVerdictIsThatOfTheSlowestRank) {
  const auto trace = traces::MakeTrace(TraceOfAll(OneIsSlow()));
  const Diagnosis diagnosis = Diagnose(*trace);
  EXPECT_EQ(trace->processes()[diagnosis.run.loader().config.consumer.value].rank, 2);
}

std::int32_t RankOfVerdict(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  const RunModel run = BuildRunModel(*trace);
  return trace->processes()[run.loader().config.consumer.value].rank;
}

TEST(RankSummaryTest, OfRanksThatWaitAlikeTheVerdictIsThatOfTheLowest) {
  Ranked run;
  run.ranks = 4;
  run.together = false;
  run.wait = [&run](int rank, int) {  // 45.5 %, 47 %, 48.5 % and 50 % of the loop
    const double share = 0.455 + 0.015 * rank;
    return (run.compute + 0.2) * share / (1 - share);
  };
  traces::TraceData upwards = TraceOfRank(run, 0);
  traces::TraceData downwards = TraceOfRank(run, 3);
  for (int other = 1; other < 4; ++other) {
    const auto pids = 1000 * static_cast<std::uint32_t>(other);
    testing::AddBeside(upwards, TraceOfRank(run, other), pids);
    testing::AddBeside(downwards, TraceOfRank(run, 3 - other), pids);
  }
  EXPECT_EQ(RankOfVerdict(std::move(upwards)), 2);
  EXPECT_EQ(RankOfVerdict(std::move(downwards)), 2);
}

TEST(RankSummaryTest, TheVerdictIsThatOfTheRankThatWaitsMostInTheTable) {
  Ranked run;
  run.batches = 20;
  run.epochs = 2;
  run.together = false;
  run.wait = [](int rank, int i) {
    if (rank == 1) return 2.0;
    return i == 20 ? 200.0 : 1.0;  // only its second epoch starts slowly
  };
  const RankSummary ranks = SummaryOf(TraceOfAll(run));
  ASSERT_EQ(ranks.rows.size(), 2u);
  EXPECT_NEAR(ranks.rows[0].wait_fraction, 1 / 11.2, 1e-6);
  EXPECT_NEAR(ranks.rows[1].wait_fraction, 2 / 12.2, 1e-6);
  EXPECT_EQ(RankOfVerdict(TraceOfAll(run)), 1);
}

TEST(RankSummaryTest, OfARecordingFromTheMiddleOfAnEpochTheFirstBatchesAreLeftOut) {
  traces::TraceData data = TraceOfAll(OneIsSlow());
  for (auto& spans : data.spans) {
    std::erase_if(spans, [](const traces::Span& span) { return span.batch.index < 50; });
  }
  const RankSummary ranks = SummaryOf(std::move(data));
  ASSERT_EQ(ranks.rows.size(), 4u);
  EXPECT_EQ(ranks.rows[0].batches, 50u);
  EXPECT_EQ(ranks.imbalance.iterations, 46u);
}

// The verdict said 222 samples/s of a rank, and the table 222.7: they counted the steps of other
// batches.
TEST(RankSummaryTest, TheRowOfTheRankOfTheVerdictHasItsRate) {
  Ranked run = OneIsSlow();
  run.after = [](int, int i) { return i == 3 ? 2.0 : i == 99 ? 0.0 : 0.2; };
  const auto trace = traces::MakeTrace(TraceOfAll(run));
  const Diagnosis diagnosis = Diagnose(*trace);
  const RankRow* row = diagnosis.ranks.Find(2);
  ASSERT_NE(row, nullptr);
  ASSERT_FALSE(diagnosis.whole_run);
  EXPECT_NEAR(row->samples_rate, diagnosis.samples_rate, 1e-6 * row->samples_rate);
  EXPECT_NEAR(row->wait_fraction, diagnosis.wait_fraction, 1e-9);
}

TEST(RankSummaryTest, OneRankHasNobodyToWaitFor) {
  Ranked run;
  run.ranks = 1;
  const RankSummary ranks = SummaryOf(TraceOfAll(run));
  EXPECT_FALSE(ranks.several());
  EXPECT_EQ(ranks.imbalance.iterations, 0u);
}

TEST(RankImbalanceTest, NamesTheStragglerAndItsCost) {
  const auto finding = FindingOf("rank-imbalance", TraceOfAll(OneIsSlow()));
  ASSERT_TRUE(finding);
  EXPECT_EQ(RankEvidence(*finding, "rank"), 2);
  EXPECT_EQ(finding->pids, std::vector<std::uint32_t>{2100});
  EXPECT_NEAR(RankEvidence(*finding, "cost_share"), 5 / 17.2, 0.01);
}

TEST(RankImbalanceTest, SpeaksWhereTheyTakeTurns) {
  Ranked run;
  run.ranks = 4;
  run.wait = [](int rank, int i) { return i % 4 == rank ? 6.0 : 1.0; };
  const RankSummary ranks = SummaryOf(TraceOfAll(run));
  EXPECT_FALSE(ranks.imbalance.fixed);
  const auto iterations = static_cast<double>(ranks.imbalance.iterations);
  EXPECT_NEAR(ranks.imbalance.cost, iterations * (6 - 9.0 / 4) * 1e-3, 1e-6);
  double held_up = 0;
  for (const RankRow& row : ranks.rows) held_up += row.held_up;
  EXPECT_NEAR(held_up, ranks.imbalance.cost, 1e-6);
  const auto finding = FindingOf("rank-imbalance", TraceOfAll(run));
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->pids.empty());
  EXPECT_NE(English(finding->seen).find("in turn"), std::string::npos);
}

TEST(RankImbalanceTest, OneOfTwoRanksIsNamedOnlyIfItCausesMoreThanItsHalf) {
  Ranked run;
  run.wait = [](int rank, int i) { return i % 2 == rank ? 6.0 : 1.0; };
  const auto in_turn = FindingOf("rank-imbalance", TraceOfAll(run));
  ASSERT_TRUE(in_turn);
  EXPECT_TRUE(in_turn->pids.empty());
  EXPECT_NE(English(in_turn->seen).find("in turn"), std::string::npos);
  EXPECT_NE(English(in_turn->action).find("the cost of a batch varies"), std::string::npos);
  run.wait = [](int rank, int i) { return (i % 5 == 0) == (rank == 0) ? 6.0 : 1.0; };
  const auto one = FindingOf("rank-imbalance", TraceOfAll(run));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->pids, std::vector<std::uint32_t>{1100});
}

// "In every iteration another rank is last" was said of two ranks that changed four times in 165.
TEST(RankImbalanceTest, RanksThatAreLastForLongAreNotSaidToAlternate) {
  Ranked run;
  run.batches = 84;  // of which 80 are steady
  run.wait = [](int rank, int i) {
    if (i % 10 == 0) return 1.0 + 0.1 * rank;  // hardly a difference: it ends no stretch
    return ((i - 4) / 20) % 2 == rank ? 6.0 : 1.0;
  };
  const Imbalance imbalance = SummaryOf(TraceOfAll(run)).imbalance;
  EXPECT_FALSE(imbalance.fixed);
  EXPECT_EQ(imbalance.iterations, 80u);
  EXPECT_DOUBLE_EQ(imbalance.stretch, 18);
  const auto finding = FindingOf("rank-imbalance", TraceOfAll(run));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->seen).find("another one only about every 18 iterations"),
            std::string::npos);
  EXPECT_EQ(English(finding->action).find("the cost of a batch varies"), std::string::npos);
  EXPECT_NE(English(ImbalanceOf(SummaryOf(TraceOfAll(run)))).find("; another one is last about"),
            std::string::npos);
}

// "The loop waits for data 35 % of the time" was true of one rank of eight.
TEST(RankSummaryTest, TheVerdictNamesARankThatWaitsLongerThanMost) {
  const auto said = [](const Ranked& run) {
    return English(Diagnose(*traces::MakeTrace(TraceOfAll(run))).summary);
  };
  const std::string one = said(OneIsSlow());
  EXPECT_NE(
      one.find("; all this is of rank 2, which waits most for data; the median rank waits 6 %"),
      std::string::npos)
      << one;
  const std::string alike = said({});
  EXPECT_EQ(alike.find("rank"), std::string::npos) << alike;
}

// "Of rank 1, which waits most for data; the median rank waits 49 %" was said of two ranks that
// waited 53 % and 49 %, and by turns.
TEST(RankSummaryTest, OfTwoRanksTheOtherIsToldOf) {
  Ranked run;
  run.after = [](int rank, int) { return rank == 0 ? 2.0 : 0.2; };
  run.wait = [](int rank, int i) { return i % 2 == rank ? 6.0 + rank : 1.0; };
  const auto trace = traces::MakeTrace(TraceOfAll(run));
  const Diagnosis diagnosis = Diagnose(*trace);
  EXPECT_FALSE(diagnosis.ranks.imbalance.fixed);
  const double other = diagnosis.ranks.rows[0].wait_fraction;
  ASSERT_LT(other, diagnosis.ranks.rows[1].wait_fraction - 0.02);
  const std::string said = English(diagnosis.summary);
  EXPECT_NE(said.find("; all this is of rank 1; the other rank waits " + PercentText(other)),
            std::string::npos)
      << said;
  const std::string recorded = English(RanksRecorded(diagnosis));
  EXPECT_EQ(recorded, "2 ranks (torch); the verdict is that of rank 1");
}

// The card said "If data cost nothing 2.12x" of steps that wait for the data of other ranks.
TEST(RankImbalanceTest, TheCeilingOfStepsThatWaitForTheDataOfOthersIsTheLeast) {
  const auto least = [](const Ranked& run) {
    return Diagnose(*traces::MakeTrace(TraceOfAll(run))).ceiling_is_least();
  };
  Ranked run;
  EXPECT_FALSE(least(run)) << "all wait alike";
  run.wait = [](int rank, int i) { return i % 2 == rank ? 6.0 : 1.0; };
  EXPECT_TRUE(least(run));
  run.together = false;
  run.wait = [](int rank, int) { return rank == 0 ? 1.0 : 6.0; };
  EXPECT_FALSE(least(run)) << "no rank waits for another";
  EXPECT_FALSE(least(OneIsSlow())) << "the others wait for the rank of the verdict";
}

// Rank 0 waits longer in all, but rank 2 causes more of the cost.
TEST(RankImbalanceTest, GivesTheWaitOfTheRankThatItNames) {
  Ranked run;
  run.ranks = 4;
  run.wait = [](int rank, int i) { return rank == 2 && i % 4 == 0 ? 7.0 : rank == 0 ? 2.2 : 0.5; };
  const double wait = SummaryOf(TraceOfAll(run)).rows.at(2).wait_fraction;
  const auto finding = FindingOf("rank-imbalance", TraceOfAll(run));
  ASSERT_TRUE(finding);
  EXPECT_EQ(RankEvidence(*finding, "rank"), 2);
  EXPECT_NEAR(RankEvidence(*finding, "wait_fraction"), wait, 1e-9);
}

TEST(RankImbalanceTest, IsSilentOfFourPercent) {
  Ranked run = OneIsSlow();
  run.wait = [](int rank, int) { return rank == 2 ? 1.6 : 1.0; };  // costs 0.6 of 13 ms
  EXPECT_FALSE(FindingOf("rank-imbalance", TraceOfAll(run)));
}

TEST(RankImbalanceTest, RanksThatDoNotWaitForEachOtherLoseNothing) {
  Ranked run = OneIsSlow();
  run.together = false;
  run.wait = [](int rank, int) { return rank == 2 ? 1.9 : 1.0; };
  const RankSummary ranks = SummaryOf(TraceOfAll(run));
  EXPECT_FALSE(ranks.imbalance.together);
  EXPECT_FALSE(FindingOf("rank-imbalance", TraceOfAll(run)));
}

Synthetic Decoding(int workers, int cores) {
  Synthetic run;
  run.workers = workers;
  run.cores = cores;
  run.batches = 60;
  run.costs = testing::Always({1, 30, 5, 0.5, 0.1, 0.3, 4, 0});
  return run;
}

Findings AllFindings(traces::TraceData data) {
  const auto trace = traces::MakeTrace(std::move(data));
  return RunRules(*trace, Diagnose(*trace)).findings;
}

TEST(RanksExceedHostTest, EightRanksWithEightWorkersOnSixteenCoresAreOneFinding) {
  const Findings findings = AllFindings(SideBySide(Decoding(8, 16), 8));
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const Finding& one) { return one.id == "ranks-exceed-host"; }),
            1);
  EXPECT_FALSE(IsThere(findings, "too-many-workers"));
  EXPECT_FALSE(IsThere(findings, "cpu-quota-or-affinity"));
  for (const Finding& finding : findings) {
    if (finding.id != "ranks-exceed-host") continue;
    EXPECT_EQ(RankEvidence(finding, "ranks"), 8);
    EXPECT_EQ(RankEvidence(finding, "workers"), 64);
    EXPECT_EQ(RankEvidence(finding, "usable_cores"), 16);
    EXPECT_LE(RankEvidence(finding, "workers_that_fit") * 8, 16);
  }
}

TEST(RanksExceedHostTest, IsSilentWhereEachWorkerHasItsCore) {
  EXPECT_FALSE(FindingOf("ranks-exceed-host", SideBySide(Decoding(2, 16), 8)));
  EXPECT_TRUE(FindingOf("ranks-exceed-host", SideBySide(Decoding(3, 16), 8)));
}

TEST(RanksExceedHostTest, RanksThatWereNotRecordedCountAsWell) {
  traces::TraceData data = testing::MakeSynthetic(Decoding(8, 16));
  data.processes[0].rank = data.processes[0].local_rank = 3;
  data.processes[0].world_size = 8;
  data.processes[0].facts["rank.local_size"] = "8";
  const auto finding = FindingOf("ranks-exceed-host", std::move(data));
  ASSERT_TRUE(finding);
  EXPECT_EQ(RankEvidence(*finding, "workers"), 64);
  EXPECT_EQ(RankEvidence(*finding, "recorded_ranks"), 1);
}

TEST(RanksExceedHostTest, SuggestsNoMoreWorkersThanTheHostHasCoresFor) {
  for (const int recorded : {1, 2, 8}) {
    Synthetic run = Decoding(recorded, 16);
    run.cpu_share = std::min(1.0, 16.0 / (8 * recorded));  // the workers' share of the cores
    const auto trace = traces::MakeTrace(SideBySide(run, 8));
    const Diagnosis diagnosis = Diagnose(*trace);
    EXPECT_EQ(diagnosis.run.host.usable_cores(), 2);
    const Suggestion& suggestion = diagnosis.loader->suggestion;
    EXPECT_LE(suggestion.enough_workers, std::max(recorded, 4)) << recorded;
    if (suggestion.changes) {
      EXPECT_LE(suggestion.workers * 8, 2 * 16) << recorded;
    }
  }
}

TEST(RankLayoutTest, ReadsOfAnotherHostAreNotMadeBesideOurs) {
  const Synthetic run = Decoding(2, 16);
  traces::TraceData data = SideBySide(run, 2);
  for (traces::ProcessInfo& process : data.processes) {
    process.facts["part"] = std::to_string(process.rank);
  }
  data.facts["part.0.boot_id"] = "one";
  data.facts["part.1.boot_id"] = "two";
  const auto trace = traces::MakeTrace(std::move(data));
  const ReadCosts reads = BuildRunModel(*trace).reads;
  const ReadCosts alone = BuildRunModel(*testing::SyntheticTrace(run)).reads;
  EXPECT_EQ(reads.reads, alone.reads);
  EXPECT_NEAR(reads.concurrency, alone.concurrency, 1e-9);
  EXPECT_NEAR(reads.most_bytes_per_s, alone.most_bytes_per_s, 1);
}

TEST(RankLayoutTest, CoresOfTheirOwnAreNotShared) {
  traces::TraceData data = SideBySide(Decoding(2, 16), 4);
  int rank = 0;
  for (traces::ProcessInfo& process : data.processes) {
    if (process.role != wire::kRoleConsumer) continue;
    const std::string first = std::to_string(4 * rank);
    process.facts["process.affinity"] = first + "-" + std::to_string(4 * rank + 3);
    ++rank;
  }
  const auto trace = traces::MakeTrace(std::move(data));
  const RankLayout layout = ReadRankLayout(*trace);
  ASSERT_EQ(layout.places.size(), 4u);
  for (const RankPlace& place : layout.places) EXPECT_NEAR(place.cores, 4, 1e-9);
  EXPECT_NEAR(layout.hosts[0].cores, 16, 1e-9);
}

TEST(RankLayoutTest, AQuotaIsSharedEqually) {
  traces::TraceData data = SideBySide(Decoding(2, 16), 4);
  data.facts["cgroup.cpu_quota"] = "6";
  const auto trace = traces::MakeTrace(std::move(data));
  EXPECT_NEAR(ReadRankLayout(*trace).places[1].cores, 1.5, 1e-9);
}

TEST(RankLayoutTest, OneRankOfARunHasAnEqualPartOfItsHost) {
  traces::TraceData data = testing::MakeSynthetic(Decoding(2, 16));
  data.facts["memory.total"] = "64000000000";
  data.processes[0].rank = data.processes[0].local_rank = 1;
  data.processes[0].facts["rank.local_size"] = "4";
  const auto trace = traces::MakeTrace(std::move(data));
  const RunModel run = BuildRunModel(*trace);
  EXPECT_NEAR(run.host.usable_cores(), 4, 1e-9);
  EXPECT_EQ(run.host.ram.value, 16'000'000'000u);
  EXPECT_EQ(run.host.shm_size.value, 2'000'000'000u);
  EXPECT_EQ(run.machine().shm_size.value, 8'000'000'000u);
}

TEST(RankReportTest, TextAndJsonHaveTheTable) {
  const auto trace = traces::MakeTrace(TraceOfAll(OneIsSlow()));
  const Report report = BuildReport(*trace, "t");
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("4 ranks (torch); the verdict is that of rank 2"), std::string::npos) << text;
  EXPECT_NE(text.find("held up"), std::string::npos);
  const std::string json = ReportJson(report);
  for (const char* key : {"\"ranks\"", "\"world_size\": 4", "\"slowest_rank\": 2", "\"held_up_s\"",
                          "\"verdict_of_rank\": 2"}) {
    EXPECT_NE(json.find(key), std::string::npos) << key;
  }
}

TEST(RankReportTest, OneRankOfSeveralSaysWhatItsStepHolds) {
  const auto trace = traces::MakeTrace(TraceOfRank(OneIsSlow(), 1));
  const Report report = BuildReport(*trace, "t");
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("1 of 4 ranks (torch); the verdict is that of rank 1, whose step"),
            std::string::npos)
      << text;
  EXPECT_NE(ReportJson(report).find("the traces of the other ranks"), std::string::npos);
}

TEST(RankReportTest, OfTooFewIterationsInCommonItDoesNotSayHowTheyEnd) {
  Ranked run = OneIsSlow();
  run.batches = 11;  // of which seven are steady
  EXPECT_EQ(English(ImbalanceOf(SummaryOf(TraceOfAll(run)))),
            "the ranks have too few steady iterations in common: 7");
  run.batches = 12;
  EXPECT_NE(
      English(ImbalanceOf(SummaryOf(TraceOfAll(run)))).find("for the one whose data comes last"),
      std::string::npos);
}

TEST(RankReportTest, ARunWithoutRanksSaysNothingOfThem) {
  const auto trace = testing::SyntheticTrace(Synthetic{});
  EXPECT_EQ(ReportText(BuildReport(*trace, "t"), Colour::kOff).find("imbalance"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::analyzer
