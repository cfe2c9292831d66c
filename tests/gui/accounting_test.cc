// SPDX-License-Identifier: Apache-2.0
//
// Views, tables and reports must show the same sums, rates and gains.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <simdjson.h>

#include "analyzer/report/phrases.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/words/verdict.h"
#include "gui/model/cards.h"
#include "gui/model/document.h"
#include "gui/model/forecast.h"
#include "gui/model/panels/stages.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/staircase.h"
#include "tests/analyzer/long_trace/long_trace.h"
#include "tests/analyzer/synthetic.h"
#include "tests/gui/selected_sums.h"
#include "tests/gui/support.h"
#include "tests/paths.h"
#include "traces/names.h"
#include "traces/pack.h"

namespace penstock::gui {
namespace {

namespace fs = std::filesystem;
using traces::StageId;

std::vector<fs::path> TracesOfTheTree() {
  const fs::path root = fs::path(paths::kSourceFolder);
  std::vector<fs::path> files;
  for (const char* folder : {"traces/samples", "tests/validation/measured/traces"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() == ".penstock" || path.extension() == ".recording") {
        files.push_back(path);
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Read {
  fs::path file;
  std::shared_ptr<const traces::Trace> trace;
  std::shared_ptr<Analysis> analysis;
};

// Every trace of the tree with its report. They are made once.
const std::vector<Read>& Reports() {
  static const std::vector<Read> reports = [] {
    std::vector<Read> made;
    for (const fs::path& file : TracesOfTheTree()) {
      auto opened = traces::OpenTrace(file);
      if (!opened) continue;
      Read read{file, std::move(*opened), std::make_shared<Analysis>()};
      read.analysis->report = analyzer::BuildReport(*read.trace, file.string());
      made.push_back(std::move(read));
    }
    return made;
  }();
  return reports;
}

struct Sum {
  std::string name;
  std::uint64_t count = 0;
  double wall = 0;
};

std::vector<Sum> SumsOfJson(const std::string& text) {
  simdjson::dom::parser parser;
  std::vector<Sum> sums;
  const simdjson::dom::element whole = parser.parse(text);
  const simdjson::dom::array rows = whole["stages"].get_array();
  for (const simdjson::dom::element row : rows) {
    sums.push_back({std::string(row["name"].get_string().value()), row["count"].get_uint64(),
                    row["wall_s"].get_double()});
  }
  return sums;
}

const StageSum* SumOfStage(const std::vector<StageSum>& sums, const std::string& name) {
  const auto stage = traces::StageNamed(name);
  const auto found = std::find_if(sums.begin(), sums.end(),
                                  [&](const StageSum& sum) { return sum.stage == stage; });
  return found == sums.end() ? nullptr : &*found;
}

TEST(AccountingTest, ASelectionOfTheWholeRunIsItsReportInEveryTraceOfTheTree) {
  ASSERT_EQ(Reports().size(), TracesOfTheTree().size());
  ASSERT_GT(Reports().size(), 50U);
  std::size_t compared = 0;
  for (const auto& [file, trace, analysis] : Reports()) {
    const std::int64_t length = (trace->end() - trace->begin()).value;
    const std::vector<StageSum> selected = SumsOf(trace, {0, length});
    const std::vector<Sum> json = SumsOfJson(analyzer::ReportJson(analysis->report));
    const std::vector<StageLine> table = BuildStages({trace.get(), std::nullopt}, *analysis);
    ASSERT_EQ(json.size(), analysis->report.stages.size()) << file;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const analyzer::StageRow& row = analysis->report.stages[i];
      EXPECT_EQ(json[i].name, row.name) << file;
      EXPECT_EQ(json[i].count, row.count) << file << " " << row.name;
      EXPECT_NEAR(json[i].wall, row.wall, 1e-8 * row.wall + 1e-9) << file << " " << row.name;
      const StageSum* sum = SumOfStage(selected, row.name);
      ASSERT_NE(sum, nullptr) << file << " " << row.name;
      EXPECT_EQ(sum->count, row.count) << file << " " << row.name;
      EXPECT_NEAR(static_cast<double>(sum->time) * 1e-9, row.wall, 1e-9) << file << " " << row.name;
      const auto line = std::find_if(table.begin(), table.end(), [&](const StageLine& one) {
        return !one.is_part() && one.name == row.name;
      });
      ASSERT_NE(line, table.end()) << file << " " << row.name;
      EXPECT_EQ(line->count, row.count) << file << " " << row.name;
      EXPECT_DOUBLE_EQ(line->wall, row.wall) << file << " " << row.name;
      EXPECT_NEAR(line->share, row.share, 1e-6 * row.share) << file << " " << row.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5 * Reports().size());
}

// Traces of the tree and made-up ones, with their reports: long and short epochs, workers that
// start anew, a start-up that does not recur, a step as the limit, a loop without workers.
std::vector<Read> ReportsOfAll() {
  using analyzer::testing::Always;
  using analyzer::testing::Synthetic;
  std::vector<Read> all = Reports();
  std::vector<std::pair<std::string, std::shared_ptr<const traces::Trace>>> made;
  const auto add = [&](const char* name, const Synthetic& run) {
    made.emplace_back(name, analyzer::testing::SyntheticTrace(run));
  };
  add("decode", {.costs = Always({.decode = 30, .step = 2})});
  add("step", {.costs = Always({.read = 0.2, .decode = 1, .step = 30})});
  add("copies", {.costs = Always({.decode = 12, .step = 3, .h2d = 4})});
  add("no workers", {.workers = 0, .costs = Always({.decode = 12})});
  add("slow start", {.worker_start = 900, .costs = Always({.decode = 8})});
  add("starts anew", {.batches = 20, .epochs = 5, .worker_start = 900, .worker_stop = 300});
  const fs::path file = fs::path(::testing::TempDir()) / "accounting_run.penstock";
  auto out = traces::CreatePacked(file);
  EXPECT_TRUE(out);
  // Like run.penstock of make_gui_traces.cc.
  analyzer::testing::WriteLongTrace({.spans = 20'000, .workers = 2, .epoch_batches = 20}, **out);
  EXPECT_TRUE((*out)->Finish());
  auto opened = traces::OpenTrace(file);
  EXPECT_TRUE(opened);
  made.emplace_back("run", std::move(*opened));
  for (auto& [name, trace] : made) {
    Read read{name, trace, std::make_shared<Analysis>()};
    read.analysis->report = analyzer::BuildReport(*trace, name);
    all.push_back(std::move(read));
  }
  return all;
}

std::string OnOneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || line.empty() || line.back() != ' ') line += space ? ' ' : c;
  }
  return line;
}

// The what-if must predict the recorded setting at the recorded rate.
void ExpectRecordedIsPredictedAtItsRate(const Read& read) {
  const analyzer::Diagnosis& diagnosis = read.analysis->report.diagnosis;
  const auto answer = Ask(diagnosis, Recorded(diagnosis));
  if (!answer) return;  // the rate breaks a law (laws.h), or too little was recorded
  EXPECT_EQ(answer->measured, diagnosis.base_rate()) << read.file;
  EXPECT_EQ(answer->whole_run, diagnosis.whole_run) << read.file;
  const analyzer::Prediction& predicted = answer->chosen.predicted;
  EXPECT_NEAR(predicted.rate.estimate / diagnosis.base_rate(), 1, 1e-9) << read.file;
  EXPECT_NEAR(predicted.speedup, 1, 1e-9) << read.file;
  for (const analyzer::Configuration& one : answer->curve) {
    EXPECT_NEAR(one.predicted.rate.estimate, one.predicted.speedup * answer->measured,
                1e-9 * one.predicted.rate.estimate)
        << read.file << " " << one.workers;
    if (diagnosis.whole_run) continue;
    EXPECT_LE(one.predicted.rate.estimate, diagnosis.ceiling * (1 + 1e-9))
        << read.file << " " << one.workers;
  }
}

// The text report, the HTML page, the JSON and the dashboard must have the same ceiling.
void ExpectOneCeiling(const Read& read) {
  const analyzer::Report& report = read.analysis->report;
  const analyzer::Diagnosis& diagnosis = report.diagnosis;
  const analyzer::Plan& plan = report.plan;
  const std::string now = analyzer::ShortNumber(diagnosis.base_rate());
  const std::string ceiling = analyzer::ShortNumber(diagnosis.ceiling);
  const std::string text = OnOneLine(analyzer::ReportText(report, analyzer::Colour::kOff));
  const std::string page = analyzer::PlanHtml(plan, Language::kEnglish);
  if (diagnosis.headroom() <= analyzer::kMostTimes) {
    const std::vector<Card> cards = CardsOf(report, Language::kEnglish);
    const auto free = std::find_if(cards.begin(), cards.end(), [](const Card& card) {
      return card.title == TextOf(Text::kFreeData, Language::kEnglish);
    });
    ASSERT_NE(free, cards.end()) << read.file;
    EXPECT_EQ(free->line.rfind(now + " → " + ceiling + " ", 0), 0U) << read.file << free->line;
    if (const auto line = text.find("; all data "); line != std::string::npos) {
      EXPECT_NE(text.find("(" + now + " -> " + ceiling + " ", line), std::string::npos)
          << read.file << text.substr(line, 60);
    }
  }
  EXPECT_EQ(plan.now.estimate, diagnosis.base_rate()) << read.file;
  if (plan.steps.empty() || plan.no_ceiling) return;
  if (plan.other_copies) {
    EXPECT_GT(plan.ceiling, diagnosis.ceiling) << read.file;
    return;
  }
  EXPECT_EQ(plan.ceiling, diagnosis.ceiling) << read.file;
  EXPECT_NE(text.find(" now " + now + " "), std::string::npos) << read.file;
  EXPECT_NE(text.find(" = " + ceiling + " "), std::string::npos) << read.file;
  EXPECT_NE(page.find("now: " + now), std::string::npos) << read.file;
  EXPECT_NE(page.find("the training step alone: " + ceiling), std::string::npos) << read.file;
  const Staircase stairs = StaircaseOf(report, Language::kEnglish);
  EXPECT_EQ(stairs.stairs.front().figure.rfind(now + " ", 0), 0U) << read.file;
  EXPECT_EQ(stairs.stairs.back().figure.rfind(ceiling + " ", 0), 0U) << read.file;
}

TEST(AccountingTest, ThePlanTheGridAndTheGainsHaveOneBaseAndOneCeilingInEveryTrace) {
  std::size_t planned = 0;
  std::size_t whole = 0;
  for (const Read& read : ReportsOfAll()) {
    const analyzer::Report& report = read.analysis->report;
    if (!report.diagnosis.loader || !report.diagnosis.needs.empty()) continue;
    ExpectRecordedIsPredictedAtItsRate(read);
    if (!report.plan.missing.empty()) continue;
    ExpectOneCeiling(read);
    if (!report.plan.steps.empty()) ++planned;
    if (report.diagnosis.whole_run) ++whole;
  }
  EXPECT_GT(planned, 20U);
  EXPECT_GT(whole, 1U);
}

TEST(AccountingTest, TheWaitSaysItsBaseAndThatOfTheWholeRunIsTheStageTables) {
  std::size_t whole = 0;
  std::size_t steady = 0;
  for (const Read& read : ReportsOfAll()) {
    const analyzer::Report& report = read.analysis->report;
    const analyzer::Diagnosis& diagnosis = report.diagnosis;
    if (!analyzer::WaitKnown(diagnosis)) continue;
    const auto row = std::find_if(report.stages.begin(), report.stages.end(),
                                  [](const auto& one) { return one.stage == StageId::kWait; });
    ASSERT_NE(row, report.stages.end()) << read.file;
    const std::string said = English(analyzer::WaitOf(report));
    const std::string waited = analyzer::PercentText(diagnosis.wait_fraction);
    const std::string of_whole = analyzer::PercentText(row->share) + " over the whole run";
    if (diagnosis.whole_run) {
      EXPECT_EQ(said.rfind(waited + " of the loop over the whole run", 0), 0U)
          << read.file << " " << said;
      if (diagnosis.run.loaders.size() > 1) continue;
      EXPECT_NEAR(diagnosis.wait_fraction, row->share, 0.005) << read.file;
      ++whole;
    } else {
      const std::string base =
          diagnosis.loader->steady.lasts() ? "in the steady part" : "after the queues have filled";
      EXPECT_EQ(said.rfind(waited + " of the loop " + base, 0), 0U) << read.file << " " << said;
      const bool same = analyzer::PercentText(row->share) == waited;
      EXPECT_EQ(said.find(of_whole) == std::string::npos, same) << read.file << " " << said;
      if (!same) ++steady;
    }
    EXPECT_NE(OnOneLine(analyzer::ReportText(report, analyzer::Colour::kOff)).find(" wait " + said),
              std::string::npos)
        << read.file;
  }
  EXPECT_GT(whole, 1U);
  EXPECT_GT(steady, 10U);
}

// The predicted rate of a change must be its base times its speed-up.
void ExpectOneBase(const Read& read, const std::string& what,
                   const analyzer::Prediction& predicted) {
  const analyzer::Diagnosis& diagnosis = read.analysis->report.diagnosis;
  const Forecast forecast = ForecastOf(diagnosis, predicted);
  if (forecast.before <= 0) return;
  EXPECT_EQ(forecast.before, diagnosis.base_rate()) << read.file << " " << what;
  EXPECT_NEAR(forecast.after.estimate / forecast.before / forecast.speedup, 1, 1e-9)
      << read.file << " " << what;
  if (forecast.effect == Effect::kGain) {
    EXPECT_GT(forecast.after.low, forecast.before) << read.file << " " << what;
    EXPECT_GT(forecast.speedup, 1) << read.file << " " << what;
  }
}

TEST(AccountingTest, EveryPredictionIsToldOnOneBaseAndNoLossIsAGain) {
  std::size_t told = 0;
  for (const Read& read : Reports()) {
    const analyzer::Report& report = read.analysis->report;
    if (!report.diagnosis.loader) continue;
    const analyzer::Suggestion& suggestion = report.diagnosis.loader->suggestion;
    if (suggestion.changes) {
      ExpectOneBase(read, "suggestion", suggestion.predicted);
      ++told;
    }
    for (const analyzer::TriedChange& change : report.changes) {
      ExpectOneBase(read, change.option, change.predicted);
    }
    for (const analyzer::Finding& finding : report.findings) {
      if (finding.predicted) ExpectOneBase(read, finding.id, *finding.predicted);
    }
  }
  EXPECT_GT(told, 10U);
}

TEST(AccountingTest, NoReportKeepsTheLoaderBesideAFindingThatSurelyGains) {
  std::size_t beside = 0;
  for (const Read& read : ReportsOfAll()) {
    const analyzer::Report& report = read.analysis->report;
    if (!report.diagnosis.loader || report.diagnosis.loader->suggestion.changes) continue;
    const analyzer::Statement keep = analyzer::Keep(report);
    if (keep.Is(analyzer::words::kKeepBeside)) ++beside;
    if (!keep.Is(analyzer::words::kKeep)) continue;
    for (const analyzer::Finding& finding : report.findings) {
      if (!finding.predicted || finding.predicted->at_most) continue;
      EXPECT_FALSE(finding.predicted->SurelyGains()) << read.file << " " << finding.id;
    }
  }
  EXPECT_GT(beside, 0U);
}

TEST(AccountingTest, NoCardHasAColourOrAnIntervalWithoutASteadyPart) {
  for (const Read& read : Reports()) {
    const analyzer::Report& report = read.analysis->report;
    const bool steady = report.diagnosis.loader && report.diagnosis.loader->steady.steady;
    for (const Card& card : CardsOf(report, Language::kEnglish)) {
      EXPECT_NE(card.figure, "0.00") << read.file << " " << card.title;
      EXPECT_FALSE(card.figure == "–" && card.line.empty())
          << read.file << " " << card.title << ": nothing says what to do to know it";
      if (steady) continue;
      EXPECT_NE(card.tone, Tone::kGood) << read.file << " " << card.title;
      EXPECT_EQ(card.line.find("(90 %)"), std::string::npos) << read.file << " " << card.line;
    }
  }
}

TEST(AccountingTest, ADecodeInsideADecodeAndAReadInsideIsCountedOnce) {
  const std::shared_ptr<const traces::Trace> trace =
      testing::MakeThreads({{{0, 1000, StageId::kDecode, wire::kNoBatch, "PIL.load"},
                             {100, 800, StageId::kDecode, wire::kNoBatch, "libjpeg"},
                             {200, 50, StageId::kRead}}});
  const std::vector<StageSum> sums = SumsOf(trace, {0, 1000});
  ASSERT_NE(SumOfStage(sums, "decode"), nullptr);
  EXPECT_EQ(SumOfStage(sums, "decode")->count, 1U);
  EXPECT_EQ(SumOfStage(sums, "decode")->time, 950);
  EXPECT_EQ(SumOfStage(sums, "read")->time, 50);
}

// 4.85 s of two threads had 2.42 threads in decode, since each decode was counted twice.
TEST(AccountingTest, ASelectionHasNoMoreThreadsInAStageThanThereAre) {
  const std::vector<testing::TestSpan> one = {
      {0, 1000, StageId::kDecode, wire::kNoBatch, "PIL.load"},
      {100, 800, StageId::kDecode, wire::kNoBatch, "libjpeg"}};
  const std::shared_ptr<const traces::Trace> trace =
      testing::MakeThreads({one, one, {{0, 2000, StageId::kIdle}}});
  const TimeRange whole{0, 2000};
  const std::vector<StageSum> sums = SumsOf(trace, whole);
  ASSERT_NE(SumOfStage(sums, "decode"), nullptr);
  EXPECT_NEAR(SumOfStage(sums, "decode")->threads(whole).value_or(-1), 1, 1e-9)
      << "two in half of the time";
  const TimeRange half{0, 1000};
  const std::vector<StageSum> of_half = SumsOf(trace, half);
  ASSERT_NE(SumOfStage(of_half, "decode"), nullptr);
  EXPECT_NEAR(SumOfStage(of_half, "decode")->threads(half).value_or(-1), 2, 1e-9);
  EXPECT_EQ(SumOfStage(sums, "decode")->threads({}), std::nullopt);
}

TEST(AccountingTest, ReadsOfOneFileAreDrawnAsLongAsTheyTake) {
  traces::TraceData data;
  traces::ProcessInfo process;
  process.pid = 100;
  data.processes.push_back(process);
  traces::ThreadInfo thread;
  thread.tid = 100;
  data.threads.push_back(thread);
  traces::Span read;
  read.start = TimeNs{1000};
  read.duration = TimeNs{900};
  read.busy = TimeNs{30};
  read.stage = StageId::kRead;
  traces::Span decode;
  decode.start = TimeNs{1100};
  decode.duration = TimeNs{800};
  decode.stage = StageId::kDecode;
  data.spans.push_back({read, decode});
  const auto trace = traces::MakeTrace(std::move(data));
  const Timeline timeline = *BuildTimeline(*trace);
  const Level& level = timeline.lanes[0].levels[0];
  ASSERT_EQ(level.size(), 2U);  // both on one level: neither span lies inside the other
  EXPECT_EQ(level.length(0), 30);
  EXPECT_EQ(level.length(1), 800);
}

}  // namespace
}  // namespace penstock::gui
