// SPDX-License-Identifier: Apache-2.0
//
// The cores are full: more workers only take turns.
// Threshold: 90 % of the usable cores (SageMaker's CPUBottleneck), while the loop waits 5 %.
// Source: docs/diagnosis.md R5 and 3.4: CPU per batch stays, wall grows with the workers.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

void CpuSaturated(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.run().config.num_workers == 0) return;
  if (input.run().batches.size() < 8) return;  // as cold-cache: too short to say
  const CpuLoad& cpu = input.loader().cpu;
  if (!cpu.known || (cpu.saturation() < 0.9 && !cpu.crowded) ||
      input.diagnosis.wait_fraction < 0.05)
    return;
  if (cpu.crowded && input.loader().signals.worker_busy < 0.9) return;
  Finding finding;
  finding.id = "cpu-saturated";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format("{:.0f} % of the {:.3g} usable cores are in use while the loop waits",
                              100 * cpu.saturation(), cpu.cores);
  if (cpu.crowded) {
    finding.title = fmt::format(
        "the run got {:.2g} of {:.3g} cores: decoding takes {:.1f} times its "
        "CPU time, so other programs keep it waiting",
        cpu.used, cpu.cores, cpu.squeeze);
  }
  finding.evidence = {{"cpu_saturation", cpu.saturation()},
                      {"threshold", 0.9},
                      {"usable_cores", cpu.cores},
                      {"decode_wall_per_cpu", cpu.squeeze},
                      {"fetch_wall_per_cpu", input.loader().signals.wall_per_cpu}};
  const bool raised = input.loader().suggestion.workers > input.run().config.num_workers;
  finding.action = raised ? "More workers gain no more than what is suggested. "
                          : "More workers will not help. ";
  finding.action +=
      "Make a sample cheaper (a faster decoder, decoding at reduced size, caching what repeats), "
      "move stages to the GPU, or use more cores.";
  if (cpu.crowded) {
    finding.action =
        "Record again when the machine is quiet: figures of this run are those of a shared "
        "machine. More workers of this run would take turns with the other programs.";
  }
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
