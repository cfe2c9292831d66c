// SPDX-License-Identifier: Apache-2.0
//
// Finished batches wait for the pin thread. That thread is not busy but is kept from running: it
// shares the interpreter lock with a training loop that computes in Python.
//
// Threshold: half of the wait comes after the worker had sent the batch, the loop waits 5 %, the
// pin thread works less than 80 % of the time (otherwise the finding is transfer-ceiling), the
// training process uses at least 70 % of a core, and the gain is 5 % (docs/diagnosis.md R36).
// Prediction: the run if the handover cost nothing.
// Source: docs/diagnosis.md R36; pytorch#25010, #89753, #24984; allennlp#4670.
#include <algorithm>

#include "analyzer/advice/place.h"
#include "analyzer/words/findings_gpu.h"

namespace penstock::analyzer {

void PinThreadBehind(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || !input.loader().pipeline.pin_thread) return;
  const LoaderRun& run = input.run();
  const SteadyState& steady = input.loader().steady;
  if (run.config.sample_tasks || input.diagnosis.wait_fraction < 0.05 || steady.time <= 0) return;
  double waited = 0;
  double ready = 0;
  double pinning = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (!steady.in_window[i] || batch.available() == kNever) continue;
    waited += batch.wait();
    const std::int64_t from = std::max(batch.available(), batch.wait_start);
    ready += static_cast<double>(std::max<std::int64_t>(0, batch.delivered - from)) * 1e-9;
    pinning += batch.get.wall + batch.pin.wall;
  }
  const auto cpu = CpuInWindows(input.diagnosis.run, steady, wire::kRoleConsumer);
  if (waited <= 0 || !cpu || *cpu < 0.7) return;
  const double share = ready / waited;
  const double busy = pinning / steady.time;
  if (share < 0.5 || busy >= 0.8) return;
  Finding finding;
  finding.predicted = input.Without(Factor::kTransfer);
  if (finding.predicted->speedup < 1.05) return;
  finding.id = "pin-thread-behind";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kPinThreadBehind>(Give<"ready_share_of_wait">(share));
  finding.evidence = {{"ready_share_of_wait", share},
                      {"threshold", 0.5},
                      {"pin_thread_busy", busy},
                      {"consumer_cores", *cpu},
                      {"threshold_cores", 0.7}};
  finding.action = Say<words::kRelievePinThread>(Give<"predicted">(true));
  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
