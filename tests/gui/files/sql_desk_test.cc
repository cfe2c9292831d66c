// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sql_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/model/run_model.h"
#include "tests/analyzer/synthetic.h"
#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using traces::SqlTable;

SqlTable Rows(std::vector<std::vector<traces::SqlValue>> rows) {
  SqlTable table;
  for (std::size_t c = 0; c < rows.front().size(); ++c) {
    table.columns.push_back(std::string(1, static_cast<char>('a' + c)));
  }
  table.rows = std::move(rows);
  return table;
}

const traces::SqlValue kNull;

TEST(SqlDeskTest, AQuestionIsAnsweredOrRefusedInOneLineOfTheLanguage) {
  const traces::testing::TempFolder folder;
  SqlDesk desk(folder / "");
  const std::shared_ptr<const traces::Trace> trace = analyzer::testing::SyntheticTrace({});
  const SqlReply reply = desk.Ask(trace, "SELECT COUNT(*) FROM batches");
  ASSERT_TRUE(reply.good()) << SqlProblemText(reply, Language::kEnglish);
  EXPECT_EQ(std::get<std::int64_t>(reply.answer.table.rows[0][0]), 200);
  EXPECT_EQ(SqlProblemText(reply, Language::kEnglish), "");
  const SqlReply wrong = desk.Ask(trace, "SELECT nosuch FROM spans");
  EXPECT_FALSE(wrong.good());
  EXPECT_THAT(SqlProblemText(wrong, Language::kEnglish), HasSubstr("nosuch"));
  const SqlReply forbidden = desk.Ask(trace, "DELETE FROM span");
  EXPECT_THAT(SqlProblemText(forbidden, Language::kEnglish), HasSubstr("Only SELECT"));
  EXPECT_THAT(SqlProblemText(forbidden, Language::kChinese), HasSubstr("只能"));
  // Another trace has its own database. Several threads may ask at once; they wait for one another.
  analyzer::testing::Synthetic shorter;
  shorter.batches = 50;
  const std::shared_ptr<const traces::Trace> other = analyzer::testing::SyntheticTrace(shorter);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&desk, &trace, &other, i] {
      const SqlReply one = desk.Ask(i % 2 == 0 ? trace : other, "SELECT COUNT(*) FROM batches");
      EXPECT_EQ(std::get<std::int64_t>(one.answer.table.rows[0][0]), i % 2 == 0 ? 200 : 50);
    });
  }
  threads.clear();
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
  // A question that is stopped before there is a database makes no database.
  std::stop_source stop;
  stop.request_stop();
  SqlDesk stopped(folder / "");
  const SqlReply none = stopped.Ask(trace, "SELECT 1", stop.get_token());
  EXPECT_EQ(none.answer.problem, traces::SqlProblem::kStopped);
  EXPECT_EQ(SqlProblemText(none, Language::kEnglish), "Stopped.");
  EXPECT_TRUE(stopped.Ask(trace, "SELECT 1").good());
  SqlDesk nowhere(folder / "missing");
  EXPECT_THAT(SqlProblemText(nowhere.Ask(trace, "SELECT 1"), Language::kEnglish),
              HasSubstr("missing"));
}

