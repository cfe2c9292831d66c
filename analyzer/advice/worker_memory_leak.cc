// SPDX-License-Identifier: Apache-2.0
//
// Workers allocate memory and keep it: a leak, or a cache without a bound. The sign is anonymous
// memory, resident or swapped out, that rises at a rate that does not fall.
//
// Threshold: memory_forecast.h. Growth that settles comes from a cache that fills or an allocator
// that warms up; there is no finding for it.
// Source: proc(5), smaps_rollup; ours.
#include <algorithm>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_memory.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void WorkerMemoryLeak(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const MemoryModel& memory = input.loader().memory;
  out.Needs("worker-memory-leak", NeedsOfGrowth(input));
  if (input.HasWorkerProcesses() && memory.known && !memory.attributed) {
    out.Needs("worker-memory-leak", Say<words::kRuleNeedsAnonymous>());
  }
  const Growth& growth = memory.growth.fresh;
  if (!memory.attributed || growth.settles > 0 || !WorthTelling(input, growth)) return;
  Finding finding;
  finding.id = "worker-memory-leak";
  DescribeGrowth(input, growth, finding);
  const int workers = std::max(1, memory.worker_count);
  finding.seen = Say<words::kWorkerMemoryLeak>(
      Give<"workers">(workers),
      Give<"bytes_per_minute">(60 * growth.per_second.estimate * workers));
  finding.evidence.emplace_back("kind", std::string("new memory"));
  finding.evidence.emplace_back("copied_bytes_per_s",
                                memory.growth.copied.per_second.estimate * workers);
  finding.action = Say<words::kFindLeak>(Give<"persistent">(input.run().config.persistent_workers),
                                         Give<"forecast">(Forecast(input)));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
