// SPDX-License-Identifier: Apache-2.0
//
// Ranks that train together wait for the one that gets its data last.
//
// Threshold: a rank waits for a share of its time that is 10 percentage points above the median of
// the ranks (docs/diagnosis.md R38). Or the steps of the ranks end together, and iterations are a
// twentieth longer than if the last rank waited as long as the others (kineto's threshold). At
// least two ranks were recorded, and all recorded ranks have eight steady iterations in common.
// Source: docs/diagnosis.md R38; SPDL's stragglers; tf.data service's coordinated reads.
#include <algorithm>
#include <cstdint>
#include <set>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/findings_ranks.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

constexpr double kPoints = 0.1;

// The name of the host that `rank` runs on; nullopt if all ranks run on one host.
std::optional<std::string> HostOf(const RankSummary& ranks, std::int32_t rank) {
  const RankRow* slow = ranks.Find(rank);
  if (slow == nullptr || ranks.hosts.size() < 2) return std::nullopt;
  return ranks.hosts[slow->host].name;
}

// Whether the run has several ranks, and this recording holds at most one of them.
bool RanksElsewhere(const traces::Trace& trace) {
  std::set<std::int32_t> ranks;
  std::int32_t world = 0;
  for (const traces::ProcessInfo& process : trace.processes()) {
    world = std::max(world, process.world_size);
    if (process.rank >= 0) ranks.insert(process.rank);
  }
  return world > 1 && ranks.size() < 2;
}

// Whether deeper queues may gain: the prediction suggests one, or nothing could be predicted.
bool MayGainByDepth(const RuleInput& input) {
  if (!input.diagnosis.loader) return true;
  const Suggestion& suggestion = input.loader().suggestion;
  return !suggestion.missing.empty() ||
         (suggestion.changes && suggestion.prefetch > input.run().config.prefetch_factor);
}

}  // namespace

void RankImbalance(const RuleInput& input, Advice& out) {
  if (RanksElsewhere(input.trace)) out.Needs("rank-imbalance", Say<words::kRuleNeedsRanks>());
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
  const bool costs = imbalance.together && imbalance.cost_share() >= Imbalance::kOfNote;
  if (!waits && !costs) return;
  const bool fixed = waits || imbalance.fixed;
  const std::int32_t rank = waits ? worst->rank : imbalance.slowest;
  const RankRow* row = ranks.Find(rank);
  const double wait_fraction = row != nullptr ? row->wait_fraction : 0;
  const auto stretch = GiveIf<"stretch">(!fixed && imbalance.long_stretch(), imbalance.stretch);
  Finding finding;
  finding.id = "rank-imbalance";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kRankImbalance>(
      Give<"waits">(waits), Give<"rank">(rank), Give<"wait_fraction">(wait_fraction),
      Give<"median_wait_fraction">(usual), Give<"fixed">(fixed), stretch,
      Give<"cost_share">(costs ? std::optional(imbalance.cost_share()) : std::nullopt));
  finding.evidence = {{"rank", static_cast<double>(rank)},
                      {"wait_fraction", wait_fraction},
                      {"median_wait_fraction", usual},
                      {"threshold", kPoints},
                      {"ranks", static_cast<double>(ranks.rows.size())},
                      {"iterations", static_cast<double>(imbalance.iterations)},
                      {"cost_s", imbalance.cost},
                      {"cost_share", imbalance.cost_share()},
                      {"cost_threshold", Imbalance::kOfNote},
                      {"share_of_slowest", imbalance.slowest_share},
                      {"stretch_iterations", imbalance.stretch},
                      {"steps_end_together", imbalance.together ? "yes" : "no"}};
  finding.action =
      Say<words::kEqualRanks>(Give<"fixed">(fixed), stretch, Give<"host">(HostOf(ranks, rank)),
                              Give<"deeper">(MayGainByDepth(input)));
  if (fixed && row != nullptr) finding.pids = {row->pid};
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
