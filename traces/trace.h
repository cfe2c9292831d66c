// SPDX-License-Identifier: Apache-2.0
//
// Read access to one trace, packed or still a recording; callers cannot see the difference.
// Immutable once opened; several threads may read it. Strings live as long as the Trace.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/result.h"
#include "traces/call_rows.h"
#include "traces/event.h"

namespace penstock::traces {

class Trace {
 public:
  virtual ~Trace() = default;

  // Facts of the whole run (docs/design.md 4, "header facts"); the keys are in traces/FORMAT.md.
  [[nodiscard]] virtual const std::map<std::string, std::string>& facts() const = 0;
  [[nodiscard]] virtual std::span<const ProcessInfo> processes() const = 0;
  [[nodiscard]] virtual std::span<const ThreadInfo> threads() const = 0;
  [[nodiscard]] virtual std::span<const Event> events() const = 0;            // ascending time
  [[nodiscard]] virtual std::span<const CounterSample> counters() const = 0;  // ascending time
  // Followed units and the nodes of their call trees, ascending by start of the unit, then thread:
  // traces/call_trees.h reads them.
  [[nodiscard]] virtual std::span<const UnitRow> unit_rows() const { return {}; }
  [[nodiscard]] virtual std::span<const CallRow> call_rows() const { return {}; }
  [[nodiscard]] virtual const Losses& losses() const = 0;

  [[nodiscard]] virtual std::string_view String(StringId id) const = 0;  // "" if unknown
  [[nodiscard]] virtual std::uint64_t span_count() const = 0;
  [[nodiscard]] virtual TimeNs begin() const = 0;  // begin of the first span or event
  [[nodiscard]] virtual TimeNs end() const = 0;
  // CLOCK_REALTIME minus CLOCK_MONOTONIC, to convert a time to a date.
  [[nodiscard]] virtual TimeNs realtime_offset() const = 0;

  // Calls `visit` with consecutive runs of the spans of `thread`, ascending by start; at equal
  // starts the longest comes first. Opening has already counted damage in losses(). Cost: about one
  // decode for each block; the memory of a few blocks.
  virtual void ForEachBlock(ThreadId thread,
                            const std::function<void(std::span<const Span>)>& visit) const = 0;

  // All spans of a thread in one vector.
  [[nodiscard]] std::vector<Span> Spans(ThreadId thread) const;
};

// Lets another thread watch and stop the opening of a trace.
struct OpenControl {
  std::stop_token stop;
  std::atomic<float>* progress = nullptr;  // 0 to 1, relaxed: nothing else is published by it
  // If set, all after the last mark (Packer::Flush()) of a packed trace is left out. Receives the
  // mark's number; 0: it has no mark, and all is read. Recordings do not set it.
  std::uint64_t* last_mark = nullptr;
};

// Opens a packed trace or a recording, also one that is still being written, or that a crash left.
// Errors: kInput if the file cannot be read, is not a trace, contains nothing usable, or if opening
// was stopped; kEnvironment if the system lacks something. The message names the file. Smaller
// damage is in losses().
[[nodiscard]] Result<std::unique_ptr<Trace>> OpenTrace(const std::filesystem::path& path,
                                                       const OpenControl& control = {});

// The same from memory. `name`: for messages, and the path of a tail (NAME.tail).
[[nodiscard]] Result<std::unique_ptr<Trace>> OpenTraceBytes(std::vector<std::byte> contents,
                                                            const std::string& name);

// The contents of a trace in plain containers, for TraceBuilder and tests.
struct TraceData {
  std::map<std::string, std::string> facts;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;       // MakeTrace fills .spans, .first and .last
  std::vector<std::vector<Span>> spans;  // one vector per thread, any order
  std::vector<Event> events;             // any order
  std::vector<CounterSample> counters;   // any order
  std::vector<UnitRow> unit_rows;        // any order
  std::vector<CallRow> call_rows;        // any order
  std::vector<std::string> strings{""};  // index = StringId
  TimeNs realtime_offset;
  Losses losses;

  StringId Intern(std::string_view text);  // O(number of strings); use TraceBuilder for many
};

[[nodiscard]] std::unique_ptr<Trace> MakeTrace(TraceData data);

}  // namespace penstock::traces
