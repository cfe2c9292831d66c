// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sql_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

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

TEST(SqlDeskTest, TwoNumericColumnsAreACurve) {
  using std::int64_t;
  const auto curve =
      CurveOf(Rows({{"x", int64_t{3}, 0.5}, {"y", int64_t{1}, 2.5}, {"z", kNull, 1.0}}));
  ASSERT_TRUE(curve.has_value());
  EXPECT_EQ(curve->x, 1U);
  EXPECT_EQ(curve->y, 2U);
  EXPECT_THAT(curve->points, ElementsAre(std::pair(1.0, 2.5), std::pair(3.0, 0.5)));
  EXPECT_FALSE(CurveOf(Rows({{"x", int64_t{3}}, {"y", int64_t{4}}})).has_value());
  EXPECT_FALSE(CurveOf(Rows({{int64_t{3}, int64_t{3}}})).has_value()) << "one point";
  EXPECT_FALSE(IsNumeric(Rows({{kNull}}), 0));
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
  EXPECT_EQ(SqlValueText(table.rows[0][0]), "1.23456789e+09") << "short, for a cell";
}

}  // namespace
}  // namespace penstock::gui
