// SPDX-License-Identifier: Apache-2.0
//
// The cores are full: more workers only get smaller shares of them.
//
// Threshold: the loop waits 5 % of its time, in a recording of at least 8 batches, and one of two
// conditions holds. Either the run uses 90 % of its cores (SageMaker's CPUBottleneck). Or the
// machine is crowded, and the workers are busy 90 % of the time.
// Source: docs/diagnosis.md R5 and 3.4: CPU time per batch stays, wall time grows with the workers.
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void CpuSaturated(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().config.num_workers == 0) return;
  if (input.run().batches.size() < 8) return;  // too short to judge, as in cold-cache
  const CpuLoad& cpu = input.loader().cpu;
  if (!cpu.known || input.diagnosis.wait_fraction < 0.05) return;
  if (cpu.saturation() < 0.9 && !cpu.crowded) return;
  if (cpu.crowded && input.loader().signals.worker_busy < 0.9) return;
  Finding finding;
  finding.id = "cpu-saturated";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kCpuSaturated>(
      Give<"crowded">(cpu.crowded), Give<"used">(cpu.used), Give<"usable_cores">(cpu.cores),
      Give<"squeeze">(cpu.decode_slowdown > 0 ? std::optional(cpu.decode_slowdown) : std::nullopt),
      Give<"core_wait">(cpu.core_wait), Give<"cpu_saturation">(cpu.saturation()));
  finding.evidence = {{"cpu_saturation", cpu.saturation()},
                      {"threshold", 0.9},
                      {"usable_cores", cpu.cores},
                      {"decode_wall_per_cpu", cpu.decode_slowdown},
                      {"fetch_wall_per_cpu", input.loader().signals.wall_per_cpu}};
  const bool raised = input.loader().suggestion.workers > input.run().config.num_workers;
  finding.action =
      Say<words::kCheaperSamples>(Give<"crowded">(cpu.crowded), Give<"raised">(raised));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
