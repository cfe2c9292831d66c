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
  // The training process that `process` works for; a training process works for itself. A process
  // without such an ancestor counts for the first training process of its part of a merged trace,
  // because other parts may come from other hosts. If the part has no training process, the process
  // counts for itself.
  [[nodiscard]] ProcessId Of(ProcessId process) const { return consumers_[process.value]; }
  // Whether a training process is among the ancestors of `process`; false for a training process.
  [[nodiscard]] bool Descends(ProcessId process) const { return descends_[process.value]; }

 private:
  std::vector<ProcessId> consumers_;  // by process
  std::vector<bool> descends_;
};

}  // namespace penstock::analyzer
