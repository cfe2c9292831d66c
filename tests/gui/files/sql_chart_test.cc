// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sql_chart.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::gui {
namespace {

using std::int64_t;
using ::testing::ElementsAre;
using ::testing::Pair;
using traces::SqlTable;
using traces::SqlValue;

SqlTable Named(std::vector<std::string> columns, std::vector<std::vector<SqlValue>> rows) {
  SqlTable table;
  table.columns = std::move(columns);
  table.rows = std::move(rows);
  return table;
}

const SqlValue kNothing;

TEST(SqlChartTest, RowsWithNamesAreBarsOfTheirTime) {
  const SqlTable table = Named({"stage", "count", "bytes", "wall_ns", "cpu_ns"},
                               {{"decode", int64_t{3840}, int64_t{9}, int64_t{8'110}, kNothing},
                                {"fetch", int64_t{60}, int64_t{9}, int64_t{16'500}, int64_t{1}},
                                {"none", int64_t{0}, int64_t{9}, kNothing, kNothing}});
  const auto chart = SqlChartOf(table);
  ASSERT_TRUE(chart.has_value());
  EXPECT_TRUE(chart->points.empty()) << "stages have no order that a curve could follow";
  EXPECT_THAT(chart->bars, ElementsAre(Pair("decode", 8'110), Pair("fetch", 16'500)));
  EXPECT_EQ(SqlChartTitle(table, *chart, Language::kEnglish), "wall by stage");
  EXPECT_EQ(SqlChartTitle(table, *chart, Language::kChinese), "wall（按 stage）");
}

TEST(SqlChartTest, MomentsAndRatesAreNoDurations) {
  const SqlTable spans =
      Named({"name", "start_ns", "duration_ns"},
            {{"a", int64_t{5'000'000}, int64_t{70}}, {"b", int64_t{5'000'100}, int64_t{9}}});
  const auto bars = SqlChartOf(spans);
  ASSERT_TRUE(bars.has_value());
  EXPECT_THAT(bars->bars, ElementsAre(Pair("a", 70), Pair("b", 9)));
  const SqlTable rates = Named({"name", "calls_per_s"}, {{"a", 3.2}, {"b", 4.5}});
  const auto rate = SqlChartOf(rates);
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(SqlChartTitle(rates, *rate, Language::kEnglish), "calls_per_s by name");
  EXPECT_EQ(SqlAxisText("calls_per_s", 0, 4.5)(3.2), "3.2");
}

TEST(SqlChartTest, NamesThatRepeatNameNoBars) {
  EXPECT_FALSE(
      SqlChartOf(Named({"stage", "wall_ns"},
                       {{"decode", int64_t{1}}, {"decode", int64_t{2}}, {"decode", int64_t{3}}}))
          .has_value());
  const auto chart = SqlChartOf(
      Named({"stage", "name", "count"}, {{"a", "x", int64_t{1}}, {"a", "y", int64_t{2}}}));
  ASSERT_TRUE(chart.has_value());
  EXPECT_THAT(chart->bars, ElementsAre(Pair("x", 1), Pair("y", 2)));
}

TEST(SqlChartTest, WorkersAreBarsByTheirId) {
  const auto chart = SqlChartOf(Named({"process_id", "worker_id", "batches", "busy_ns"},
                                      {{int64_t{1}, int64_t{0}, int64_t{30}, int64_t{500}},
                                       {int64_t{2}, int64_t{1}, int64_t{30}, int64_t{600}}}));
  ASSERT_TRUE(chart.has_value());
  EXPECT_THAT(chart->bars, ElementsAre(Pair("0", 500), Pair("1", 600)));
}

TEST(SqlChartTest, ACurveNeedsAnOrder) {
  const std::vector<std::string> columns = {"delivered_ns", "waited_ns"};
  const SqlTable table = Named(columns, {{kNothing, int64_t{9}},
                                         {int64_t{1}, int64_t{5}},
                                         {int64_t{2}, int64_t{7}},
                                         {int64_t{4}, int64_t{6}}});
  const auto chart = SqlChartOf(table);
  ASSERT_TRUE(chart.has_value());
  EXPECT_THAT(chart->points, ElementsAre(Pair(1, 5), Pair(2, 7), Pair(4, 6)));
  EXPECT_EQ(SqlChartTitle(table, *chart, Language::kEnglish), "waited over delivered");
  EXPECT_FALSE(SqlChartOf(Named(columns, {{int64_t{1}, int64_t{5}},
                                          {int64_t{3}, int64_t{7}},
                                          {int64_t{2}, int64_t{6}}}))
                   .has_value());
  EXPECT_FALSE(
      SqlChartOf(Named(columns, {{int64_t{1}, int64_t{5}}, {int64_t{3}, int64_t{7}}})).has_value())
      << "two values";
}

TEST(SqlChartTest, TicksOfAnAxisDiffer) {
  EXPECT_EQ(SqlAxisText("count", 0, 30'000)(10'000), "10k");
  EXPECT_EQ(SqlAxisText("count", 0, 30'000)(15'500), "15.5k");
  EXPECT_EQ(SqlAxisText("wall_ns", 0, 30e9)(8.11e9), "8.11 s");
  EXPECT_EQ(SqlAxisText("wall_ns", -1e9, 1e9)(-1e6), "-1.00 ms");
  EXPECT_EQ(SqlAxisText("bytes", 0, 5e9)(2e9), "2.00 GB");
  const auto late = SqlAxisText("delivered_ns", 120.1e9, 120.9e9);
  EXPECT_EQ(late(120.2e9), "120.20 s");
  EXPECT_EQ(late(120.3e9), "120.30 s");
  EXPECT_EQ(SqlAxisText("batch", 100'000, 100'010)(100'002), "100002");
}

}  // namespace
}  // namespace penstock::gui
