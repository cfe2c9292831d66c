// SPDX-License-Identifier: Apache-2.0
//
// Which training process each process of a trace works for. Values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "traces/trace.h"

namespace penstock::analyzer {

class Consumers {
 public:
  explicit Consumers(std::span<const traces::ProcessInfo> processes);

  [[nodiscard]] std::size_t size() const { return consumers_.size(); }
  // The process that iterates over the loader that `process` works for, itself if it consumes.
  [[nodiscard]] ProcessId Of(ProcessId process) const { return consumers_[process.value]; }
  // Whether a process that iterates over a loader started `process`, or started who did.
  [[nodiscard]] bool Descends(ProcessId process) const { return descends_[process.value]; }

 private:
  std::vector<ProcessId> consumers_;  // by process
  std::vector<bool> descends_;
};

}  // namespace penstock::analyzer
