// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/sql_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/paths.h"
#include "tests/traces/support.h"
#include "traces/exchange/formats.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;

class SqlQueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto trace = OpenTrace(std::filesystem::path(paths::kSamples) / "v1.penstock");
    ASSERT_TRUE(trace.has_value());
    trace_ = std::move(*trace);
    auto made = SqlTrace::Make(*trace_, (folder_ / ""));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    sql_ = std::move(*made);
  }
  SqlProblem Refused(const std::string& question, const SqlLimits& limits = {}) {
    const SqlAnswer answer = sql_->Ask(question, limits);
    EXPECT_TRUE(answer.table.rows.empty()) << question;
    EXPECT_THAT(answer.detail, Not(HasSubstr("\n")));
    detail_ = answer.detail;
    return answer.problem;
  }
  SqlTable Answer(const std::string& question, const SqlLimits& limits = {}) {
    const SqlAnswer answer = sql_->Ask(question, limits);
    EXPECT_EQ(answer.problem, SqlProblem::kNone) << question << ": " << answer.detail;
    return answer.table;
  }

  std::string detail_;
  TempFolder folder_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<SqlTrace> sql_;
};

TEST_F(SqlQueryTest, AQuestionOverTheViewsIsAnswered) {
  const SqlTable table =
      Answer("SELECT COUNT(*) AS spans, SUM(duration_ns) * 1.0 AS ns FROM spans;");
  EXPECT_THAT(table.columns, ElementsAre("spans", "ns"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][0]),
            static_cast<std::int64_t>(trace_->span_count()));
  EXPECT_GT(std::get<double>(table.rows[0][1]), 0);
  EXPECT_FALSE(table.cut);
  for (const char* view : {"spans", "stage_summary", "name_summary", "file_reads", "batches",
                           "workers", "sqlite_master"}) {
    EXPECT_FALSE(Answer(std::string("SELECT * FROM ") + view).columns.empty()) << view;
  }
  const SqlTable values = Answer("SELECT NULL, 7, 'x'");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(values.rows[0][0]));
  EXPECT_EQ(std::get<std::string>(values.rows[0][2]), "x");
}

