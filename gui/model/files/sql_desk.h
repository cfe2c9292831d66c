// SPDX-License-Identifier: Apache-2.0
//
// Questions in SQL about the shown trace, and their answers as table and CSV. The chart of an
// answer is in sql_chart.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/words/texts.h"
#include "traces/exchange/sql_query.h"
#include "traces/trace.h"

namespace penstock::gui {

struct SqlReply {
  traces::SqlAnswer answer;
  std::string failure;  // why there is no database; "": there is one
  double seconds = 0;   // for the answer, without the database

  [[nodiscard]] bool good() const {
    return failure.empty() && answer.problem == traces::SqlProblem::kNone;
  }
};

// Keeps the database of the trace that was asked about last. All members may be called from any
// thread; one question is answered at a time.
class SqlDesk {
 public:
  // `folder` holds the database, in a file without a name.
  explicit SqlDesk(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Keeps the database in the folder for temporary files.
  SqlDesk();
  // Answers a question. If `stop` is requested, the problem of the reply is SqlProblem::kStopped;
  // this also stops the making of the database. Requires: trace.
  // Cost: that of the query. The first question about a trace also costs one ExportSqlite.
  [[nodiscard]] SqlReply Ask(const std::shared_ptr<const traces::Trace>& trace,
                             const std::string& question, const std::stop_token& stop = {});

 private:
  const std::filesystem::path folder_;
  std::mutex mutex_;
  // Guarded by mutex_. Does not keep the trace, which may be large, alive: the database does not
  // need it.
  std::weak_ptr<const traces::Trace> trace_;
  std::unique_ptr<traces::SqlTrace> database_;  // of trace_; guarded by mutex_
};

// Why there is no answer, in one line.
[[nodiscard]] std::string SqlProblemText(const SqlReply& reply, Language language);
// How many rows there are, and how long the answer took. Requires: reply.good().
[[nodiscard]] std::string SqlRowsText(const SqlReply& reply, Language language);
// Why the view asks nothing by itself: the first question about so many spans takes long.
[[nodiscard]] std::string SqlManySpansText(std::uint64_t spans, Language language);
// nullopt: not a number.
[[nodiscard]] std::optional<double> SqlNumber(const traces::SqlValue& value);
// A value as a cell shows it; "" for NULL. A real number has nine figures or all of its whole part,
// without an exponent unless it is very large or very small.
[[nodiscard]] std::string SqlValueText(const traces::SqlValue& value);
// Whether a column holds at least one number, and nothing but numbers and NULL.
[[nodiscard]] bool IsNumeric(const traces::SqlTable& table, std::size_t column);

// What the width of a column depends on.
struct SqlColumnFit {
  bool numeric = false;
  std::string longest;  // of the texts of its cells, by bytes
};
[[nodiscard]] std::vector<SqlColumnFit> SqlColumnFits(const traces::SqlTable& table);

// The order of the rows by a column: first NULL, then numbers, then texts. A negative column keeps
// the order.
[[nodiscard]] std::vector<std::uint32_t> SortSqlRows(const traces::SqlTable& table, int column,
                                                     bool descending);
// By RFC 4180, but with a line feed alone at the end of a line. NULL is an empty field.
[[nodiscard]] std::string SqlCsv(const traces::SqlTable& table,
                                 const std::vector<std::uint32_t>& order);

}  // namespace penstock::gui
