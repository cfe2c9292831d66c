// SPDX-License-Identifier: Apache-2.0
//
// Builds a trace in memory through the interface of a Packer, for tests, importers and recordings.
// Not thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "traces/pack.h"
#include "traces/packed/string_table.h"
#include "traces/trace.h"

namespace penstock::traces {

class TraceBuilder final : public Packer {
 public:
  TraceBuilder();

  [[nodiscard]] StringId Intern(std::string_view text) override;  // O(1)
  void SetString(StringId id, std::string_view text) override;
  [[nodiscard]] ThreadId AddThread(const ThreadInfo& thread) override;
  [[nodiscard]] ProcessId AddProcess(const ProcessInfo& process) override;
  void UpdateProcess(ProcessId id, const ProcessInfo& process) override;
  void UpdateThread(ThreadId id, const ThreadInfo& thread) override;
  void SetFact(std::string_view key, std::string_view value) override;
  void AddSpan(ThreadId thread, const Span& span) override;
  void AddEvent(const Event& event) override;
  void AddCounter(const CounterSample& sample) override;
  void AddUnit(const UnitRow& unit) override { data_.unit_rows.push_back(unit); }
  void AddCall(const CallRow& call) override { data_.call_rows.push_back(call); }
  void SetLosses(const Losses& losses) override { data_.losses = losses; }
  void SetRealtimeOffset(TimeNs offset) override { data_.realtime_offset = offset; }
  Result<void> Flush(const BeforeMark& /*before_mark*/) override { return {}; }
  Result<void> Finish() override { return {}; }
  [[nodiscard]] std::uint64_t bytes_written() const override { return 0; }

  // Returns what was added so far and leaves the builder empty.
  [[nodiscard]] TraceData Take();
  [[nodiscard]] std::unique_ptr<Trace> Build() { return MakeTrace(Take()); }

 private:
  TraceData data_;
  IdTable ids_;
};

}  // namespace penstock::traces
