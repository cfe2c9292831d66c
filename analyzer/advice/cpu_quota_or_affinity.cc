// SPDX-License-Identifier: Apache-2.0
//
// There are more workers than cores that the run may use: a cgroup quota or an affinity mask takes
// cores away that the program believes it has.
// Threshold: any worker beyond the usable cores. Source: docs/diagnosis.md R8, R9; PyTorch looks at
// the affinity mask but not at the quota (pytorch#101850, batpred#4771).
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void CpuQuotaOrAffinity(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const Host& host = input.diagnosis.run.host;
  const int workers = input.run().config.num_workers;
  const double usable = host.usable_cores();
  const bool quota = host.quota > 0 && host.quota < host.cores;
  const bool mask = host.affinity > 0 && host.affinity < host.cores;
  if (!host.known || host.cores == 0 || !(quota || mask) || workers <= usable) return;
  const CpuLoad& cpu = input.loader().cpu;
  Finding finding;
  finding.id = "cpu-quota-or-affinity";
  Pipeline wider = input.loader().pipeline;
  wider.cores = std::max(wider.cores, static_cast<double>(host.cores) / host.ranks);
  finding.predicted = Predict(input.loader().pipeline, wider, input.loader().replay);
  const bool full = cpu.known && cpu.saturation() >= 0.8;
  finding.severity =
      full || finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen =
      Say<words::kCpuQuotaOrAffinity>(Give<"usable_cores">(usable), Give<"cores">(host.cores),
                                      Give<"num_workers">(workers), Give<"quota">(quota));
  finding.evidence = {{"num_workers", static_cast<double>(workers)},
                      {"usable_cores", usable},
                      {"cores", static_cast<double>(host.cores)},
                      {"quota", host.quota},
                      {"affinity", static_cast<double>(host.affinity)}};
  finding.action = Say<words::kWidenLimit>(Give<"quota">(quota));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
