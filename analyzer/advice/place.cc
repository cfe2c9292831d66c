// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/place.h"

#include <algorithm>

namespace penstock::analyzer {
namespace {

void PlaceInTime(const RuleInput& input, Finding& finding) {
  const SteadyState& steady = input.loader().steady;
  if (steady.from == kNever || steady.to <= steady.from) return;
  finding.from = static_cast<double>(steady.from - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(steady.to - input.trace.begin().value) * 1e-9;
}

void AddPid(const RuleInput& input, ProcessId process, Finding& finding) {
  if (process.value >= input.trace.processes().size()) return;
  const std::uint32_t pid = input.trace.processes()[process.value].pid;
  const auto known = std::find(finding.pids.begin(), finding.pids.end(), pid);
  if (known == finding.pids.end()) finding.pids.push_back(pid);
}

}  // namespace

void PlaceInLoop(const RuleInput& input, Finding& finding) {
  PlaceInTime(input, finding);
  AddPid(input, input.run().config.consumer, finding);
}

void PlaceInWorkers(const RuleInput& input, Finding& finding) {
  PlaceInTime(input, finding);
  for (const WorkerRun& worker : input.run().workers) AddPid(input, worker.process, finding);
}

}  // namespace penstock::analyzer
