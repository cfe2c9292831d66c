// SPDX-License-Identifier: Apache-2.0
//
// One rank waits for data while the others wait for it in the collective.
// Threshold: its share of waiting is 10 points above the ranks' median (diagnosis.md R38), and two
// ranks at least were recorded with eight batches each.
// Source: diagnosis.md R38; SPDL's stragglers; tf.data service's coordinated reads.
#include <fmt/core.h>
#include <map>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {

void RankImbalance(const RuleInput& input, Findings& out) {
  struct Rank {
    double wait = 0;
    double loop = 0;
    std::size_t batches = 0;
    std::uint32_t pid = 0;
  };
  std::map<std::int32_t, Rank> ranks;
  const auto processes = input.trace.processes();
  for (const LoaderRun& run : input.diagnosis.run.loaders) {
    if (run.config.consumer.value >= processes.size()) continue;
    const traces::ProcessInfo& process = processes[run.config.consumer.value];
    if (process.rank < 0) continue;
    Rank& rank = ranks[process.rank];
    rank.pid = process.pid;
    for (std::size_t i = 1; i < run.batches.size(); ++i) {  // the first waits for the start
      rank.wait += run.batches[i].wait();
      rank.loop += run.batches[i].wait() + run.batches[i].step();
      ++rank.batches;
    }
  }
  std::vector<double> shares;
  std::int32_t worst = -1;
  double most = 0;
  for (const auto& [number, rank] : ranks) {
    if (rank.batches < 8 || rank.loop <= 0) continue;
    shares.push_back(rank.wait / rank.loop);
    if (worst >= 0 && shares.back() <= most) continue;
    worst = number;
    most = shares.back();
  }
  if (shares.size() < 2) return;
  const double usual = Median(shares);
  if (most - usual < 0.1) return;
  Finding finding;
  finding.id = "rank-imbalance";
  finding.severity = Severity::kWarning;
  finding.title =
      fmt::format("rank {} waits for data {:.0f} % of the time, the median rank {:.0f} %", worst,
                  100 * most, 100 * usual);
  finding.evidence = {{"rank", static_cast<double>(worst)},
                      {"wait_fraction", most},
                      {"median_wait_fraction", usual},
                      {"threshold", 0.1},
                      {"ranks", static_cast<double>(shares.size())}};
  finding.action =
      "Every rank waits for the slowest. Give all the same work (equal shards, lengths in buckets "
      "that the ranks share) and this rank its own cores; with accelerate, dispatch_batches=False.";
  finding.pids = {ranks[worst].pid};
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
