// SPDX-License-Identifier: Apache-2.0
//
// Fewer workers are enough. The others cost memory and start-up time and gain nothing.
//
// Threshold: the cheapest setting within 2 % of the best (docs/diagnosis.md 5.3) has at least two
// workers fewer than recorded. The recorded number also exceeds the usable cores, or is at least
// twice the number of the cheapest setting.
// Source: docs/diagnosis.md R6, R2; PyTorch's own warning; Lotus saw no gain above 20 workers.
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void TooManyWorkers(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  out.Needs("too-many-workers", input.NeedsToCompareWorkers());
  if (input.loader().cpu.crowded) return;
  const LoaderDiagnosis& loader = input.loader();
  if (!loader.steady.steady) return;  // the recording is too short to judge
  const LoaderConfig& config = input.run().config;
  const int workers = config.num_workers;
  const int enough = loader.suggestion.enough_workers;
  if (workers - enough < 2) return;
  if (workers <= loader.cpu.own_cores && enough > workers / 2) return;
  Finding finding;
  finding.predicted = input.With(enough, loader.suggestion.enough_prefetch);
  if (finding.predicted->speedup < 0.98) return;
  finding.id = "too-many-workers";
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  const auto had = Give<"num_workers">(workers);
  const auto need = Give<"enough_workers">(enough);
  const auto threads = Give<"threads">(config.sample_tasks);
  finding.seen = Say<words::kTooManyWorkers>(had, need, threads);
  finding.evidence = {{"num_workers", static_cast<double>(workers)},
                      {"enough_workers", static_cast<double>(enough)},
                      {"usable_cores", loader.cpu.own_cores},
                      {"worker_busy", loader.signals.worker_busy},
                      {"tolerance", 0.02},
                      {"ram_bytes", static_cast<double>(input.WithSetting(input.Recorded()).ram)},
                      {"ram_bytes_after", static_cast<double>(finding.predicted->ram)}};
  finding.action = Say<words::kFewerWorkers>(had, need, threads, Give<"none">(enough == 0),
                                             Give<"prefetch">(loader.suggestion.enough_prefetch));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
