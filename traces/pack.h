// SPDX-License-Identifier: Apache-2.0
//
// Writes the packed form of a trace: incrementally, in bounded memory, crash-safe. What was
// flushed before a crash is readable; Finish() writes the table of contents and renames the file
// to its final name. Not thread-safe.
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

class Packer {
 public:
  virtual ~Packer() = default;  // without Finish(): the partial file stays, readable

  // Strings by content; the id is this file's.
  [[nodiscard]] virtual StringId Intern(std::string_view text) = 0;
  // A new id for a text of which there are too many to look for equal ones: the caller does so, as
  // far as it can. Readers take several ids of one text for what they are.
  [[nodiscard]] virtual StringId AddString(std::string_view text) { return Intern(text); }
  // Gives `id` another text: for ids that are used before their text is known.
  virtual void SetString(StringId id, std::string_view text) = 0;
  [[nodiscard]] virtual ThreadId AddThread(const ThreadInfo& thread) = 0;
  [[nodiscard]] virtual ProcessId AddProcess(const ProcessInfo& process) = 0;
  virtual void UpdateProcess(ProcessId id, const ProcessInfo& process) = 0;
  virtual void UpdateThread(ThreadId id, const ThreadInfo& thread) = 0;
  // Nothing more comes of it: its id may be given to another that is added later.
  virtual void EndThread(ThreadId /*id*/) {}
  virtual void EndProcess(ProcessId /*id*/) {}  // its threads have ended
  virtual void SetFact(std::string_view key, std::string_view value) = 0;

  // Spans of one thread may come in any order of start within a block of 64 Ki (they are recorded
  // when they end); readers merge.
  virtual void AddSpan(ThreadId thread, const Span& span) = 0;
  virtual void AddEvent(const Event& event) = 0;
  virtual void AddCounter(const CounterSample& sample) = 0;
  // Rows of one followed unit may come in any order.
  virtual void AddUnit(const UnitRow& /*unit*/) {}
  virtual void AddCall(const CallRow& /*call*/) {}
  virtual void SetLosses(const Losses& losses) = 0;
  virtual void SetRealtimeOffset(TimeNs offset) = 0;

  // Called with the number of the next mark when all that was added is on disk.
  using BeforeMark = std::function<void(std::uint64_t mark)>;
  // Writes buffered blocks out, and a mark behind them. `before_mark` can keep elsewhere, under the
  // mark's number, how far the caller had come: a reader that goes as far as the last mark (see
  // OpenControl::last_mark) then finds the two to agree, wherever their writer was killed.
  // Errors: kOutput; what is on disk stays readable. After a full disk what is added waits for the
  // next call, up to 64 MiB (packed), after other errors it is dropped.
  virtual Result<void> Flush(const BeforeMark& before_mark) = 0;
  Result<void> Flush() { return Flush(BeforeMark()); }
  virtual Result<void> Finish() = 0;
  // Instead: nothing is left, not even the partial file. Nothing may be called afterwards.
  virtual void Discard() {}
  // The error of the last Flush() was a full disk: nothing is lost yet, another one may succeed.
  [[nodiscard]] virtual bool WaitsForRoom() const { return false; }
  [[nodiscard]] virtual std::uint64_t bytes_written() const = 0;
  // The file that Finish() makes, or has made: another one than was asked for if its name was taken
  // meanwhile or its folder was removed. note() says why, in one sentence. Both "" without a file.
  [[nodiscard]] virtual std::filesystem::path final_path() const { return {}; }
  [[nodiscard]] virtual std::string note() const { return {}; }
};

struct PackOptions {
  // A flight recorder: the file holds at least the last so many nanoseconds before the newest span
  // or event, and at most some three times as much; when it is finished, no more than that. 0: all.
  TimeNs keep{};
  // Of the file until it is finished.
  std::string suffix = ".part";
  // Asked in Finish() about a file that bears the final name by then: may it be replaced? If not,
  // the trace is given a name beside it. Empty: yes.
  std::function<bool(const std::filesystem::path&)> may_replace{};
};

// `final_path` appears only in Finish(); until then the file is `final_path` + `suffix`. What a
// killed writer has left under that name, if something was recorded, is moved aside: see
// output_place.h. The file is its owner's alone, and on disk when it is finished.
[[nodiscard]] Result<std::unique_ptr<Packer>> CreatePacked(const std::filesystem::path& final_path,
                                                           const PackOptions& options = {});

// Packs a recording or repacks a packed trace.
[[nodiscard]] Result<void> PackTrace(const std::filesystem::path& from,
                                     const std::filesystem::path& to);

}  // namespace penstock::traces
