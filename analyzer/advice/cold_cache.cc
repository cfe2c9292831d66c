// SPDX-License-Identifier: Apache-2.0
//
// Reading is much slower in the first epoch than later: the page cache was cold.
//
// Threshold: reads of the first epoch take twice as long as later ones (docs/diagnosis.md R13,
// ours), in epochs of at least 8 batches. The difference is at least 1 ms per batch and at least a
// tenth of a fetch of the first epoch (ours).
#include <algorithm>
#include <vector>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/findings_data.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

void ColdCache(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const LoaderRun& run = input.run();
  double first_read = 0;
  double first_fetch = 0;
  std::vector<double> later;
  for (std::size_t e = 0; e < run.epochs.size(); ++e) {
    const Epoch& epoch = run.epochs[e];
    if (epoch.count < 8) continue;
    double read = 0;
    double fetch = 0;
    for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
      read += run.batches[i].read.wall;
      fetch += run.batches[i].fetch.wall;
    }
    const auto count = static_cast<double>(epoch.count);
    if (e == 0) {
      first_read = read / count;
      first_fetch = fetch / count;
    } else {
      later.push_back(read / count);
    }
  }
  const double least = std::max(1e-3, 0.1 * first_fetch);
  const bool measured = first_fetch > 0;
  if (measured && first_read < least) return;  // so fast that no later epoch can be much faster
  if (run.epochs.size() < 2) return out.Needs("cold-cache", Say<words::kRuleNeedsEpochs>());
  const double warm = Median(later);
  if (later.empty() || first_fetch <= 0 || first_read < 2 * warm) return;
  if (first_read - warm < least) return;
  Finding finding;
  finding.id = "cold-cache";
  finding.severity = Severity::kInfo;
  finding.seen =
      Say<words::kColdCache>(Give<"first_epoch_read_s">(first_read), Give<"later_read_s">(warm));
  finding.evidence = {{"first_epoch_read_s", first_read},
                      {"later_read_s", warm},
                      {"threshold", 2.0},
                      {"first_epoch_fetch_s", first_fetch}};
  finding.action = Say<words::kWarmCache>();
  finding.to = static_cast<double>(run.batches[run.epochs.front().count - 1].delivered -
                                   input.trace.begin().value) *
               1e-9;
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
