// SPDX-License-Identifier: Apache-2.0
//
// A Packer that passes everything on to the real one. The drain gives what the agent of a process
// wrote, and the samplers give what the kernel says about the process. This class merges both into
// one ProcessInfo, in whatever order they come. It also counts spans, for the progress line. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/record/sample/forwarding_packer.h"
#include "agent/record/sample/liveness.h"
#include "traces/pack.h"

namespace penstock::record {

// What the kernel says about a process.
struct KernelView {
  bool coverage = false;  // the next two fields are known, and are of the same moment
  Bytes bytes_hooked;
  Bytes bytes_kernel;
  std::uint32_t features = 0;
  std::vector<std::string> libraries;
  std::string allocator;  // AllocatorLibrary()
};

class EnrichingPacker final : public ForwardingPacker {
 public:
  using ForwardingPacker::ForwardingPacker;

  // The view of a process. The caller changes it and then calls Apply().
  KernelView& view(ProcessKey key) { return views_[key]; }
  // Writes the merged ProcessInfo again, if the drain has announced that process.
  void Apply(ProcessKey key);
  void ApplyAll();
  // Forgets a process that has ended. Its facts are kept for FindFact().
  void Forget(ProcessKey key);

  [[nodiscard]] std::uint64_t spans() const { return spans_; }
  // The value of the run's fact `key`. If the run has no such fact, the value of a process's fact:
  // first looks at processes that still run, then at forgotten ones. "" if none has it.
  [[nodiscard]] std::string FindFact(std::string_view key) const;

  ProcessId AddProcess(const traces::ProcessInfo& process) override;
  void UpdateProcess(ProcessId id, const traces::ProcessInfo& process) override;
  void SetFact(std::string_view key, std::string_view value) override;
  void AddSpan(ThreadId thread, const traces::Span& span) override {
    ++spans_;
    inner().AddSpan(thread, span);
  }

 private:
  struct Known {
    ProcessId id;
    traces::ProcessInfo info;  // as the drain gave it, not merged
  };
  [[nodiscard]] traces::ProcessInfo Merged(const traces::ProcessInfo& info) const;

  std::map<ProcessKey, Known> known_;
  std::map<ProcessKey, KernelView> views_;
  std::map<std::string, std::string, std::less<>> facts_;
  std::map<std::string, std::string, std::less<>> facts_of_ended_;
  std::uint64_t spans_ = 0;
};

}  // namespace penstock::record
