// SPDX-License-Identifier: Apache-2.0
//
// The training process loads the data itself, so fetch and step take turns.
//
// Threshold: the loop waits 5 % of its time (kineto, xprof), and the suggested number of workers
// surely gains, by at least 2 % (ours). If the loop waits 20 %, the finding is critical (xprof).
// Source: docs/diagnosis.md R3; Lightning's worker check.
#include <algorithm>
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void NoWorkerProcesses(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const LoaderConfig& config = input.run().config;
  if (config.num_workers != 0 || !config.workers_known) return;
  const double wait = input.diagnosis.wait_fraction;
  if (wait < 0.05) return;
  Finding finding;
  finding.id = "no-worker-processes";
  finding.severity = wait >= 0.2 ? Severity::kCritical : Severity::kWarning;
  finding.seen = Say<words::kNoWorkerProcesses>(Give<"wait_fraction">(wait));
  const Suggestion& suggestion = input.loader().suggestion;
  const int workers = std::max(1, suggestion.workers);
  const int prefetch = suggestion.workers > 0 ? suggestion.prefetch : 2;
  finding.evidence = {
      {"wait_fraction", wait}, {"threshold", 0.05}, {"usable_cores", input.loader().cpu.cores}};
  const Statement& note = suggestion.note;
  finding.action = Say<words::kStartWorkers>(
      Give<"known">(suggestion.missing.empty()), Give<"threads">(config.sample_tasks),
      Give<"workers">(workers), Give<"prefetch">(prefetch),
      Give<"repeats">(note.empty() ? std::nullopt : std::optional(note)));
  finding.predicted = input.With(workers, prefetch);
  // If, for example, there is only one core and all of the work is computing, workers gain nothing.
  if (finding.predicted->speedup < 1.02 || !finding.predicted->SurelyGains()) return;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
