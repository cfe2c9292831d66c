// SPDX-License-Identifier: Apache-2.0
//
// Imports nsys exports of several years. Empty tables are left out, and columns differ by version,
// so each query is made from the tables and columns that exist.
#include <sqlite3.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "traces/exchange/import.h"
#include "traces/exchange/sqlite_handle.h"

namespace penstock::traces {
namespace {

// The rows of a query, with columns by position. Missing columns read as their default.
class Query {
 public:
  Query(sqlite3* database, const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, text.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
      statement_.reset(statement);
    }
  }
  [[nodiscard]] bool Next() {
    return statement_ && (status_ = sqlite3_step(statement_.get())) == SQLITE_ROW;
  }
  [[nodiscard]] bool Failed() const {
    return !statement_ || (status_ != SQLITE_ROW && status_ != SQLITE_DONE);
  }
  [[nodiscard]] bool Null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t Number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] std::string Text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return text == nullptr
               ? ""
               : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  }

 private:
  SqliteStatement statement_;
  int status_ = SQLITE_DONE;
};

class NsightImporter {
 public:
  NsightImporter(sqlite3* database, Foreign& into) : database_(database), into_(into) {
    into_.summary().format = "Nsight Systems";
  }

  // Returns the name of the table that could not be read, or "".
  std::string Read() {
    if (const std::string table = Names(); !table.empty()) return table;
    for (const auto& [table, read] :
         {std::pair{"CUPTI_ACTIVITY_KIND_RUNTIME", &NsightImporter::Calls},
          std::pair{"CUPTI_ACTIVITY_KIND_KERNEL", &NsightImporter::Kernels},
          std::pair{"CUPTI_ACTIVITY_KIND_MEMCPY", &NsightImporter::Copies},
          std::pair{"CUPTI_ACTIVITY_KIND_MEMSET", &NsightImporter::Sets},
          std::pair{"NVTX_EVENTS", &NsightImporter::Ranges}}) {
      if (Columns(table).empty()) continue;
      known_.insert(table);
      if (!(this->*read)()) return table;
    }
    CountOthers();
    into_.Finish();
    return "";
  }

  // Whether this is an nsys export at all.
  [[nodiscard]] bool Recognised() {
    for (const char* table : {"META_DATA_EXPORT", "StringIds", "TARGET_INFO_SESSION_START_TIME"}) {
      if (!Columns(table).empty()) return true;
    }
    return false;
  }

