// SPDX-License-Identifier: Apache-2.0
//
// The workers are fast enough on average, but the queue is empty after every slow batch.
//
// Threshold: the loop waits 5 % (kineto, xprof), and a larger depth gains 5 % in the simulator with
// the same number of workers (docs/diagnosis.md R22). The rule tries 2, 4 and 8 times the present
// depth, as far as they fit into memory and /dev/shm. The finding names the smallest depth within
// 2 % of the best.
// Source: docs/diagnosis.md 3.9 (with heavy tails, four times the depth gained 1.46x).
#include <algorithm>
#include <optional>
#include <vector>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

struct Depth {
  Setting setting;
  Prediction predicted;
};

// The smallest depth within 2 % of the best; nullopt if the best gains less than 5 %.
std::optional<Depth> FindDepth(const RuleInput& input) {
  const LoaderDiagnosis& loader = input.loader();
  const Budget budget = BudgetOf(input.diagnosis.run.host);
  std::vector<Depth> depths;
  double best = 0;
  for (const int times : {2, 4, 8}) {
    Depth depth{input.Recorded(), {}};
    depth.setting.prefetch *= times;
    const double shared = SharedMemoryOf(loader.pipeline, depth.setting, loader.facts);
    depth.predicted = input.WithSetting(depth.setting);
    const auto ram = static_cast<double>(depth.predicted.ram);
    if (budget.shared_memory > 0 && shared > budget.shared_memory) break;
    if (budget.ram > 0 && ram > budget.ram) break;
    best = std::max(best, depth.predicted.speedup);
    depths.push_back(depth);
    if (times == 2 && depth.predicted.speedup < 1.01) break;  // greater depths will not help either
  }
  for (const Depth& depth : depths) {
    if (best >= 1.05 && depth.predicted.speedup >= 0.98 * best) return depth;
  }
  return std::nullopt;
}

}  // namespace

void PrefetchTooShallow(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  out.Needs("prefetch-too-shallow", input.NeedsToCompareWorkers());
  if (input.run().config.num_workers == 0) return;
  if (input.diagnosis.wait_fraction < 0.05 || input.loader().cpu.crowded) return;
  if (!input.loader().steady.steady) return;
  const std::optional<Depth> found = FindDepth(input);
  if (!found) return;
  const bool threads = input.run().config.sample_tasks;
  const int deeper = found->setting.prefetch - (threads ? 1 : 0);
  const Signals& signals = input.loader().signals;
  Finding finding;
  finding.id = "prefetch-too-shallow";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kPrefetchTooShallow>(Give<"worker_busy">(signals.worker_busy));
  finding.evidence = {{"prefetch_factor", static_cast<double>(input.run().config.prefetch_factor)},
                      {"threshold_speedup", 1.05},
                      {"wait_fraction", input.diagnosis.wait_fraction},
                      {"batch_variation", signals.batch_variation},
                      {"worker_busy", signals.worker_busy},
                      {"ram_bytes", static_cast<double>(found->predicted.ram)}};
  finding.action = Say<words::kDeeper>(Give<"threads">(threads), Give<"depth">(deeper),
                                       Give<"ram_bytes">(found->predicted.ram));
  finding.predicted = found->predicted;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
