// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/ranks.h"

#include <algorithm>

namespace penstock::gui {
namespace {

RankVerdict VerdictOf(const analyzer::Imbalance& imbalance) {
  if (imbalance.iterations == 0 || imbalance.loop <= 0) return RankVerdict::kUnknown;
  if (!imbalance.together) return RankVerdict::kApart;
  if (imbalance.cost_share() < analyzer::Imbalance::kOfNote) return RankVerdict::kEven;
  if (imbalance.fixed) return RankVerdict::kOneSlow;
  return imbalance.long_stretch() ? RankVerdict::kInStretches : RankVerdict::kInTurn;
}

// The rank of the main loader; nullptr if it has none.
const analyzer::RankPlace* OurPlace(const analyzer::RunModel& run) {
  return run.has_loader() ? run.ranks.Find(run.loader().config.consumer) : nullptr;
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
  model.stretch = ranks.imbalance.long_stretch().value_or(0);
  model.world_size = ranks.world_size;
  const analyzer::RankPlace* ours = OurPlace(run);
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

std::optional<RankShown> ShownRank(const analyzer::Report& report) {
  const analyzer::RankSummary& ranks = report.diagnosis.ranks;
  const analyzer::RankPlace* ours = OurPlace(report.diagnosis.run);
  const analyzer::RankRow* row = ours != nullptr ? ranks.Find(ours->rank) : nullptr;
  if (!ranks.several() || row == nullptr) return std::nullopt;
  RankShown shown;
  shown.rank = row->rank;
  shown.of = std::max(ranks.world_size, static_cast<std::int32_t>(ranks.rows.size()));
  shown.waits_most = ranks.WaitsMost(*row);
  const auto known = [](const analyzer::RankRow& each) { return each.samples_rate > 0; };
  if (static_cast<std::size_t>(shown.of) == ranks.rows.size() &&
      std::all_of(ranks.rows.begin(), ranks.rows.end(), known)) {
    for (const analyzer::RankRow& each : ranks.rows) shown.all_rate += each.samples_rate;
  }
  return shown;
}

std::string TitleOfRank(const analyzer::Report& report, Text title, Language language) {
  std::string text(TextOf(title, language));
  if (const auto shown = ShownRank(report)) {
    text += "  ·  " + Filled(Text::kRankN, language, shown->rank);
  }
  return text;
}

}  // namespace penstock::gui
