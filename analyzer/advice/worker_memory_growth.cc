// SPDX-License-Identifier: Apache-2.0
//
// The workers' memory grows by copy on write. After a fork the pages of Python objects are shared;
// changing the reference count of an object on a shared page makes that page private. The sign:
// private memory rises while anonymous memory (private and shared together) does not. If a
// recording lacks anonymous memory, private memory alone decides.
//
// Threshold: memory_forecast.h.
// Source: docs/diagnosis.md R26; pytorch#13246; gc.freeze in the documentation of Python.
#include "analyzer/advice/memory_forecast.h"
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_memory.h"

namespace penstock::analyzer {
namespace {

Statement Action(const RuleInput& input) {
  const MemoryModel& memory = input.loader().memory;
  const LoaderConfig& config = input.run().config;
  std::optional<double> shared;
  if (memory.attributed && memory.shared_bytes > 0 && config.start_method != "spawn") {
    shared = memory.shared_bytes;
  }
  return Say<words::kArraysNotObjects>(
      Give<"several">(config.num_workers > 1), Give<"shared_bytes">(shared),
      Give<"persistent">(config.persistent_workers), Give<"forecast">(Forecast(input)));
}

}  // namespace

void WorkerMemoryGrowth(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  out.Needs("worker-memory-growth", NeedsOfGrowth(input));
  const MemoryModel& memory = input.loader().memory;
  const Growth& growth = memory.growth.copied;
  if (!WorthTelling(input, growth)) return;
  Finding finding;
  finding.id = "worker-memory-growth";
  DescribeGrowth(input, growth, finding);
  const int workers = std::max(1, memory.worker_count);
  finding.seen = Say<words::kWorkerMemoryGrowth>(
      Give<"workers">(workers), Give<"bytes_per_minute">(60 * growth.per_second.estimate * workers),
      Give<"copied">(memory.attributed));
  finding.evidence.emplace_back(
      "kind", English(Say<words::kGrowthKind>(Give<"copied">(memory.attributed))));
  finding.evidence.emplace_back("new_bytes_per_s",
                                memory.growth.fresh.per_second.estimate * workers);
  finding.action = Action(input);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
