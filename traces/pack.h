// SPDX-License-Identifier: Apache-2.0
//
// Writes a packed trace: incrementally, in bounded memory, crash-safe. What was flushed before a
// crash is readable. Finish() writes the table of contents and gives the file its final name. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "traces/base/result.h"
#include "traces/call_rows.h"
#include "traces/event.h"

namespace penstock::traces {

// Times are at most this far from 0, because readers of a packed trace refuse a block with a larger
// one. That is 73 years: until 2043 if the clock begins in 1970.
inline constexpr TimeNs kFarthestTime{std::int64_t{1} << 61};

// Texts, keys and values of more than 1 MiB may be cut.
class Packer {
 public:
  virtual ~Packer() = default;  // without Finish() the partial file stays and is readable

  // The id of a text in this file; 0 for "". Equal texts get the same id, except in a file of more
  // than some 780,000 texts: a packer's memory of them is bounded.
  [[nodiscard]] virtual StringId Intern(std::string_view text) = 0;
  // A new id for a text of a kind that is too numerous to search for equal ones. The caller avoids
  // duplicates as far as it can; readers accept several ids for one text.
  [[nodiscard]] virtual StringId AddString(std::string_view text) { return Intern(text); }
  // Gives `id` another text, for ids that are used before their text is known.
  virtual void SetString(StringId id, std::string_view text) = 0;
  [[nodiscard]] virtual ThreadId AddThread(const ThreadInfo& thread) = 0;
  [[nodiscard]] virtual ProcessId AddProcess(const ProcessInfo& process) = 0;
  virtual void UpdateProcess(ProcessId id, const ProcessInfo& process) = 0;
  virtual void UpdateThread(ThreadId id, const ThreadInfo& thread) = 0;
  // No more spans or events of this thread, or process, will come. A later AddThread(), or
  // AddProcess(), may return its id again.
  virtual void EndThread(ThreadId /*id*/) {}
  virtual void EndProcess(ProcessId /*id*/) {}  // after all its threads have ended
  virtual void SetFact(std::string_view key, std::string_view value) = 0;

  // Spans of one thread may come in any order within a block of 64 Ki spans, because they are
  // recorded when they end; readers merge them.
  virtual void AddSpan(ThreadId thread, const Span& span) = 0;
  virtual void AddEvent(const Event& event) = 0;
  virtual void AddCounter(const CounterSample& sample) = 0;
  // Rows of one followed unit may come in any order.
  virtual void AddUnit(const UnitRow& /*unit*/) {}
  virtual void AddCall(const CallRow& /*call*/) {}
  virtual void SetLosses(const Losses& losses) = 0;
  // An offset beyond kFarthestTime, which no clock has, may be kept as 0.
  virtual void SetRealtimeOffset(TimeNs offset) = 0;

  // Called with the number of the next mark when all that was added is on disk.
  using BeforeMark = std::function<void(std::uint64_t mark)>;
  // Writes buffered blocks out, and a mark after them. `before_mark` can store how far the caller
  // was, under the mark's number. A reader that stops at the last mark (OpenControl::last_mark)
  // then finds exactly what the caller had added, wherever the writer was killed.
  // Errors: kOutput; what is on disk stays readable. If the disk is full, new data waits for the
  //         next call, up to 64 MiB (packed); after other errors it is dropped.
  virtual Result<void> Flush(const BeforeMark& before_mark) = 0;
  Result<void> Flush() { return Flush(BeforeMark()); }
  virtual Result<void> Finish() = 0;
  // Ends without a trace: even the partial file is removed. Nothing may be called afterwards.
  virtual void Discard() {}
  // Whether the last Flush() failed because the disk is full. Nothing is lost yet; another call may
  // succeed.
  [[nodiscard]] virtual bool WaitsForRoom() const { return false; }
  [[nodiscard]] virtual std::uint64_t bytes_written() const = 0;
  // The file that Finish() makes, or has made. If the requested name was taken meanwhile or its
  // folder was removed, the file has another name, and note() says so in one sentence. Both are ""
  // if there is no file.
  [[nodiscard]] virtual std::filesystem::path final_path() const { return {}; }
  [[nodiscard]] virtual std::string note() const { return {}; }
};

struct PackOptions {
  // For a flight recorder: while it runs, the file holds at least this much time before the newest
  // span or event, and at most about three times as much. The finished file holds this much. 0:
  // everything.
  TimeNs keep{};
  // Suffix of the file name until it is finished.
  std::string suffix = ".part";
  // Called in Finish() with a file that has the final name by then: may it be replaced? If not, the
  // trace gets a name next to it. If empty, it is replaced.
  std::function<bool(const std::filesystem::path&)> may_replace{};
};

// `final_path` appears only in Finish(); until then the file is `final_path` + `suffix`. If a
// killed writer left a file of that name with contents, it is renamed: see output_place.h. Only the
// owner may read the file. It is on disk when it is finished.
[[nodiscard]] Result<std::unique_ptr<Packer>> CreatePacked(const std::filesystem::path& final_path,
                                                           const PackOptions& options = {});

// Packs a recording or repacks a packed trace.
[[nodiscard]] Result<void> PackTrace(const std::filesystem::path& from,
                                     const std::filesystem::path& to);

}  // namespace penstock::traces