// A thread with a sample that waits before its read, and the waits of a loop that marks no steps.
TraceData WithWaits() {
  TraceData data;
  data.processes.emplace_back();
  data.threads.emplace_back();
  std::vector<Span>& spans = data.spans.emplace_back();
  const auto add = [&spans](StageId stage, std::int64_t start, std::int64_t length,
                            std::int64_t cpu) {
    Span span;
    span.stage = stage;
    span.start = TimeNs{start};
    span.duration = TimeNs{length};
    span.cpu = TimeNs{cpu};
    spans.push_back(span);
  };
  add(StageId::kSample, 0, 5000, 1000);
  add(StageId::kRead, 2000, 1000, -1);
  for (std::uint32_t batch = 0; batch < 3; ++batch) {
    add(StageId::kWait, 10'000 + batch * 1000, 400, -1);
    spans.back().batch = {batch, 1};
  }
  return data;
}

// A row had 166365840 ns for 3044 calls, and a mean of 34558 ns. Here a read has 1000 ns in its
// call and 2000 ns before it.
TEST_F(SqlQueryTest, TheSummaryTellsWaitingFromCallsAndCountsStepsBetweenWaits) {
  auto made = SqlTrace::Make(*MakeTrace(WithWaits()), folder_ / "");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const auto row = [&made](const std::string& stage) {
    const SqlAnswer answer = (*made)->Ask(
        "SELECT count, wall_ns, mean_ns, max_ns, bytes, queued_ns FROM stage_summary "
        "WHERE stage = '" +
        stage + "'");
    EXPECT_EQ(answer.table.rows.size(), 1U) << stage << answer.detail;
    return answer.table.rows.at(0);
  };
  const SqlValue none = std::monostate{};
  const auto number = [](std::int64_t value) { return SqlValue{value}; };
  EXPECT_THAT(row("read"),
              ElementsAre(number(1), number(3000), number(3000), number(1000), none, number(2000)));
  EXPECT_THAT(row("step"),
              ElementsAre(number(2), number(1200), number(600), number(600), none, none));
}

// "step 5.62 s" was longer than "wait 5.22 s" in a loop that waits for 84 % of its time.
TEST_F(SqlQueryTest, AStepIsWithoutTheWaitForAnotherLoader) {
  TraceData data;
  data.processes.emplace_back();
  data.threads.emplace_back();
  std::vector<Span>& spans = data.spans.emplace_back();
  for (const auto& [stage, start, length, generation] :
       {std::tuple(StageId::kStep, 1000, 40'000, 1), std::tuple(StageId::kWait, 2000, 35'000, 2)}) {
    Span& span = spans.emplace_back();
    span.stage = stage;
    span.start = TimeNs{start};
    span.duration = TimeNs{length};
    span.batch = {0, static_cast<std::uint16_t>(generation)};
  }
  auto made = SqlTrace::Make(*MakeTrace(std::move(data)), folder_ / "");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const SqlAnswer answer =
      (*made)->Ask("SELECT wall_ns FROM stage_summary WHERE stage IN ('step', 'wait') ORDER BY 1");
  ASSERT_EQ(answer.table.rows.size(), 2U) << answer.detail;
  EXPECT_EQ(std::get<std::int64_t>(answer.table.rows[0][0]), 5000);
  EXPECT_EQ(std::get<std::int64_t>(answer.table.rows[1][0]), 35'000);
}

TEST_F(SqlQueryTest, TheDatabaseHasNoNameLeft) {
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
}

TEST_F(SqlQueryTest, AnExportThatIsStoppedLeavesNoFile) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(SqlTrace::Make(*trace_, folder_ / "", stop.get_token()).has_value());
  EXPECT_FALSE(ExportSqlite(*trace_, folder_ / "a.sqlite", stop.get_token()).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
}

TEST_F(SqlQueryTest, NothingIsChangedAndNoOtherFileOpened) {
  const std::string other = (folder_ / "other.sqlite").string();
  const std::string spans = std::to_string(trace_->span_count());
  for (const std::string& bad :
       {std::string("DELETE FROM span"), std::string("DROP VIEW spans"),
        std::string("CREATE TABLE t(x)"), std::string("CREATE TEMP TABLE t(x)"),
        std::string("UPDATE span SET batch = 1"), "ATTACH '" + other + "' AS o",
        std::string("PRAGMA temp_store = 1"), "VACUUM INTO '" + other + "'",
        std::string("BEGIN IMMEDIATE"), std::string("SELECT load_extension('x')")}) {
    const SqlProblem problem = Refused(bad);
    EXPECT_TRUE(problem == SqlProblem::kForbidden || problem == SqlProblem::kWrong) << bad;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
  EXPECT_EQ(std::to_string(std::get<std::int64_t>(Answer("SELECT COUNT(*) FROM span").rows[0][0])),
            spans);
  EXPECT_EQ(Refused("SELECT 1; SELECT 2"), SqlProblem::kSeveral);
  EXPECT_EQ(Refused(" "), SqlProblem::kEmpty);
  EXPECT_EQ(Refused("SELEC 1"), SqlProblem::kWrong);
  EXPECT_THAT(detail_, HasSubstr("SELEC"));
  EXPECT_EQ(Refused("SELECT nosuch FROM spans"), SqlProblem::kWrong);
  EXPECT_THAT(detail_, HasSubstr("nosuch"));
}

TEST_F(SqlQueryTest, OneStepOfAQuestionIsShort) {
  // The questions that are refused would take seconds to hours in a single step of SQLite, and
  // nothing can stop such a step.
  EXPECT_EQ(Refused("SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || 1)"),
            SqlProblem::kWrong);
  EXPECT_THAT(detail_, HasSubstr("too big"));
  EXPECT_EQ(Refused("SELECT 'a' LIKE '" + std::string(101, '%') + "'"), SqlProblem::kWrong);
  EXPECT_THAT(detail_, HasSubstr("complex"));
  EXPECT_EQ(Answer("SELECT hex(zeroblob(100000)) LIKE '%" + std::string(98, '1') + "'").rows.size(),
            1U);
}

TEST_F(SqlQueryTest, WhatTheTraceHasIsSeenWhateverItsLength) {
  TraceData data;
  data.facts["long"] = std::string(600'000, 'x');
  auto made = SqlTrace::Make(*MakeTrace(std::move(data)), folder_ / "");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const SqlAnswer answer = (*made)->Ask("SELECT value FROM fact WHERE key = 'long'");
  ASSERT_EQ(answer.problem, SqlProblem::kNone) << answer.detail;
  EXPECT_EQ(std::get<std::string>(answer.table.rows[0][0]).size(), 600'000U);
}

TEST_F(SqlQueryTest, AQuestionIsStoppedWhileItIsAnswered) {
  SqlLimits limits;
  limits.time = std::chrono::minutes(10);
  std::stop_source stop;
  const std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  EXPECT_EQ(sql_->Ask(endless + "COUNT(*) FROM n WHERE hex(zeroblob(50000 + i % 2)) LIKE '%1%'",
                      limits, stop.get_token())
                .problem,
            SqlProblem::kStopped);
}

TEST_F(SqlQueryTest, AQuestionWithoutEndIsCut) {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  SqlLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Refused(endless + "COUNT(*) FROM n", limits), SqlProblem::kTooLong);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  limits.time = std::chrono::seconds(60);
  limits.rows = 10;
  const SqlTable table = Answer(endless + "i FROM n", limits);
  EXPECT_TRUE(table.cut);
  EXPECT_EQ(table.rows.size(), 10U);
  limits.rows = 1'000'000;
  limits.bytes = 1 << 20;
  const SqlTable large = Answer(endless + "hex(zeroblob(100000)) FROM n", limits);
  EXPECT_TRUE(large.cut);
  EXPECT_LT(large.rows.size(), 10U);
  // Numbers take memory too.
  limits.bytes = 400 * sizeof(SqlValue);
  const SqlTable numbers = Answer(endless + "i, 2, 3, 4 FROM n", limits);
  EXPECT_TRUE(numbers.cut);
  EXPECT_EQ(numbers.rows.size(), 100U);
  EXPECT_EQ(numbers.rows.back().size(), 4U);
  std::string wide = "SELECT 0";
  for (int i = 0; i < 200; ++i) wide += ", 0";
  EXPECT_EQ(Refused(wide), SqlProblem::kWrong);
  EXPECT_THAT(detail_, HasSubstr("too many columns"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(sql_->Ask(endless + "COUNT(*) FROM n", {}, stop.get_token()).problem,
            SqlProblem::kStopped);
  EXPECT_EQ(Answer("SELECT 1").rows.size(), 1U) << "the next question is answered";
}

}  // namespace
}  // namespace penstock::traces
