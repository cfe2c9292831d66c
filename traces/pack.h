// SPDX-License-Identifier: Apache-2.0
//
// Writes the packed form of a trace: incrementally, in bounded memory, crash-safe. What was
// flushed before a crash is readable; Finish() writes the table of contents and renames the file
// to its final name. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "traces/base/result.h"
#include "traces/event.h"

namespace penstock::traces {

class Packer {
 public:
  virtual ~Packer() = default;  // without Finish(): the partial file stays, readable

  // Strings by content; the id is this file's.
  [[nodiscard]] virtual StringId Intern(std::string_view text) = 0;
  // Gives `id` another text: for ids that are used before their text is known.
  virtual void SetString(StringId id, std::string_view text) = 0;
  [[nodiscard]] virtual ThreadId AddThread(const ThreadInfo& thread) = 0;
  [[nodiscard]] virtual ProcessId AddProcess(const ProcessInfo& process) = 0;
  virtual void UpdateProcess(ProcessId id, const ProcessInfo& process) = 0;
  virtual void UpdateThread(ThreadId id, const ThreadInfo& thread) = 0;
  virtual void SetFact(std::string_view key, std::string_view value) = 0;

  // Spans of one thread may come in any order of start within a block of 64 Ki (they are recorded
  // when they end); readers merge.
  virtual void AddSpan(ThreadId thread, const Span& span) = 0;
  virtual void AddEvent(const Event& event) = 0;
  virtual void AddCounter(const CounterSample& sample) = 0;
  virtual void SetLosses(const Losses& losses) = 0;
  virtual void SetRealtimeOffset(TimeNs offset) = 0;

  // Writes buffered blocks out. Errors: kOutput (disk full, ...); the packer then keeps what is
  // on disk readable and accepts and drops further data, counted.
  virtual Result<void> Flush() = 0;
  virtual Result<void> Finish() = 0;
  // Instead: nothing is left, not even the partial file. Nothing may be called afterwards.
  virtual void Discard() {}
  [[nodiscard]] virtual std::uint64_t bytes_written() const = 0;
};

// `final_path` appears only in Finish(); until then the file is `final_path` + ".part".
[[nodiscard]] Result<std::unique_ptr<Packer>> CreatePacked(const std::filesystem::path& final_path);

// Packs a recording or repacks a packed trace.
[[nodiscard]] Result<void> PackTrace(const std::filesystem::path& from,
                                     const std::filesystem::path& to);

}  // namespace penstock::traces
