// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/consumers.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analyzer/model/host.h"

namespace penstock::analyzer {

// A worker belongs to its nearest ancestor that is a training process; a forkserver may stand
// between them.
Consumers::Consumers(std::span<const traces::ProcessInfo> processes) {
  // In a merged trace, different parts may use the same pid.
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> by_pid;
  std::map<std::string, std::uint32_t> first;  // the first training process of each part
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const std::string part = TextFact(processes[i].facts, "part");
    by_pid.emplace(std::pair(part, processes[i].pid), i);
    if (processes[i].role == wire::kRoleConsumer) first.emplace(part, i);
  }
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const std::string part = TextFact(processes[i].facts, "part");
    std::uint32_t at = i;
    for (int steps = 0; steps < 64 && processes[at].role != wire::kRoleConsumer; ++steps) {
      const auto parent = by_pid.find({part, processes[at].parent});
      if (parent == by_pid.end() || parent->second == at) break;
      at = parent->second;
    }
    const bool found = processes[at].role == wire::kRoleConsumer;
    descends_.push_back(found && at != i);
    const auto substitute = first.find(part);
    const std::uint32_t other = substitute == first.end() ? i : substitute->second;
    consumers_.push_back(ProcessId{found ? at : other});
  }
}

}  // namespace penstock::analyzer
