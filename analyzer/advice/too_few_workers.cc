// SPDX-License-Identifier: Apache-2.0
//
// All workers are busy, cores are free, and the loop waits.
//
// Threshold: workers are busy 90 % and less than 80 % of the cores are in use (docs/diagnosis.md
// R4, ours), the loop waits 5 % (kineto), and the simulator gains 5 % with more workers. The
// simulator knows the limits of storage and of the training process.
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void TooFewWorkers(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().config.num_workers == 0) return;
  const LoaderDiagnosis& loader = input.loader();
  const int workers = input.run().config.num_workers;
  const double busy = loader.signals.worker_busy;
  const double saturation = loader.cpu.known ? loader.cpu.saturation() : 0;
  if (busy < 0.9 || saturation >= 0.8 || input.diagnosis.wait_fraction < 0.05) return;
  if (loader.suggestion.workers <= workers) return;
  Finding finding;
  finding.predicted = input.With(loader.suggestion.workers, loader.suggestion.prefetch);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "too-few-workers";
  finding.severity =
      input.diagnosis.wait_fraction >= 0.2 ? Severity::kCritical : Severity::kWarning;
  const bool threads = input.run().config.sample_tasks;
  finding.seen = Say<words::kTooFewWorkers>(Give<"threads">(threads), Give<"workers">(workers),
                                            Give<"one">(workers == 1), Give<"worker_busy">(busy));
  finding.evidence = {{"worker_busy", busy},
                      {"threshold", 0.9},
                      {"cpu_saturation", saturation},
                      {"usable_cores", loader.cpu.cores},
                      {"wait_fraction", input.diagnosis.wait_fraction}};
  const Statement& note = loader.suggestion.note;
  finding.action =
      Say<words::kMoreWorkers>(Give<"threads">(threads), Give<"workers">(workers),
                               Give<"suggested">(loader.suggestion.workers),
                               Give<"repeats">(note.empty() ? std::nullopt : std::optional(note)));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
