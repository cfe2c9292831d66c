// SPDX-License-Identifier: Apache-2.0
//
// Some workers of an iterable dataset never make a batch: it has fewer shards than workers. Such
// workers start, take memory, and end.
//
// Threshold: one such worker in an epoch that was seen to its end and had two batches for each
// worker (ours). Nothing is predicted, because the rate is the same without these workers. The gain
// is their memory and start-up.
// Source: docs/diagnosis.md R30; HF datasets #5984, #6594, #8669.
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/model/worker_use.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

// Places the finding in `epoch`, and on the workers that made no batch in the whole run.
void Place(const RuleInput& input, const Epoch& epoch, Finding& finding) {
  const LoaderRun& run = input.run();
  const Batch& last = run.batches[epoch.first + epoch.count - 1];
  finding.from = static_cast<double>(epoch.start - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(last.delivered - input.trace.begin().value) * 1e-9;
  const auto processes = input.trace.processes();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    const bool worked =
        std::any_of(run.workers.begin(), run.workers.end(),
                    [&](const WorkerRun& worker) { return worker.process == ProcessId{i}; });
    // A worker that a fork server started has the fork server as its parent. IsOurs() allows this.
    const bool ours =
        processes[i].role == wire::kRoleWorker && input.diagnosis.run.IsOurs(ProcessId{i});
    if (ours && !worked) finding.pids.push_back(processes[i].pid);
  }
}

}  // namespace

void IdleWorkers(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const LoaderRun& run = input.run();
  const int workers = run.config.num_workers;
  const int used = MostUsefulWorkers(run);
  if (used == 0) return;
  Finding finding;
  finding.id = "idle-workers";
  finding.severity = Severity::kWarning;
  finding.seen =
      Say<words::kIdleWorkers>(Give<"workers">(workers), Give<"workers_with_batches">(used));
  finding.evidence = {{"workers", static_cast<double>(workers)},
                      {"workers_with_batches", static_cast<double>(used)},
                      {"batches", static_cast<double>(run.batches.size())}};
  finding.action =
      Say<words::kMoreShards>(Give<"workers">(workers), Give<"workers_with_batches">(used));
  Place(input, *WorkersUsed(run).epoch, finding);  // the epoch is known, since `used` is not 0
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
