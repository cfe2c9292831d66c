// SPDX-License-Identifier: Apache-2.0
//
// A Packer in front of the real one. The drain knows of a process what its agent wrote; the
// collector knows what the kernel says. Both end up in one ProcessInfo here, whichever comes last.
// It also counts what passes, for the progress line. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/record/liveness.h"
#include "traces/pack.h"

namespace penstock::record {

// What the kernel says of a process.
struct KernelView {
  bool coverage = false;  // the next two are a pair, taken at the same moment
  Bytes bytes_hooked;
  Bytes bytes_kernel;
  std::uint32_t features = 0;
  std::vector<std::string> libraries;
};

class EnrichingPacker final : public traces::Packer {
 public:
  explicit EnrichingPacker(std::unique_ptr<traces::Packer> inner) : inner_(std::move(inner)) {}

  // The caller changes it and then calls Apply().
  KernelView& view(ProcessKey key) { return views_[key]; }
  // Writes the merged ProcessInfo again, if the drain has announced that process.
  void Apply(ProcessKey key);
  void ApplyAll();

  [[nodiscard]] std::uint64_t spans() const { return spans_; }
  // First value of `key` among the facts of the run and of its processes; "" if there is none.
  [[nodiscard]] std::string FindFact(std::string_view key) const;

  StringId Intern(std::string_view text) override { return inner_->Intern(text); }
  void SetString(StringId id, std::string_view text) override { inner_->SetString(id, text); }
  ThreadId AddThread(const traces::ThreadInfo& thread) override {
    return inner_->AddThread(thread);
  }
  ProcessId AddProcess(const traces::ProcessInfo& process) override;
  void UpdateProcess(ProcessId id, const traces::ProcessInfo& process) override;
  void UpdateThread(ThreadId id, const traces::ThreadInfo& thread) override {
    inner_->UpdateThread(id, thread);
  }
  void SetFact(std::string_view key, std::string_view value) override;
  void AddSpan(ThreadId thread, const traces::Span& span) override {
    ++spans_;
    inner_->AddSpan(thread, span);
  }
  void AddEvent(const traces::Event& event) override { inner_->AddEvent(event); }
  void AddCounter(const traces::CounterSample& sample) override { inner_->AddCounter(sample); }
  void SetLosses(const traces::Losses& losses) override { inner_->SetLosses(losses); }
  void SetRealtimeOffset(TimeNs offset) override { inner_->SetRealtimeOffset(offset); }
  Result<void> Flush() override { return inner_->Flush(); }
  Result<void> Finish() override { return inner_->Finish(); }
  std::uint64_t bytes_written() const override { return inner_->bytes_written(); }

 private:
  struct Known {
    ProcessId id;
    traces::ProcessInfo info;  // as the drain gave it
  };
  [[nodiscard]] traces::ProcessInfo Merged(const traces::ProcessInfo& info) const;

  std::unique_ptr<traces::Packer> inner_;
  std::map<ProcessKey, Known> known_;
  std::map<ProcessKey, KernelView> views_;
  std::map<std::string, std::string, std::less<>> facts_;
  std::uint64_t spans_ = 0;
};

}  // namespace penstock::record