// Adds a thread on which spans lie inside one another, as in a dataset of Pillow and torchvision.
void AddNest(traces::TraceData& data) {
  using traces::StageId;
  std::vector<traces::Span>& spans = data.spans.emplace_back();
  data.threads.push_back({ProcessId{0}, 4321, "nest"});
  const auto add = [&](StageId stage, const char* name, std::int64_t start, std::int64_t length,
                       std::int64_t cpu = -1, std::int64_t busy = -1) {
    traces::Span span;
    span.stage = stage;
    span.name = data.Intern(name);
    span.start = TimeNs{10'000'000'000 + start};
    span.duration = TimeNs{length};
    span.cpu = TimeNs{cpu};
    span.busy = TimeNs{busy};
    span.bytes = Bytes{1000};
    spans.push_back(span);
  };
  for (std::int64_t at = 0; at < 50'000; at += 10'000) {
    add(StageId::kSample, "ImageFolder", at, 9000, 7000);
    add(StageId::kDecode, "PIL.open", at + 500, 300, 200);
    add(StageId::kRead, "file", at + 600, 3000, -1, 400);
    add(StageId::kDecode, "PIL.convert", at + 1000, 3000, 2900);
    add(StageId::kDecode, "jpeg", at + 1100, 2500);
    add(StageId::kDecode, "opencv", at + 4200, 300);
    add(StageId::kAugment, "Compose", at + 5000, 3000, 2500);
    add(StageId::kAugment, "Resize", at + 5100, 1000);
  }
  add(StageId::kSample, "waits before its read", 60'000, 5000, 1000);
  add(StageId::kRead, "file", 62'000, 1000);
  add(StageId::kRead, "inside another", 62'100, 500);
  add(StageId::kAugment, "of a batch", 70'000, 1000, 900);
  add(StageId::kAugment, "inside", 70'100, 500, 400);
  add(StageId::kFetch, "without samples", 80'000, 5000, 4000);
  add(StageId::kTokenize, "tokenize", 80'500, 1000);
  add(StageId::kCollate, "collate", 84'000, 900, 800);
  add(StageId::kDecode, "in collate", 84'100, 100, 100);
  add(StageId::kWait, "next", 90'000, 1000);
  add(StageId::kWait, "next of another loader", 90'100, 800);
}

TEST(SqlDeskTest, TheSummaryOfStagesIsThatOfTheReport) {
  analyzer::testing::Synthetic run;
  run.batches = 20;
  traces::TraceData data = analyzer::testing::MakeSynthetic(run);
  AddNest(data);
  const std::shared_ptr<const traces::Trace> trace = traces::MakeTrace(std::move(data));
  const analyzer::StageTable stages = analyzer::BuildRunModel(*trace).stages;
  const traces::testing::TempFolder folder;
  SqlDesk desk(folder / "");
  const SqlReply reply = desk.Ask(
      trace,
      "SELECT stage, count, wall_ns, COALESCE(cpu_ns, 0), COALESCE(bytes, 0) FROM stage_summary "
      "WHERE stage <> 'step'");
  ASSERT_TRUE(reply.good()) << SqlProblemText(reply, Language::kEnglish);
  std::set<std::string> seen;
  for (const auto& row : reply.answer.table.rows) {
    const auto number = [&row](std::size_t c) { return std::get<std::int64_t>(row[c]); };
    const std::string& name = std::get<std::string>(row[0]);
    seen.insert(name);
    for (std::size_t id = 0; id < wire::kStageCount; ++id) {
      const auto stage = static_cast<traces::StageId>(id);
      if (traces::StageName(stage) != name) continue;
      EXPECT_EQ(number(1), static_cast<std::int64_t>(stages[stage].count)) << name;
      EXPECT_EQ(number(2), stages[stage].wall.value) << name;
      EXPECT_LE(std::abs(number(3) - stages[stage].cpu.value), 20) << name << ": parts are rounded";
      EXPECT_EQ(number(4), static_cast<std::int64_t>(stages[stage].bytes.value)) << name;
    }
  }
  for (const char* name : {"read", "decode", "augment", "tokenize", "sample", "collate", "fetch"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

TEST(SqlDeskTest, TheRowsAreCountedInTheLanguage) {
  SqlReply reply;
  reply.seconds = 0.5;
  reply.answer.table = Rows({{"x"}});
  EXPECT_THAT(SqlRowsText(reply, Language::kEnglish), StartsWith("1 row, "));
  EXPECT_THAT(SqlRowsText(reply, Language::kChinese), StartsWith("1 行，"));
  reply.answer.table.cut = true;
  EXPECT_THAT(SqlRowsText(reply, Language::kEnglish), StartsWith("first rows only: 1, "));
  reply.answer.table = Rows({{"x"}, {"y"}});
  EXPECT_THAT(SqlRowsText(reply, Language::kEnglish), StartsWith("2 rows, "));
  reply.answer.table.rows.clear();
  EXPECT_THAT(SqlRowsText(reply, Language::kEnglish), StartsWith("0 rows, "));
}

TEST(SqlDeskTest, ATraceWithManySpansSaysWhyNothingIsShownYet) {
  EXPECT_EQ(SqlManySpansText(10'000'000, Language::kEnglish),
            "10.0M spans: the first query builds a database, which takes a while. Press Run.");
  EXPECT_THAT(SqlManySpansText(10'000'000, Language::kChinese), StartsWith("共 10.0M 条记录"));
}

TEST(SqlDeskTest, AColumnHasTheWidthOfItsLongestCell) {
  const auto fits = SqlColumnFits(
      Rows({{"stage", std::int64_t{7}, kNull}, {"x", std::int64_t{36'500'000'000}, kNull}}));
  ASSERT_EQ(fits.size(), 3U);
  EXPECT_FALSE(fits[0].numeric);
  EXPECT_EQ(fits[0].longest, "stage");
  EXPECT_TRUE(fits[1].numeric);
  EXPECT_EQ(fits[1].longest, "36500000000");
  EXPECT_FALSE(fits[2].numeric) << "nothing but NULL";
}

TEST(SqlDeskTest, TheWholePartOfANumberHasNoExponent) {
  const auto text = [](double value) { return SqlValueText(traces::SqlValue(value)); };
  EXPECT_EQ(text(1238646614.25), "1238646614");
  EXPECT_EQ(text(-22671694877.25), "-22671694877");
  EXPECT_EQ(text(1476021.801888021), "1476021.8");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(1e20), "1e+20");
  EXPECT_EQ(text(1e-9), "1e-09");
}

TEST(SqlDeskTest, RowsAreSortedAndWrittenAsCsv) {
  using std::int64_t;
  const SqlTable table = Rows({{"b", int64_t{10}}, {"a,\"c\"", 2.5}, {kNull, kNull}});
  EXPECT_THAT(SortSqlRows(table, -1, false), ElementsAre(0, 1, 2));
  EXPECT_THAT(SortSqlRows(table, 0, false), ElementsAre(2, 1, 0));
  EXPECT_THAT(SortSqlRows(table, 1, true), ElementsAre(0, 1, 2));
  EXPECT_EQ(SqlCsv(table, {1, 0, 2}), "a,b\n\"a,\"\"c\"\"\",2.5\nb,10\n,\n");
}

TEST(SqlDeskTest, ACopyIsAsExactAsTheAnswer) {
  const SqlTable table = Rows({{1234567890.125}, {0.1}});
  EXPECT_EQ(SqlCsv(table, {0, 1}), "a\n1234567890.125\n0.1\n");
  EXPECT_EQ(SqlValueText(table.rows[0][0]), "1234567890") << "short, for a cell";
}

}  // namespace
}  // namespace penstock::gui
