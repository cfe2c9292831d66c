// SPDX-License-Identifier: Apache-2.0
//
// The training process, or its pin thread, unpickles and maps batches one after the other. More
// workers do not make this faster.
//
// Threshold: this serial work fills 20 % of the training loop's time or, if there is a pin thread,
// 80 % of the pin thread's time; the loop waits 5 %, and the simulator gains 5 % without that work.
// The 20 % are ours: only a loop that does nothing else would reach 80 %. The rule for pin threads
// that are less busy is docs/diagnosis.md R36.
//
// Source: docs/diagnosis.md R19 and 3.7 (1400 to 2500 images/s whatever the decoder);
//         pytorch#24984, #81412.
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {

void TransferCeiling(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().config.num_workers == 0) return;
  const LoaderRun& run = input.run();
  const SteadyState& steady = input.loader().steady;
  if (run.config.sample_tasks || input.diagnosis.wait_fraction < 0.05) return;
  const bool thread = input.loader().pipeline.pin_thread;
  double handed = 0;
  double pinned = 0;
  double count = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    if (!steady.in_window[i]) continue;
    handed += run.batches[i].get.wall;
    pinned += run.batches[i].pin.wall;
    count += 1;
  }
  if (count < 1 || steady.time <= 0) return;
  const double share = (handed + pinned) / steady.time;
  const double limit = thread ? 0.8 : 0.2;
  if (share < limit) return;
  Finding finding;
  finding.predicted = input.Without(Factor::kTransfer);
  if (finding.predicted->speedup < 1.05) return;
  // Some of the handover is left however small the batch is.
  finding.predicted->at_most = true;
  finding.predicted->rate.low = std::min(finding.predicted->rate.low, steady.rate.estimate);
  finding.id = "transfer-ceiling";
  finding.severity = Severity::kWarning;
  const double each = (handed + pinned) / count;
  const double ceiling = static_cast<double>(run.samples_per_batch) / each;
  finding.seen = Say<words::kTransferCeiling>(Give<"thread">(thread), Give<"each_s">(each),
                                              Give<"ceiling_per_s">(ceiling),
                                              Give<"samples">(run.samples_known));
  finding.evidence = {{"share", share},
                      {"threshold", limit},
                      {"receive_s", handed / count},
                      {"pin_s", pinned / count},
                      {"batch_bytes", BatchBytes(run)},
                      {"ceiling_per_s", ceiling}};
  finding.action = Say<words::kFewerTensors>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
