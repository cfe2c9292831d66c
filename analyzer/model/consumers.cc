// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/consumers.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/host.h"

namespace penstock::analyzer {
namespace {

// By part and pid, since different parts of a merged trace may use the same pid. A pid has several
// processes if the kernel gave it to another process when the first had ended.
using ByPid = std::map<std::pair<std::string, std::uint32_t>, std::vector<std::uint32_t>>;

// The parent of a process: the last process with the parent's pid that began before the child. The
// child itself if no parent is recorded.
std::uint32_t ParentOf(std::uint32_t child, const std::string& part,
                       std::span<const traces::ProcessInfo> processes, const ByPid& by_pid) {
  const auto found = by_pid.find({part, processes[child].parent});
  if (found == by_pid.end()) return child;
  const auto start = [&](std::uint32_t process) { return processes[process].process_start; };
  std::uint32_t parent = found->second.front();
  for (const std::uint32_t one : found->second) {
    if (start(one) > start(child)) continue;
    if (start(parent) > start(child) || start(one) > start(parent)) parent = one;
  }
  return parent;
}

}  // namespace

// A worker belongs to its nearest ancestor that is a training process. That ancestor need not be
// the parent: a forkserver may stand between them.
Consumers::Consumers(std::span<const traces::ProcessInfo> processes) {
  ByPid by_pid;
  std::map<std::string, std::uint32_t> first;  // the first training process of each part
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const std::string part = TextFact(processes[i].facts, "part");
    by_pid[{part, processes[i].pid}].push_back(i);
    if (processes[i].role == wire::kRoleConsumer) first.emplace(part, i);
  }
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const std::string part = TextFact(processes[i].facts, "part");
    std::uint32_t at = i;
    for (int steps = 0; steps < 64 && processes[at].role != wire::kRoleConsumer; ++steps) {
      const std::uint32_t parent = ParentOf(at, part, processes, by_pid);
      if (parent == at) break;
      at = parent;
    }
    const bool found = processes[at].role == wire::kRoleConsumer;
    descends_.push_back(found && at != i);
    const auto substitute = first.find(part);
    const std::uint32_t other = substitute == first.end() ? i : substitute->second;
    consumers_.push_back(ProcessId{found ? at : other});
  }
}

}  // namespace penstock::analyzer
