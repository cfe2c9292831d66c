// SPDX-License-Identifier: Apache-2.0
//
// The chart beside an answer in SQL: bars where rows have names, a curve where they have an order.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/model/words/texts.h"
#include "traces/exchange/sql_query.h"

namespace penstock::gui {

struct SqlChart {
  std::size_t x = 0;  // columns; of bars, `x` names the rows
  std::size_t y = 0;
  std::vector<std::pair<double, double>> points;     // of a curve, x strictly ascending
  std::vector<std::pair<std::string, double>> bars;  // in the order of the rows, none below 0
};

// Bars name the rows by the first column of texts that differ, or, in a short table without texts,
// by the last column of ids. They show the first column of times, or else of bytes, or else the
// first other number. A table without texts is a curve if its first number ascends strictly,
// through at least three values. nullopt: neither.
[[nodiscard]] std::optional<SqlChart> SqlChartOf(const traces::SqlTable& table);

// "wall by stage", "waited over delivered": the values have their unit with them, so the names of
// times are without "_ns" and "_s".
[[nodiscard]] std::string SqlChartTitle(const traces::SqlTable& table, const SqlChart& chart,
                                        Language language);

// How an axis from `low` to `high`, or a bar, writes the values of a column: with the unit that the
// column's name says, with as many digits as tell the ticks apart.
[[nodiscard]] std::function<std::string(double)> SqlAxisText(std::string_view column, double low,
                                                             double high);

}  // namespace penstock::gui
