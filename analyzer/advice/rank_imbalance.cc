// SPDX-License-Identifier: Apache-2.0
//
// Ranks that train together wait for the one that has its data last.
// Threshold: a rank's share of waiting is 10 points above the ranks' median (docs/diagnosis.md
// R38), or iterations are a twentieth longer than with the mean wait (kineto's threshold of note)
// and steps do end together. Two ranks at least were recorded with eight common iterations each.
// Source: docs/diagnosis.md R38; SPDL's stragglers; tf.data service's coordinated reads.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr double kPoints = 0.1;
constexpr double kCost = 0.05;

std::string ActionFor(const RankSummary& ranks, bool fixed, std::int32_t rank) {
  if (!fixed) {
    return "Every iteration another rank is last: what a batch costs varies. Raise prefetch_factor "
           "on all ranks, and give them the same work (lengths in buckets that the ranks share).";
  }
  std::string action =
      "Every rank waits for the slowest. Give all the same work (equal shards, lengths in buckets "
      "that the ranks share) and this rank its own cores; with accelerate, dispatch_batches=False.";
  const RankRow* slow = ranks.Find(rank);
  if (slow != nullptr && ranks.hosts.size() > 1) {
    action += fmt::format(" It runs on {}: compare that host's storage and other load.",
                          ranks.hosts[slow->host].name);
  }
  return action;
}

}  // namespace

void RankImbalance(const RuleInput& input, Findings& out) {
  const RankSummary& ranks = input.diagnosis.ranks;
  const Imbalance& imbalance = ranks.imbalance;
  if (!ranks.several() || imbalance.iterations < Imbalance::kFewest) return;
  std::vector<double> shares;
  const RankRow* worst = &ranks.rows.front();
  for (const RankRow& row : ranks.rows) {
    shares.push_back(row.wait_fraction);
    if (row.wait_fraction > worst->wait_fraction) worst = &row;
  }
  const double usual = Median(shares);
  const bool waits = worst->wait_fraction - usual >= kPoints;
  const bool costs = imbalance.together && imbalance.cost_share() >= kCost;
  if (!waits && !costs) return;
  const bool fixed = waits || imbalance.fixed;
  const std::int32_t rank = waits ? worst->rank : imbalance.slowest;
  Finding finding;
  finding.id = "rank-imbalance";
  finding.severity = Severity::kWarning;
  if (waits) {
    finding.title =
        fmt::format("rank {} waits for data {:.0f} % of the time, the median rank {:.0f} %", rank,
                    100 * worst->wait_fraction, 100 * usual);
  } else if (fixed) {
    finding.title = fmt::format("the ranks wait for the data of rank {}", rank);
  } else {
    finding.title = "the ranks wait for each other's data in turn";
  }
  if (costs) {
    finding.title +=
        fmt::format("; that costs all of them {:.0f} % of the loop", 100 * imbalance.cost_share());
  }
  finding.evidence = {{"rank", static_cast<double>(rank)},
                      {"wait_fraction", worst->wait_fraction},
                      {"median_wait_fraction", usual},
                      {"threshold", kPoints},
                      {"ranks", static_cast<double>(ranks.rows.size())},
                      {"iterations", static_cast<double>(imbalance.iterations)},
                      {"cost_s", imbalance.cost},
                      {"cost_share", imbalance.cost_share()},
                      {"cost_threshold", kCost},
                      {"share_of_slowest", imbalance.slowest_share},
                      {"steps_end_together", imbalance.together ? "yes" : "no"}};
  finding.action = ActionFor(ranks, fixed, rank);
  if (const RankRow* row = ranks.Find(rank); fixed && row != nullptr) finding.pids = {row->pid};
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
