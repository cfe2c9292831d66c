// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sql_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/files/sql_desk.h"
#include "gui/model/timeline/ticks.h"

namespace penstock::gui {
namespace {

using traces::SqlTable;

bool IsId(std::string_view column) {
  return column == "id" || column == "pid" || column == "tid" || column.ends_with("_id");
}

// Nanoseconds of one unit of a column of times. 0: it has no times; "_per_s" is a rate.
double NsOf(std::string_view column) {
  if (column.ends_with("_ns")) return 1;
  return column.ends_with("_s") && !column.ends_with("per_s") ? 1e9 : 0;
}

bool IsTime(std::string_view column) {
  return NsOf(column) > 0;
}

// A moment of the run is no amount.
bool IsMoment(std::string_view column) {
  return column == "at_ns" || column == "start_ns" || column == "fetch_ns" ||
         column == "fetched_ns" || column == "delivered_ns";
}

// Whether no two rows have the same in the column.
bool Differs(const SqlTable& table, std::size_t column) {
  std::set<std::string> seen;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return seen.insert(SqlValueText(row[column])).second;
  });
}

// The column that names the rows. `named`: there is a column of texts.
std::optional<std::size_t> NameColumn(const SqlTable& table, bool& named) {
  constexpr std::size_t kMostIds = 64;  // more of them are an axis
  std::optional<std::size_t> id;
  named = false;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (IsNumeric(table, c)) {
      if (table.rows.size() <= kMostIds && IsId(table.columns[c]) && Differs(table, c)) id = c;
      continue;
    }
    const bool texts = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row[c]);
    });
    if (texts && Differs(table, c)) return c;
    named = named || texts;
  }
  return named ? std::nullopt : id;
}

// The column whose values a chart shows, but not `without`.
std::optional<std::size_t> ValueColumn(const SqlTable& table, std::size_t without) {
  std::optional<std::size_t> bytes;
  std::optional<std::size_t> other;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c == without || !IsNumeric(table, c)) continue;
    if (IsId(table.columns[c]) || IsMoment(table.columns[c])) continue;
    if (IsTime(table.columns[c])) return c;
    if (!bytes && table.columns[c].ends_with("bytes")) bytes = c;
    if (!other) other = c;
  }
  return bytes ? bytes : other;
}

std::optional<SqlChart> SqlBarsOf(const SqlTable& table, std::size_t name) {
  const auto value = ValueColumn(table, name);
  if (!value) return std::nullopt;
  SqlChart chart{name, *value, {}, {}};
  bool any = false;
  for (const auto& row : table.rows) {
    const auto number = SqlNumber(row[*value]);
    if (!number) continue;
    if (!(*number >= 0) || !std::isfinite(*number)) return std::nullopt;
    any = any || *number > 0;
    chart.bars.emplace_back(SqlValueText(row[name]), *number);
  }
  if (!any || chart.bars.size() < 2) return std::nullopt;
  return chart;
}

std::optional<SqlChart> SqlCurveOf(const SqlTable& table) {
  std::size_t x = 0;
  while (x < table.columns.size() && !IsNumeric(table, x)) ++x;
  if (x == table.columns.size()) return std::nullopt;
  const auto y = ValueColumn(table, x);
  if (!y) return std::nullopt;
  SqlChart chart{x, *y, {}, {}};
  for (const auto& row : table.rows) {
    const auto at = SqlNumber(row[x]);
    const auto value = SqlNumber(row[*y]);
    if (!at || !value || !std::isfinite(*at) || !std::isfinite(*value)) continue;
    if (!chart.points.empty() && *at <= chart.points.back().first) return std::nullopt;
    chart.points.emplace_back(*at, *value);
  }
  if (chart.points.size() < 3) return std::nullopt;
  return chart;
}

std::string WithoutUnit(std::string_view column) {
  if (!IsTime(column)) return std::string(column);
  for (const std::string_view unit : {"_ns", "_s"}) {
    if (column.size() > unit.size() && column.ends_with(unit)) column.remove_suffix(unit.size());
  }
  return std::string(column);
}

// "10k", "2.5M": ticks are round, so they need fewer figures than CountText().
std::string TickCount(double value) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

std::string SignedText(double value, std::string (*text)(double)) {
  return value < 0 ? "-" + text(-value) : text(value);
}

}  // namespace

std::optional<SqlChart> SqlChartOf(const SqlTable& table) {
  bool named = false;
  if (const auto name = NameColumn(table, named)) return SqlBarsOf(table, *name);
  return named ? std::nullopt : SqlCurveOf(table);
}

std::string SqlChartTitle(const SqlTable& table, const SqlChart& chart, Language language) {
  return Filled(chart.bars.empty() ? Text::kSqlPlot : Text::kSqlBars, language,
                WithoutUnit(table.columns[chart.y]), WithoutUnit(table.columns[chart.x]));
}

std::function<std::string(double)> SqlAxisText(std::string_view column, double low, double high) {
  const double to_ns = NsOf(column);
  // Three figures tell ticks apart on an axis that begins near zero, but not on one far from it.
  const double length = high - low;
  const bool far = length < 0.25 * std::max(std::abs(low), std::abs(high));
  constexpr double kTicks = 20;  // at most
  if (to_ns > 0 && far) {
    return [to_ns, step = std::llround(length * to_ns / kTicks)](double value) {
      return TimeText(std::llround(value * to_ns), step);
    };
  }
  if (to_ns > 0) {
    return
        [to_ns](double value) { return SignedText(value * to_ns * 1e-9, analyzer::DurationText); };
  }
  if (far) return [](double value) { return SqlValueText(value); };
  if (column.ends_with("bytes")) {
    return [](double value) {
      return SignedText(value, [](double bytes) { return analyzer::BytesText(bytes); });
    };
  }
  return [](double value) { return SignedText(value, TickCount); };
}

}  // namespace penstock::gui
