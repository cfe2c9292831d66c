// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stop_token>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traces/base/file.h"
#include "traces/base/json_text.h"
#include "traces/density.h"
#include "traces/exchange/formats.h"
#include "traces/exchange/own_time.h"
#include "traces/exchange/sqlite_handle.h"
#include "traces/exchange/sqlite_schema.h"
#include "traces/export_text.h"

namespace penstock::traces {
namespace {

// A prepared INSERT. Values are added in the order of its columns. Not thread-safe.
class Insert {
 public:
  Insert(sqlite3* database, const std::stop_token& stop, std::string_view table, int columns)
      : stop_(stop) {
    std::string marks = "?";
    for (int i = 1; i < columns; ++i) marks += ",?";
    const std::string text = fmt::format("INSERT INTO {} VALUES({})", table, marks);
    sqlite3_stmt* statement = nullptr;
    ok_ = sqlite3_prepare_v2(database, text.c_str(), -1, &statement, nullptr) == SQLITE_OK;
    statement_.reset(statement);
  }

  Insert& Number(std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++column_, value);
    return *this;
  }
  // NULL for values below zero.
  Insert& Known(std::int64_t value) { return value < 0 ? Null() : Number(value); }
  Insert& Null() {
    sqlite3_bind_null(statement_.get(), ++column_);
    return *this;
  }
  Insert& Text(std::string_view value) {
    sqlite3_bind_text(statement_.get(), ++column_, value.data(), static_cast<int>(value.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  [[nodiscard]] bool Done() {
    ok_ = ok_ && !stop_.stop_requested() && sqlite3_step(statement_.get()) == SQLITE_DONE &&
          sqlite3_reset(statement_.get()) == SQLITE_OK;
    column_ = 0;
    return ok_;
  }

 private:
  const std::stop_token& stop_;
  SqliteStatement statement_;
  int column_ = 0;
  bool ok_ = false;
};

// Called by SQLite; a value other than 0 ends the statement.
int StopRequested(void* stop) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

// Sums over spans. Units: nanoseconds.
struct SpanSums {
  std::int64_t count = 0;
  std::int64_t wall = 0;
  std::int64_t cpu = -1;  // -1: not known of any
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  std::int64_t own = -1;    // of a name; -1: none of its spans counts towards its stage
  std::int64_t queued = 0;  // of reads, beside `wall`: waiting before them
  std::uint64_t bytes = 0;

  void Add(std::int64_t span_wall, std::int64_t span_cpu) {
    ++count;
    wall += span_wall;
    AddKnown(cpu, span_cpu);
    least = std::min(least, span_wall);
    most = std::max(most, span_wall);
  }
  static void AddKnown(std::int64_t& sum, std::int64_t value) {
    if (value >= 0) sum = std::max<std::int64_t>(sum, 0) + value;
  }
};

// The contents of the tables stage_total and name_total.
struct SqliteTotals {
  std::map<StageId, SpanSums> stages;
  std::map<std::pair<StageId, std::uint32_t>, SpanSums> names;  // by stage and StringId

  void Add(const Span& span, const OwnTime& time) {
    SpanSums& stage = stages[span.stage];
    const bool augments = span.stage == StageId::kAugment;
    if (time.own >= 0 && !augments) stage.Add(time.own, time.own_cpu);
    if (time.own >= 0) stage.bytes += span.bytes.value;
    if (time.augment >= 0) stages[StageId::kAugment].Add(time.augment, time.augment_cpu);
    if (time.queued > 0) stages[StageId::kRead].queued += time.queued;
    SpanSums& name = names[{span.stage, span.name.value}];
    // A damaged span may claim more than its duration.
    const std::int64_t longest = std::max<std::int64_t>(span.duration.value, 0);
    name.Add(span.busy.value >= 0 ? std::min(span.busy.value, longest) : longest,
             std::min(span.cpu.value, longest));
    SpanSums::AddKnown(name.own, time.own);
  }

  // Counts the steps that lie between two waits, unless the program marked its steps.
  void AddDerived(const std::vector<DerivedStep>& steps) {
    if (steps.empty() || stages.contains(StageId::kStep)) return;
    SpanSums& stage = stages[StageId::kStep];
    for (const DerivedStep& step : steps) stage.Add(step.length, -1);
  }
};

class SqliteWriter {
 public:
  // Requires: `stop` outlives this.
  SqliteWriter(const Trace& trace, sqlite3* database, const std::stop_token& stop)
      : trace_(trace), database_(database), stop_(stop) {}

  // Returns false if it was stopped, or a statement failed; sqlite3_errmsg() says why.
  bool Write() {
    // Nobody reads the file before it has its name, so it needs no journal and need not wait for
    // the disk.
    return Execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;") &&
           Execute(kSqliteTables) &&
           Execute(fmt::format("PRAGMA user_version={}", kSqliteSchema)) && WriteFacts() &&
           WriteProcesses() && WriteThreads() && WriteSpans() && WriteTotals() && WriteEvents() &&
           WriteCounters() && WriteStrings() && Execute(kSqliteViews) && Execute("COMMIT;");
  }

 private:
  bool Execute(std::string_view text) {
    return !stop_.stop_requested() && sqlite3_exec(database_, std::string(text).c_str(), nullptr,
                                                   nullptr, nullptr) == SQLITE_OK;
  }

  bool WriteFacts() {
    Insert fact(database_, stop_, "fact", 2);
    for (const auto& [key, value] : trace_.facts()) {
      if (!fact.Text(ToUtf8(key)).Text(ToUtf8(value)).Done()) return false;
    }
    Insert loss(database_, stop_, "loss", 2);
    const Losses& losses = trace_.losses();
    return loss.Text("dropped_events")
               .Number(static_cast<std::int64_t>(losses.dropped_events))
               .Done() &&
           loss.Text("damaged_bytes")
               .Number(static_cast<std::int64_t>(losses.damaged_bytes))
               .Done() &&
           loss.Text("damaged_records")
               .Number(static_cast<std::int64_t>(losses.damaged_records))
               .Done();
  }

  bool WriteProcesses() {
    Insert row(database_, stop_, "process", 8);
    Insert fact(database_, stop_, "process_fact", 3);
    for (std::size_t i = 0; i < trace_.processes().size(); ++i) {
      const ProcessInfo& process = trace_.processes()[i];
      std::string command;
      for (const std::string& word : process.command)
        command += (command.empty() ? "" : " ") + word;
      row.Number(static_cast<std::int64_t>(i)).Number(process.pid).Number(process.parent);
      row.Text(RoleName(process.role)).Known(process.worker_id).Known(process.rank);
      if (!row.Text(ToUtf8(process.comm)).Text(ToUtf8(command)).Done()) return false;
      for (const auto& [key, value] : process.facts) {
        fact.Number(static_cast<std::int64_t>(i)).Text(ToUtf8(key)).Text(ToUtf8(value));
        if (!fact.Done()) return false;
      }
    }
    return true;
  }

  bool WriteThreads() {
    Insert row(database_, stop_, "thread", 4);
    for (std::size_t i = 0; i < trace_.threads().size(); ++i) {
      const ThreadInfo& thread = trace_.threads()[i];
      row.Number(static_cast<std::int64_t>(i)).Number(thread.process.value).Number(thread.tid);
      if (!row.Text(ToUtf8(thread.name)).Done()) return false;
    }
    return true;
  }

  // A span is written when its own time is known, after the spans inside it. Its row keeps the
  // place that it has in the trace.
  bool WriteSpans() {
    Insert row(database_, stop_, "span", 20);
    bool ok = true;
    std::int64_t place = 0;
    std::vector<DerivedStep> steps;
    for (std::uint32_t i = 0; ok && i < trace_.threads().size(); ++i) {
      const auto write = [&](std::int64_t at, const Span& span, const OwnTime& time) {
        ok = ok && WriteSpan(row, at, ThreadId{i}, span, time);
      };
      OwnTimeSweep sweep(write);
      StepFinder finder;
      trace_.ForEachBlock(ThreadId{i}, [&](std::span<const Span> spans) {
        for (const Span& span : spans) {
          if (!ok) return;
          ++place;
          finder.Add(span.start.value, span.duration.value, span.stage, span.batch);
          if ((span.flags & wire::kFlagUnfinished) != 0) {
            write(place, span, {});  // its length is not known
          } else {
            sweep.Add(place, span, Opens(span));
          }
        }
      });
      sweep.Finish();
      const std::vector<DerivedStep> found = finder.Take();
      steps.insert(steps.end(), found.begin(), found.end());
    }
    totals_.AddDerived(steps);
    return ok;
  }

  bool WriteSpan(Insert& row, std::int64_t place, ThreadId thread, const Span& span,
                 const OwnTime& time) {
    totals_.Add(span, time);
    row.Number(place).Number(thread.value).Text(StageName(span.stage));
    Use(row, span.name).Number(span.start.value).Number(span.duration.value);
    row.Known(span.cpu.value).Known(span.busy.value);
    row.Number(static_cast<std::int64_t>(span.bytes.value)).Known(span.sample);
    Batch(row, span.batch);
    Use(row, span.object).Number(span.flags).Number(span.depth);
    row.Known(time.own).Known(time.own_cpu);
    return row.Known(time.augment).Known(time.augment_cpu).Known(time.queued).Done();
  }

  bool WriteTotals() {
    Insert stage(database_, stop_, "stage_total", 8);
    for (const auto& [id, sums] : totals_.stages) {
      stage.Text(StageName(id)).Number(sums.count).Number(sums.wall).Known(sums.cpu);
      stage.Known(sums.count > 0 ? sums.least : -1).Known(sums.count > 0 ? sums.most : -1);
      stage.Number(static_cast<std::int64_t>(sums.bytes));
      if (!stage.Number(sums.queued).Done()) return false;
    }
    Insert name(database_, stop_, "name_total", 7);
    for (const auto& [id, sums] : totals_.names) {
      Use(name.Text(StageName(id.first)), StringId{id.second});
      name.Number(sums.count).Number(sums.wall).Known(sums.cpu).Number(sums.most);
      if (!name.Known(sums.own).Done()) return false;
    }
    return true;
  }

  // Pillow reads the header of a file in one call, and decodes it in another.
  bool Opens(const Span& span) {
    if (span.stage != StageId::kDecode) return false;
    const auto [found, added] = opens_.try_emplace(span.name.value, false);
    if (added) found->second = trace_.String(span.name) == "PIL.open";
    return found->second;
  }

  bool WriteEvents() {
    Insert row(database_, stop_, "event", 6);
    for (const Event& event : trace_.events()) {
      row.Number(event.at.value).Number(event.thread.value).Text(EventName(event.type));
      Batch(row, event.batch);
      if (!row.Number(event.value).Done()) return false;
    }
    return true;
  }

  bool WriteCounters() {
    Insert row(database_, stop_, "counter", 4);
    for (const CounterSample& sample : trace_.counters()) {
      row.Number(sample.at.value);
      const bool known = sample.process.value < trace_.processes().size();
      row.Known(known ? std::int64_t{sample.process.value} : -1);
      if (!Use(row, sample.name).Number(sample.value).Done()) return false;
    }
    return true;
  }

  // Writes the strings that something refers to.
  bool WriteStrings() {
    Insert row(database_, stop_, "string", 2);
    for (std::size_t i = 1; i < used_.size(); ++i) {
      if (!used_[i]) continue;
      row.Number(static_cast<std::int64_t>(i));
      if (!row.Text(ToUtf8(trace_.String(StringId{static_cast<std::uint32_t>(i)}))).Done())
        return false;
    }
    return true;
  }

  Insert& Use(Insert& row, StringId id) {
    if (id.value == 0) return row.Null();
    if (used_.size() <= id.value) used_.resize(std::size_t{id.value} + 1);
    used_[id.value] = true;
    return row.Number(id.value);
  }
  static void Batch(Insert& row, BatchKey batch) {
    row.Known(BatchIndex(batch));
    row.Known(batch.valid() ? std::int64_t{batch.generation} : -1);
  }

  const Trace& trace_;
  sqlite3* database_;
  const std::stop_token& stop_;
  std::vector<bool> used_;
  SqliteTotals totals_;
  std::unordered_map<std::uint32_t, bool> opens_;  // by StringId, names of decodes
};

}  // namespace

Result<void> ExportSqlite(const Trace& trace, const std::filesystem::path& path,
                          const std::stop_token& stop) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: is not a file", path.string()));
  }
  // SQLite takes a new, empty file for a database without tables.
  Result<OutputFile> file =
      OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()), {.private_to_owner = true});
  PENSTOCK_TRY(file);
  std::stop_token watched = stop;  // not const for SQLite; outlives the database
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(file->temporary().c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  SqliteDatabase database(opened);
  // A single statement may take long too, such as the one that makes an index over all spans.
  constexpr int kSteps = 1000;
  if (status == SQLITE_OK) {
    sqlite3_progress_handler(opened, kSteps, StopRequested, &watched);
  }
  const bool done = status == SQLITE_OK && SqliteWriter(trace, opened, stop).Write();
  const std::string why = done                    ? ""
                          : stop.stop_requested() ? "was stopped"
                                                  : sqlite3_errmsg(opened);
  database.reset();
  if (done) return file->Commit();
  file->Discard();
  return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path.string(), why));
}

}  // namespace penstock::traces
