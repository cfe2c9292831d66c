// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/ranks.h"

namespace penstock::gui {
namespace {

constexpr double kOfNote = 0.05;  // as analyzer/advice/rank_imbalance.cc

RankVerdict VerdictOf(const analyzer::Imbalance& imbalance) {
  if (imbalance.iterations == 0 || imbalance.loop <= 0) return RankVerdict::kUnknown;
  if (!imbalance.together) return RankVerdict::kApart;
  if (imbalance.cost_share() < kOfNote) return RankVerdict::kEven;
  return imbalance.fixed ? RankVerdict::kOneSlow : RankVerdict::kInTurn;
}

}  // namespace

RanksModel BuildRanks(const analyzer::Report& report) {
  const analyzer::RankSummary& ranks = report.diagnosis.ranks;
  const analyzer::RunModel& run = report.diagnosis.run;
  RanksModel model;
  if (!ranks.several()) return model;
  model.verdict = VerdictOf(ranks.imbalance);
  model.cost = ranks.imbalance.cost_share();
  model.slowest = ranks.imbalance.slowest;
  model.world_size = ranks.world_size;
  const analyzer::RankPlace* ours =
      run.has_loader() ? run.ranks.Find(run.loader().config.consumer) : nullptr;
  for (const analyzer::RankRow& row : ranks.rows) {
    RankLine line;
    line.rank = row.rank;
    line.pid = row.pid;
    line.host = ranks.hosts[row.host].name;
    line.workers = row.workers;
    line.cores = row.cores;
    line.rate = row.samples_rate;
    line.wait = row.wait_fraction;
    line.data = row.wait;
    line.step = row.step;
    const bool together = model.verdict >= RankVerdict::kEven;
    line.held_up = together ? row.held_up / ranks.imbalance.loop : 0;
    line.slow = model.verdict == RankVerdict::kOneSlow && row.rank == model.slowest;
    line.verdict = ours != nullptr && ours->rank == row.rank;
    model.lines.push_back(std::move(line));
  }
  return model;
}

}  // namespace penstock::gui
