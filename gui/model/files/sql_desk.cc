// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sql_desk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <system_error>

#include <fmt/format.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "traces/base/json_text.h"

namespace penstock::gui {
namespace {

using traces::SqlProblem;
using traces::SqlTable;
using traces::SqlValue;

std::filesystem::path TemporaryFolder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : folder;
}

// A number in CSV has up to 15 digits, as in SQLite's own programs. A cell of the window shows
// nine; these would round seconds since 1970 to tens of seconds.
std::string CsvValueText(const SqlValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? fmt::format("{:.15g}", *number) : SqlValueText(value);
}

std::string RealText(double value) {
  const double size = std::abs(value);
  if (!(size >= 1e-4 && size < 1e15)) return fmt::format("{:.9g}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, 9 - before));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

bool IsNull(const SqlValue& value) {
  return std::holds_alternative<std::monostate>(value);
}

}  // namespace

SqlDesk::SqlDesk() : folder_(TemporaryFolder()) {}

SqlReply SqlDesk::Ask(const std::shared_ptr<const traces::Trace>& trace,
                      const std::string& question, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  SqlReply reply;
  if (trace_.lock() != trace || database_ == nullptr) {
    database_.reset();
    trace_ = trace;
    auto made = traces::SqlTrace::Make(*trace, folder_, stop);
    if (!made && stop.stop_requested()) {
      reply.answer.problem = SqlProblem::kStopped;
      return reply;
    }
    if (!made) {
      reply.failure = made.error().message;
      return reply;
    }
    database_ = std::move(*made);
  }
  const auto begin = std::chrono::steady_clock::now();
  reply.answer = database_->Ask(question, {}, stop);
  reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

std::string SqlProblemText(const SqlReply& reply, Language language) {
  if (!reply.failure.empty()) return Filled(Text::kSqlNoFile, language, reply.failure);
  switch (reply.answer.problem) {
    case SqlProblem::kNone:
      return "";
    case SqlProblem::kWrong:
      return Filled(Text::kSqlWrong, language, reply.answer.detail);
    case SqlProblem::kForbidden:
      return std::string(TextOf(Text::kSqlForbidden, language));
    case SqlProblem::kTooLong:
      return std::string(TextOf(Text::kSqlTooLong, language));
    case SqlProblem::kStopped:
      return std::string(TextOf(Text::kSqlStopped, language));
    case SqlProblem::kEmpty:
      return std::string(TextOf(Text::kSqlEmpty, language));
    case SqlProblem::kSeveral:
      break;
  }
  return std::string(TextOf(Text::kSqlSeveral, language));
}

std::string SqlRowsText(const SqlReply& reply, Language language) {
  const SqlTable& table = reply.answer.table;
  const std::string took = analyzer::DurationText(reply.seconds);
  if (table.rows.size() == 1 && !table.cut) return Filled(Text::kSqlRow, language, took);
  return Filled(table.cut ? Text::kSqlCut : Text::kSqlRows, language,
                CountText(static_cast<double>(table.rows.size())), took);
}

std::string SqlManySpansText(std::uint64_t spans, Language language) {
  return Filled(Text::kSqlManySpans, language, CountText(static_cast<double>(spans)));
}

std::string SqlValueText(const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return RealText(*number);
  return "";
}

std::optional<double> SqlNumber(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

bool IsNumeric(const SqlTable& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows) {
    const bool number = SqlNumber(row[column]).has_value();
    if (!number && !IsNull(row[column])) return false;
    any = any || number;
  }
  return any;
}

std::vector<SqlColumnFit> SqlColumnFits(const SqlTable& table) {
  std::vector<SqlColumnFit> fits(table.columns.size());
  for (std::size_t c = 0; c < fits.size(); ++c) {
    fits[c].numeric = IsNumeric(table, c);
    for (const auto& row : table.rows) {
      std::string text = SqlValueText(row[c]);
      if (text.size() > fits[c].longest.size()) fits[c].longest = std::move(text);
    }
    constexpr std::size_t kMostShown = 400;  // characters
    if (!fits[c].numeric) fits[c].longest = analyzer::PlainText(fits[c].longest, kMostShown);
  }
  return fits;
}

std::vector<std::uint32_t> SortSqlRows(const SqlTable& table, int column, bool descending) {
  std::vector<std::uint32_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), 0U);
  if (column < 0 || static_cast<std::size_t>(column) >= table.columns.size()) return order;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const SqlValue& left = table.rows[a][static_cast<std::size_t>(column)];
    const SqlValue& right = table.rows[b][static_cast<std::size_t>(column)];
    const auto x = SqlNumber(left);
    const auto y = SqlNumber(right);
    if (x && y) return *x < *y;
    const auto kind = [](const SqlValue& value, bool number) {
      return IsNull(value) ? 0 : number ? 1 : 2;
    };
    const int left_kind = kind(left, x.has_value());
    const int right_kind = kind(right, y.has_value());
    if (left_kind != right_kind) return left_kind < right_kind;
    return left_kind == 2 && std::get<std::string>(left) < std::get<std::string>(right);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? before(b, a) : before(a, b);
  });
  return order;
}

std::string SqlCsv(const SqlTable& table, const std::vector<std::uint32_t>& order) {
  std::string text;
  const auto line = [&](std::size_t count, const auto& field) {
    for (std::size_t c = 0; c < count; ++c) {
      if (c > 0) text += ',';
      AppendCsv(text, field(c));
    }
    text += '\n';
  };
  line(table.columns.size(), [&](std::size_t c) { return table.columns[c]; });
  for (const std::uint32_t place : order) {
    line(table.columns.size(), [&](std::size_t c) { return CsvValueText(table.rows[place][c]); });
  }
  return text;
}

}  // namespace penstock::gui