 private:
  std::set<std::string> Columns(const std::string& table) {
    std::set<std::string> columns;
    Query query(database_, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    while (query.Next()) columns.insert(query.Text(0));
    return columns;
  }

  // The list of columns in a query: "a, b, NULL" if c is missing.
  static std::string List(const std::set<std::string>& there,
                          const std::vector<std::string>& wanted) {
    std::string list;
    for (const std::string& column : wanted) {
      list += (list.empty() ? "" : ", ") + (there.count(column) != 0 ? column : "NULL");
    }
    return list;
  }

  // The rows of a table with the columns `wanted`, by start; `start` and `end` must exist.
  Query Rows(const std::string& table, const std::vector<std::string>& wanted) {
    return Query(database_, fmt::format("SELECT {} FROM {} WHERE start IS NOT NULL ORDER BY start",
                                        List(Columns(table), wanted), table));
  }

  std::string Word(std::int64_t id) {
    const auto found = words_.find(id);
    return found == words_.end() ? fmt::format("#{}", id) : found->second;
  }

  // Counts the rows of activities that are not imported.
  void CountOthers() {
    Query tables(database_,
                 "SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE "
                 "'CUPTI_ACTIVITY_KIND_%' OR name IN ('OSRT_API', 'CUDA_UM_CPU_PAGE_FAULT_EVENTS', "
                 "'CUDNN_EVENTS', 'CUBLAS_EVENTS', 'SCHED_EVENTS', 'COMPOSITE_EVENTS'))");
    while (tables.Next()) {
      const std::string table = tables.Text(0);
      if (known_.count(table) != 0 || table.find('"') != std::string::npos) continue;
      Query rows(database_, fmt::format("SELECT COUNT(*) FROM \"{}\"", table));
      if (rows.Next() && rows.Number(0) > 0) {
        into_.LeaveOut("rows of " + table, static_cast<std::uint64_t>(rows.Number(0)));
      }
    }
  }

  // The name of a table that exists but cannot be read; "" otherwise.
  std::string Broken(const Query& query, const char* table) {
    return query.Failed() && !Columns(table).empty() ? table : "";
  }

  std::string Names() {
    constexpr std::size_t kMostWords = std::size_t{256} << 20;  // bytes of names; after that "#7"
    Query words(database_, "SELECT id, value FROM StringIds");
    for (std::size_t bytes = 0; words.Next();) {
      std::string word = words.Text(1);
      if ((bytes += word.size() + 64) > kMostWords) {
        into_.LeaveOut("names beyond 256 MB");
        break;
      }
      words_[words.Number(0)] = std::move(word);
    }
    if (const std::string table = Broken(words, "StringIds"); !table.empty()) return table;
    // Kinds of memory have other numbers than in CUPTI, and the numbers differ between versions.
    Query kinds(database_,
                fmt::format("SELECT {} FROM ENUM_CUDA_MEM_KIND",
                            List(Columns("ENUM_CUDA_MEM_KIND"), {"id", "label", "name"})));
    while (kinds.Next()) memory_[kinds.Number(0)] = kinds.Null(1) ? kinds.Text(2) : kinds.Text(1);
    if (memory_.empty()) memory_ = {{0, "Pageable"}, {1, "Pinned"}, {2, "Device"}};
    Query start(database_, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
    if (start.Next()) into_.out().SetRealtimeOffset(TimeNs{start.Number(0)});
    Query gpu(database_, "SELECT name FROM TARGET_INFO_GPU");
    if (gpu.Next()) into_.out().SetFact("gpu.model", gpu.Text(0));
    Query version(database_,
                  "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
    if (version.Next()) into_.out().SetFact("import.schema", version.Text(0));
    Query processes(database_, "SELECT globalPid, name FROM PROCESSES");
    while (processes.Next()) into_.NameProcess(Pid(processes.Number(0)), processes.Text(1));
    Query threads(database_, "SELECT globalTid, nameId FROM ThreadNames");
    while (threads.Next()) {
      into_.NameThread(Pid(threads.Number(0)), Tid(threads.Number(0)), Word(threads.Number(1)));
    }
    const std::string table = Broken(processes, "PROCESSES");
    return table.empty() ? Broken(threads, "ThreadNames") : table;
  }

  static std::string Pid(std::int64_t global) {
    return std::to_string((static_cast<std::uint64_t>(global) / 0x1000000) % 0x1000000);
  }
  static std::string Tid(std::int64_t global) {
    return std::to_string(static_cast<std::uint64_t>(global) % 0x1000000);
  }

  static Span Between(const Query& row) {
    Span span;
    span.start.value =
        std::max<std::int64_t>(-1, row.Number(0));  // below zero: Plausible() refuses it
    span.duration.value =
        std::max<std::int64_t>(0, std::max<std::int64_t>(0, row.Number(1)) - span.start.value);
    return span;
  }
  static void Correlate(Span& span, const Query& row, int column) {
    const std::int64_t correlation = row.Null(column) ? 0 : row.Number(column);
    if (correlation > 0 && correlation <= 0xffffffff) {
      span.sample = wire::SampleOfCorrelation(static_cast<std::uint32_t>(correlation));
    }
  }
  ThreadId Lane(const Query& row, int device, int stream, int process) {
    return into_.Lane(
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.Number(device), 0, 0x7fe)),
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.Number(stream), 0, 0xffffe)),
        row.Null(process) ? "" : Pid(row.Number(process)));
  }

  bool Calls() {
    Query row = Rows("CUPTI_ACTIVITY_KIND_RUNTIME",
                     {"start", "end", "globalTid", "correlationId", "nameId"});
    while (row.Next()) {
      Span span = Between(row);
      std::string name = Word(row.Number(4));
      const std::size_t version = name.rfind("_v");  // cudaMemcpyAsync_v3020
      if (version != std::string::npos &&
          name.find_first_not_of("0123456789", version + 2) == std::string::npos) {
        name.resize(version);
      }
      span.stage = name.find("Synchronize") != std::string::npos ? StageId::kSync : StageId::kCall;
      span.name = into_.out().Intern(name);
      Correlate(span, row, 3);
      const ThreadId thread = into_.Thread(Pid(row.Number(2)), Tid(row.Number(2)));
      into_.Calls(thread);
      into_.Add(thread, span);
    }
    return !row.Failed();
  }

  bool Kernels() {
    Query row =
        Rows("CUPTI_ACTIVITY_KIND_KERNEL", {"start", "end", "deviceId", "streamId", "correlationId",
                                            "demangledName", "shortName", "globalPid"});
    while (row.Next()) {
      Span span = Between(row);
      span.stage = StageId::kKernel;
      span.name = into_.out().Intern(Word(row.Null(5) ? row.Number(6) : row.Number(5)));
      Correlate(span, row, 4);
      into_.Add(Lane(row, 2, 3, 7), span);
    }
    return !row.Failed();
  }

  bool Copies() {
    Query row = Rows("CUPTI_ACTIVITY_KIND_MEMCPY",
                     {"start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind",
                      "srcKind", "dstKind", "globalPid"});
    while (row.Next()) {
      Span span = Between(row);
      const std::int64_t kind = row.Number(6);
      const bool to_device = kind == 1, from_device = kind == 2;
      std::string name = to_device     ? "H2D"
                         : from_device ? "D2H"
                         : kind == 8   ? "D2D"
                         : kind == 10  ? "P2P"
                                       : "copy";
      const int host = to_device ? 7 : 8;
      if ((to_device || from_device) && !row.Null(host)) {
        const std::string memory = memory_[row.Number(host)];
        for (const auto& [theirs, ours] :
             {std::pair{"ageable", " pageable"}, std::pair{"inned", " pinned"},
              std::pair{"anaged", " managed"}}) {
          if (memory.find(theirs) != std::string::npos) name += ours;
        }
      }
      span.stage = to_device ? StageId::kH2d : StageId::kCopy;
      span.name = into_.out().Intern(name);
      span.bytes.value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.Number(5)));
      Correlate(span, row, 4);
      into_.Add(Lane(row, 2, 3, 9), span);
    }
    return !row.Failed();
  }

  bool Sets() {
    Query row = Rows("CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId", "streamId",
                                                    "correlationId", "bytes", "globalPid"});
    while (row.Next()) {
      Span span = Between(row);
      span.stage = StageId::kCopy;
      span.name = into_.out().Intern("memset");
      span.bytes.value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.Number(5)));
      Correlate(span, row, 4);
      into_.Add(Lane(row, 2, 3, 6), span);
    }
    return !row.Failed();
  }

  bool Ranges() {
    constexpr std::int64_t kPushPop = 59, kStartEnd = 60;
    Query row = Rows("NVTX_EVENTS",
                     {"start", "end", "globalTid", "eventType", "text", "textId", "domainId"});
    while (row.Next()) {
      if (row.Number(3) != kPushPop && row.Number(3) != kStartEnd) {
        into_.LeaveOut("NVTX marks, domains and categories");
        continue;
      }
      Span span = Between(row);
      if (row.Null(1)) {  // still open when the recording ended
        span.duration = {};
        span.flags |= wire::kFlagUnfinished;
      }
      const std::string text = row.Null(4) ? Word(row.Number(5)) : row.Text(4);
      const std::string domain = row.Null(6) ? "NVTX" : fmt::format("NVTX {}", row.Number(6));
      into_.AddRange(into_.Thread(Pid(row.Number(2)), Tid(row.Number(2))), span, text, domain);
    }
    return !row.Failed();
  }

  sqlite3* database_;
  Foreign& into_;
  std::set<std::string> known_;
  std::unordered_map<std::int64_t, std::string> words_, memory_;
};

}  // namespace

Result<void> ImportNsight(const std::filesystem::path& path, Foreign& into) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const SqliteDatabase database(opened);
  if (status != SQLITE_OK) {
    return Fail(ErrorKind::kInput, fmt::format("{}: {}", path.string(), sqlite3_errmsg(opened)));
  }
  // The file comes from a stranger: its functions and views are not run, and memory is bounded.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 1 << 20);
  NsightImporter importer(opened, into);
  if (!importer.Recognised()) {
    return Fail(
        ErrorKind::kInput,
        fmt::format("{}: a database, but none that nsys exported: {}", path.string(),
                    sqlite3_errcode(opened) == SQLITE_OK || sqlite3_errcode(opened) == SQLITE_DONE
                        ? "its tables are missing"
                        : sqlite3_errmsg(opened)));
  }
  const std::string table = importer.Read();
  if (table.empty()) return {};
  return Fail(ErrorKind::kInput,
              fmt::format("{}: table {}: {}", path.string(), table, sqlite3_errmsg(opened)));
}

}  // namespace penstock::traces
