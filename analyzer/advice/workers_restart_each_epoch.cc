// SPDX-License-Identifier: Apache-2.0
//
// Workers are started anew for every epoch, and the loop waits for them each time.
// Threshold: these waits take 2 % of the run, in at least two epochs, and 1 % is to be gained. From
// 10 % of the run on, the finding is critical (docs/diagnosis.md R27, ours).
// Source: pytorch#55455, delta-interpolator#3.
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void WorkersRestartEachEpoch(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const LoaderRun& run = input.run();
  const Signals& signals = input.loader().signals;
  if (run.config.num_workers == 0 || run.config.persistent_workers || run.epochs.size() < 2) return;
  if (signals.startup < 0.02) return;
  Setting stay = input.Recorded();
  stay.persistent = true;
  Finding finding;
  finding.predicted = input.WithSetting(stay);
  if (finding.predicted->speedup < 1.01) return;
  finding.id = "workers-restart-each-epoch";
  finding.severity = signals.startup >= 0.1 ? Severity::kCritical : Severity::kWarning;
  finding.seen = Say<words::kWorkersRestart>(Give<"epochs">(run.epochs.size()),
                                             Give<"startup_share">(signals.startup));
  finding.evidence = {{"startup_share", signals.startup},
                      {"threshold", 0.02},
                      {"startup_s", signals.startup_time},
                      {"epochs", static_cast<double>(run.epochs.size())}};
  finding.action = Say<words::kPersist>();
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
