// SPDX-License-Identifier: Apache-2.0
//
// A Packer that passes everything on to another Packer, which it owns. A class between a drain and
// a file derives from it, and overrides only the functions whose data it changes. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "traces/pack.h"

namespace penstock::record {

class ForwardingPacker : public traces::Packer {
 public:
  explicit ForwardingPacker(std::unique_ptr<traces::Packer> inner) : inner_(std::move(inner)) {}

  StringId Intern(std::string_view text) override { return inner_->Intern(text); }
  StringId AddString(std::string_view text) override { return inner_->AddString(text); }
  void SetString(StringId id, std::string_view text) override { inner_->SetString(id, text); }
  ThreadId AddThread(const traces::ThreadInfo& thread) override {
    return inner_->AddThread(thread);
  }
  ProcessId AddProcess(const traces::ProcessInfo& process) override {
    return inner_->AddProcess(process);
  }
  void UpdateProcess(ProcessId id, const traces::ProcessInfo& process) override {
    inner_->UpdateProcess(id, process);
  }
  void UpdateThread(ThreadId id, const traces::ThreadInfo& thread) override {
    inner_->UpdateThread(id, thread);
  }
  void EndThread(ThreadId id) override { inner_->EndThread(id); }
  void EndProcess(ProcessId id) override { inner_->EndProcess(id); }
  void SetFact(std::string_view key, std::string_view value) override {
    inner_->SetFact(key, value);
  }
  void AddSpan(ThreadId thread, const traces::Span& span) override {
    inner_->AddSpan(thread, span);
  }
  void AddEvent(const traces::Event& event) override { inner_->AddEvent(event); }
  void AddCounter(const traces::CounterSample& sample) override { inner_->AddCounter(sample); }
  void AddUnit(const traces::UnitRow& unit) override { inner_->AddUnit(unit); }
  void AddCall(const traces::CallRow& call) override { inner_->AddCall(call); }
  void SetLosses(const traces::Losses& losses) override { inner_->SetLosses(losses); }
  void SetRealtimeOffset(TimeNs offset) override { inner_->SetRealtimeOffset(offset); }
  using traces::Packer::Flush;
  Result<void> Flush(const BeforeMark& before_mark) override { return inner_->Flush(before_mark); }
  Result<void> Finish() override { return inner_->Finish(); }
  void Discard() override { inner_->Discard(); }
  [[nodiscard]] bool WaitsForRoom() const override { return inner_->WaitsForRoom(); }
  std::uint64_t bytes_written() const override { return inner_->bytes_written(); }
  [[nodiscard]] std::filesystem::path final_path() const override { return inner_->final_path(); }
  [[nodiscard]] std::string note() const override { return inner_->note(); }

 protected:
  [[nodiscard]] traces::Packer& inner() { return *inner_; }

 private:
  std::unique_ptr<traces::Packer> inner_;
};

}  // namespace penstock::record
