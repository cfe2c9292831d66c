// SPDX-License-Identifier: Apache-2.0
//
// The first batch of the run takes far longer than the others.
// Threshold: at least a second, ten times the mean interval between batches, and 2 % of the run
// (ours). Not the median: workers deliver in bursts, and most intervals lie within a burst. Source:
// docs/diagnosis.md R27, R29; pytorch#8371 (first batch after 37 s).
#include <algorithm>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {

void SlowFirstBatch(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().epochs.empty()) return;
  const LoaderRun& run = input.run();
  const Epoch& epoch = run.epochs.front();
  const Batch& first = run.batches[epoch.first];
  if (epoch.start == kNever || first.key.index != 0) return;
  const double delay = static_cast<double>(first.delivered - epoch.start) * 1e-9;
  const double rate = input.loader().steady.batch_rate();
  const double ordinary = rate > 0 ? 1 / rate : 0;
  const double whole = input.diagnosis.run.duration();
  if (delay < 1 || delay < 10 * ordinary || delay < 0.02 * whole) return;
  const double before =
      first.was_fetched() ? static_cast<double>(first.fetch_start - epoch.start) * 1e-9 : 0;
  Finding finding;
  finding.id = "slow-first-batch";
  finding.severity = Severity::kWarning;
  finding.seen =
      Say<words::kSlowFirstBatch>(Give<"first_batch_s">(delay), Give<"ordinary_s">(ordinary));
  finding.evidence = {{"first_batch_s", delay},
                      {"threshold_s", std::max(1.0, 10 * ordinary)},
                      {"before_fetch_s", before},
                      {"first_fetch_s", first.fetch.wall},
                      {"start_method", run.config.start_method}};
  finding.action = Say<words::kStartSooner>(Give<"start">(before > delay / 2));
  finding.from = static_cast<double>(epoch.start - input.trace.begin().value) * 1e-9;
  finding.to = static_cast<double>(first.delivered - input.trace.begin().value) * 1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
