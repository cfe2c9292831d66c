// SPDX-License-Identifier: Apache-2.0
//
// What reports and findings say about the memory of workers.
#include "analyzer/report/memory_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/memory/memory_growth.h"
#include "analyzer/report/report.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/words/assumptions.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_memory.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::Copying;
using testing::FindingOf;
using testing::MemoryOf;
using testing::Synthetic;
using testing::TwoWorkers;
using testing::Walk;
using testing::WithMemory;

double NumberIn(const Finding& finding, std::string_view key) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == key) return std::get<double>(value);
  }
  return std::nan("");
}

TEST(MemoryReportTest, TimesAheadAreInUnitsOfTheirSize) {
  EXPECT_EQ(TimeAheadText(90, Language::kEnglish), "90 s");
  EXPECT_EQ(TimeAheadText(2520, Language::kEnglish), "42 min");
  EXPECT_EQ(TimeAheadText(18'720, Language::kEnglish), "5.2 h");
  EXPECT_EQ(TimeAheadText(259'200, Language::kEnglish), "3.0 days");
  EXPECT_EQ(TimeAheadText(90, Language::kChinese), "90 秒");
  EXPECT_EQ(TimeAheadText(2520, Language::kChinese), "42 分钟");
  EXPECT_EQ(TimeAheadText(18'720, Language::kChinese), "5.2 小时");
  EXPECT_EQ(TimeAheadText(259'200, Language::kChinese), "3.0 天");
}

TEST(MemoryReportTest, ForPersistentWorkersTheHorizonIsNotAnEpoch) {
  Synthetic run = TwoWorkers();
  run.batches = 400;
  run.epochs = 2;
  run.persistent = true;
  const auto growth = [&] { return MemoryOf(WithMemory(run, Copying)).growth; };
  EXPECT_EQ(growth().epoch, 400);
  EXPECT_EQ(growth().horizon, 800);
  EXPECT_EQ(English(HorizonOf(growth())), "after as many batches as were recorded, 800");
  const auto finding = FindingOf("worker-memory-growth", WithMemory(run, Copying));
  ASSERT_TRUE(finding);
  EXPECT_EQ(NumberIn(*finding, "epoch_batches"), 400);
  EXPECT_EQ(NumberIn(*finding, "horizon_batches"), 800);
  EXPECT_TRUE(std::isnan(NumberIn(*finding, "private_bytes_at_epoch_end")));
  EXPECT_NEAR(NumberIn(*finding, "private_bytes_at_recorded_batches"), 240e6, 10e6);
  run.epochs = 1;
  EXPECT_EQ(English(HorizonOf(growth())), "at the end of an epoch of 400 batches");
}

TEST(MemoryReportTest, BatchesAloneAreNotAllThatWorkersTake) {
  const auto last = [](traces::TraceData data) {
    const auto notes = MemoryNotes(Diagnose(*traces::MakeTrace(std::move(data))));
    return notes.empty() ? std::string() : English(notes.back().statement);
  };
  const std::string unknown = last(testing::MakeSynthetic(TwoWorkers()));
  EXPECT_EQ(unknown.find("with their batches"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("the workers' private memory was not recorded"), std::string::npos)
      << unknown;
  const std::string known = last(WithMemory(TwoWorkers(), [](double) { return Walk{}; }));
  EXPECT_NE(known.find(" of private memory with their batches"), std::string::npos) << known;
  // The room in /dev/shm may exceed the whole, since it has a reserve.
  EXPECT_NE(known.find("; /dev/shm should have room for "), std::string::npos) << known;
  EXPECT_NE(known.find(" (a third of it in reserve; its size is 8.00 GB)"), std::string::npos)
      << known;
  Synthetic one = TwoWorkers();
  one.workers = 1;
  std::string all;
  const auto single = traces::MakeTrace(WithMemory(one, [](double) { return Walk{}; }));
  for (const MemoryNote& note : MemoryNotes(Diagnose(*single))) all += English(note.statement);
  EXPECT_NE(all.find("1 worker, "), std::string::npos) << all;
  EXPECT_NE(all.find("with its batches"), std::string::npos) << all;
}

// "1.03 GB of private memory" came from one reading of each of five workers, none of the sixth.
TEST(MemoryReportTest, MemoryFromSingleReadingsIsARoughFigure) {
  traces::TraceData data = testing::MakeSynthetic(TwoWorkers());
  testing::AddCounter(data, "uss_bytes", 1, 1500, 92'000'000);
  const auto trace = traces::MakeTrace(std::move(data));
  const Diagnosis diagnosis = Diagnose(*trace);
  ASSERT_FALSE(diagnosis.loader->memory.known);
  const auto notes = MemoryNotes(diagnosis);
  ASSERT_FALSE(notes.empty());
  const std::string note = English(notes.front().statement);
  EXPECT_NE(note.find(": about "), std::string::npos) << note;
  EXPECT_NE(note.find("their batches (from 1 reading of 1 worker)"), std::string::npos) << note;
  EXPECT_NE(
      Render(notes.front().statement, Language::kChinese).find("依据 1 个工作进程的 1 次读数"),
      std::string::npos);
  GridRequest request;
  request.workers = request.prefetch = {2};
  const auto grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid);
  EXPECT_TRUE(std::any_of(grid->notes.begin(), grid->notes.end(),
                          [](const Statement& one) { return one.Is(words::kRoughMemory); }));
  const auto often = Diagnose(*traces::MakeTrace(WithMemory(TwoWorkers(), testing::Copying)));
  EXPECT_FALSE(often.loader->facts.read.few());
}

TEST(MemoryReportTest, SaysWhenMemoryRunsOut) {
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  EXPECT_EQ(English(RunsOut({2520, 2280, 2820})), "in 42 min (38 min to 47 min)");
  EXPECT_EQ(English(RunsOut({2520, 2280, kForEver})), "in 42 min (38 min or later)");
  EXPECT_EQ(English(RunsOut({0, 0, 0})), "at once");
}

TEST(MemoryReportTest, AmountsAndNumbersAsOneReadsThem) {
  EXPECT_EQ(BytesText(-5e6), "0 B");
  EXPECT_EQ(BytesText(12.3e6), "12.3 MB");
  EXPECT_EQ(DurationText(0), "0 s");
  EXPECT_EQ(BytesText(1e30), BytesText(1e19));
  EXPECT_EQ(CountedText(1, "worker"), "1 worker");
  EXPECT_EQ(CountedText(0, "worker"), "0 workers");
}

// Long enough for a rate of growth: some 30 s.
Synthetic LongRun() {
  Synthetic run = TwoWorkers();
  run.costs = testing::Always({.read = 1, .decode = 12, .augment = 3, .step = 40});
  return run;
}

std::string NoteOfWorkers(traces::TraceData data) {
  const auto notes = MemoryNotes(Diagnose(*traces::MakeTrace(std::move(data))));
  return notes.empty() ? std::string() : English(notes.front().statement);
}

Walk Flat(double) {
  return Walk{};
}

TEST(MemoryReportTest, ARateOfGrowthIsSaidOnlyOfWorkersThatWereSeenLongEnough) {
  EXPECT_EQ(NoteOfWorkers(WithMemory(TwoWorkers(), Copying)).find("grow"), std::string::npos);
  EXPECT_EQ(NoteOfWorkers(WithMemory(TwoWorkers(), Flat)).find("grow"), std::string::npos);
  const std::string grows = NoteOfWorkers(WithMemory(LongRun(), Copying));
  EXPECT_NE(grows.find("; each grows by "), std::string::npos) << grows;
  const std::string flat = NoteOfWorkers(WithMemory(LongRun(), Flat));
  EXPECT_NE(flat.find("; none grows"), std::string::npos) << flat;
}

// Only the whole private memory was recorded, not whether it was shared before. A slope over 1.8 s
// made "224 MB (223 MB to 224 MB) at the end of an epoch", where the table of workers said that
// nothing is known of growth.
TEST(MemoryReportTest, GrowthOfUnknownCauseIsForecastOnlyWhereItWasSeenLongEnough) {
  const auto with_uss = [](const Synthetic& run) {
    traces::TraceData data = WithMemory(run, testing::Leaking);
    std::erase_if(data.counters, [&](const traces::CounterSample& sample) {
      const std::string_view name = data.strings[sample.name.value];
      return sample.process.value != 0 && name != "uss_bytes";
    });
    return Diagnose(*traces::MakeTrace(std::move(data)));
  };
  const Diagnosis brief = with_uss(TwoWorkers());
  ASSERT_TRUE(brief.loader->memory.growth.copied.certain());
  ASSERT_FALSE(brief.loader->memory.attributed);
  for (const MemoryForecast& forecast : MemoryForecasts(brief)) {
    EXPECT_DOUBLE_EQ(forecast.total.low, forecast.total.high);
    EXPECT_FALSE(forecast.out_of_memory);
  }
  const std::string note = English(MemoryNotes(brief)[1].statement);
  EXPECT_NE(note.find("; whether they grow is not known from so short a recording"),
            std::string::npos)
      << note;
  EXPECT_EQ(note.find("at the end of an epoch"), std::string::npos) << note;
  const Diagnosis seen = with_uss(LongRun());
  EXPECT_TRUE(seen.loader->memory.growth.foreseeable);
  const std::string known = English(MemoryNotes(seen)[1].statement);
  EXPECT_EQ(known.find("so short a recording"), std::string::npos) << known;
}

TEST(MemoryReportTest, WorkersThatDifferAreNotSpokenOfAsOne) {
  testing::Told told;
  told.last = Flat;
  const std::string note = NoteOfWorkers(WithMemory(LongRun(), testing::Leaking, told));
  const Walk end = testing::Leaking(1);
  EXPECT_EQ(note.find("2 workers with 40.0 MB to " + BytesText(end.own) + " of their own each"), 0u)
      << note;
  EXPECT_NE(note.find("; some grow by "), std::string::npos) << note;
}

TEST(MemoryReportTest, SpeaksOfOneWorkerInTheSingular) {
  Synthetic run = LongRun();
  run.workers = 1;
  const std::string note = NoteOfWorkers(WithMemory(run, Flat));
  EXPECT_EQ(note.find("1 worker with 40.0 MB of its own at the end (anonymous memory; USS "
                      "would add mapped files and batches), 900 MB shared with its "
                      "parent"),
            0u)
      << note;
  EXPECT_NE(note.find("; it does not grow"), std::string::npos) << note;
}

// /dev/shm has 8 GB; the forecast compares the needs of one rank with its half.
TEST(MemoryReportTest, ThePartOfARankIsNotCalledTheSizeOfDevShm) {
  traces::TraceData data = testing::SideBySide({}, 2);
  data.facts["shm.size"] = "8000000000";
  const auto notes = MemoryNotes(Diagnose(*traces::MakeTrace(std::move(data))));
  ASSERT_FALSE(notes.empty());
  const std::string note = English(notes.front().statement);
  EXPECT_NE(note.find("in reserve; it gives each of 2 ranks 4.00 GB)"), std::string::npos) << note;
}

TEST(MemoryReportTest, TextAndJsonTellOfBothSettings) {
  const auto trace = traces::MakeTrace(WithMemory(LongRun(), Copying));
  const Report report = BuildReport(*trace, "t");
  const std::string text =
      std::regex_replace(ReportText(report, Colour::kOff), std::regex("\\s+"), " ");
  EXPECT_NE(text.find("through copy on write of memory shared"), std::string::npos) << text;
  const std::vector<MemoryNote> notes = MemoryNotes(report.diagnosis);
  ASSERT_GE(notes.size(), 2u);
  EXPECT_EQ(notes.front().severity, Severity::kWarning);
  EXPECT_EQ(notes[1].severity == Severity::kCritical,
            MemoryForecasts(report.diagnosis).front().out_of_memory.has_value());
  const std::string json = ReportJson(report);
  for (const char* key : {"\"forecasts\"", "\"copied\"", "\"room_bytes\"", "\"shared_memory\""}) {
    EXPECT_NE(json.find(key), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace penstock::analyzer
