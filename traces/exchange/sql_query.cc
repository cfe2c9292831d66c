// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/sql_query.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "traces/exchange/formats.h"
#include "traces/exchange/sqlite_handle.h"

namespace penstock::traces {
namespace {

using Clock = std::chrono::steady_clock;

// Allows only to read the database itself: no other file, no setting, no change.
int Authorise(void* /*unused*/, int action, const char* /*first*/, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY
                                                                                 : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

struct Deadline {
  Clock::time_point end;
  std::stop_token stop;
  bool late = false;
};

// Called every few steps of SQLite's machine; a value other than 0 ends the statement.
int LookAtClock(void* data) {
  auto* deadline = static_cast<Deadline*>(data);
  deadline->late = Clock::now() >= deadline->end;
  return deadline->late || deadline->stop.stop_requested() ? 1 : 0;
}

SqlValue ValueOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default:
      break;
  }
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

SqlAnswer Refuse(SqlProblem problem, std::string detail = {}) {
  std::replace(detail.begin(), detail.end(), '\n', ' ');
  return {{}, problem, std::move(detail)};
}

// The most bytes of a text or row in a question: 256 KB, or more if the trace has longer ones.
int LongestText(sqlite3* database) {
  constexpr std::int64_t kLeast = 256 << 10;
  constexpr std::int64_t kMost = 16 << 20;
  constexpr std::int64_t kRest = 4 << 10;  // of the row
  constexpr const char* kLongest =
      "SELECT MAX(n) FROM (SELECT MAX(LENGTH(CAST(text AS BLOB))) AS n FROM string"
      " UNION ALL SELECT MAX(LENGTH(CAST(key || value AS BLOB))) FROM fact"
      " UNION ALL SELECT MAX(LENGTH(CAST(key || value AS BLOB))) FROM process_fact"
      " UNION ALL SELECT MAX(LENGTH(CAST(comm || command AS BLOB))) FROM process"
      " UNION ALL SELECT MAX(LENGTH(CAST(name AS BLOB))) FROM thread)";
  sqlite3_stmt* made = nullptr;
  std::int64_t longest = kMost;
  if (sqlite3_prepare_v2(database, kLongest, -1, &made, nullptr) == SQLITE_OK &&
      sqlite3_step(made) == SQLITE_ROW) {
    longest = sqlite3_column_int64(made, 0) + kRest;
  }
  const SqliteStatement statement(made);
  return static_cast<int>(std::clamp(longest, kLeast, kMost));
}

bool OnlySpace(const char* text) {
  const std::string rest(text == nullptr ? "" : text);
  return rest.find_first_not_of(" \t\r\n;") == std::string::npos;
}

}  // namespace

struct SqlTrace::Base {
  SqliteDatabase database;
};

SqlTrace::SqlTrace(std::unique_ptr<Base> base) : base_(std::move(base)) {}
SqlTrace::~SqlTrace() = default;

Result<std::unique_ptr<SqlTrace>> SqlTrace::Make(const Trace& trace,
                                                 const std::filesystem::path& folder,
                                                 const std::stop_token& stop) {
  static std::atomic<unsigned> count{0};  // relaxed: the names only have to differ
  const std::filesystem::path path =
      folder / fmt::format("penstock-sql-{}-{}.sqlite", ::getpid(),
                           count.fetch_add(1, std::memory_order_relaxed));
  PENSTOCK_TRY(ExportSqlite(trace, path, stop));
  auto base = std::make_unique<Base>();
  sqlite3* opened = nullptr;
  int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  base->database.reset(opened);
  // SQLite opens its file with the first statement.
  if (status == SQLITE_OK) {
    status = sqlite3_exec(opened, "SELECT * FROM sqlite_master", nullptr, nullptr, nullptr);
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  if (status != SQLITE_OK) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path.string(), sqlite3_errmsg(opened)));
  }
  // The time limit is checked only between steps of SQLite's virtual machine. These limits on the
  // length of texts and patterns bound the time of one step.
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, LongestText(opened));
  sqlite3_limit(opened, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
  sqlite3_limit(opened, SQLITE_LIMIT_COLUMN, 200);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_set_authorizer(opened, Authorise, nullptr);
  return std::unique_ptr<SqlTrace>(new SqlTrace(std::move(base)));
}

SqlAnswer SqlTrace::Ask(const std::string& question, const SqlLimits& limits,
                        const std::stop_token& stop) {
  sqlite3* database = base_->database.get();
  Deadline deadline{Clock::now() + limits.time, stop};
  constexpr int kSteps = 100;
  sqlite3_progress_handler(database, kSteps, LookAtClock, &deadline);
  const std::unique_ptr<sqlite3, void (*)(sqlite3*)> watched(
      database, [](sqlite3* base) { sqlite3_progress_handler(base, 0, nullptr, nullptr); });
  const auto problem = [&](int status) {
    if (status == SQLITE_INTERRUPT) {
      return Refuse(deadline.late ? SqlProblem::kTooLong : SqlProblem::kStopped);
    }
    if (status == SQLITE_AUTH) return Refuse(SqlProblem::kForbidden);
    return Refuse(SqlProblem::kWrong, sqlite3_errmsg(database));
  };
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  int status = sqlite3_prepare_v2(database, question.c_str(), -1, &made, &rest);
  const SqliteStatement statement(made);
  if (status != SQLITE_OK) return problem(status);
  if (made == nullptr) return Refuse(SqlProblem::kEmpty);
  if (!OnlySpace(rest)) return Refuse(SqlProblem::kSeveral);
  SqlAnswer answer;
  SqlTable& table = answer.table;
  std::size_t bytes = 0;
  const int columns = sqlite3_column_count(made);
  for (int c = 0; c < columns; ++c) table.columns.emplace_back(sqlite3_column_name(made, c));
  while ((status = sqlite3_step(made)) == SQLITE_ROW) {
    table.cut = table.rows.size() == limits.rows;
    if (table.cut) return answer;
    std::vector<SqlValue> row;
    for (int c = 0; c < columns; ++c) {
      row.push_back(ValueOf(made, c));
      bytes += sizeof(SqlValue);
      if (const auto* text = std::get_if<std::string>(&row.back())) bytes += text->size();
      table.cut = bytes > limits.bytes;
      if (table.cut) return answer;
    }
    table.rows.push_back(std::move(row));
  }
  return status == SQLITE_DONE ? answer : problem(status);
}

}  // namespace penstock::traces
