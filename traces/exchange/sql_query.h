// SPDX-License-Identifier: Apache-2.0
//
// Answers questions in SQL about a trace, over the tables and views of sqlite_schema.h. No question
// can change the database, open another file, or run for long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::traces {

// NULL, an integer, a real number, a text.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct SqlTable {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
  bool cut = false;  // there are more rows
};

// Why a question has no answer.
enum class SqlProblem : std::uint8_t {
  kNone,
  kWrong,      // SQLite says why
  kForbidden,  // it does not only read this database
  kTooLong,    // it took longer than the limit
  kStopped,
  kEmpty,    // there is no statement
  kSeveral,  // there is more than one
};
struct SqlAnswer {
  SqlTable table;
  SqlProblem problem = SqlProblem::kNone;
  std::string detail;  // of kWrong: one line in SQLite's own words
};

struct SqlLimits {
  std::chrono::milliseconds time{10'000};
  std::size_t rows = 20'000;
  std::size_t bytes = 64 << 20;  // of all cells with their texts
};

// The exported trace in a file that only this object can reach. Used from one thread at a time.
class SqlTrace {
 public:
  // Exports the trace to a file in `folder` and removes the name of the file. Errors: kOutput, also
  // if `stop` is requested before the file is complete.
  // Cost: that of ExportSqlite, some microseconds and 70 bytes on disk for each span.
  [[nodiscard]] static Result<std::unique_ptr<SqlTrace>> Make(const Trace& trace,
                                                              const std::filesystem::path& folder,
                                                              const std::stop_token& stop = {});
  ~SqlTrace();
  SqlTrace(const SqlTrace&) = delete;
  SqlTrace& operator=(const SqlTrace&) = delete;

  // Answers one statement that only reads.
  [[nodiscard]] SqlAnswer Ask(const std::string& question, const SqlLimits& limits = {},
                              const std::stop_token& stop = {});

 private:
  struct Base;
  explicit SqlTrace(std::unique_ptr<Base> base);
  std::unique_ptr<Base> base_;
};

}  // namespace penstock::traces
