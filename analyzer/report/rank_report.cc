// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/rank_report.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "analyzer/ranks/clocks.h"
#include "analyzer/words/format.h"
#include "analyzer/words/ranks.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kMostRowsOfText = 16;  // rows that fit on a screen

const RankPlace* OurPlace(const Diagnosis& diagnosis) {
  const RunModel& run = diagnosis.run;
  return run.has_loader() ? run.ranks.Find(run.loader().config.consumer) : nullptr;
}

// A line of the table of ranks. Its columns are the rank, PlaceCell(), and seven others.
std::string Line(std::string_view rank, const std::string& place,
                 const std::array<std::string, 7>& rest) {
  return fmt::format("  {:>4} {} {:>7} {:>9} {:>5} {:>8} {:>8} {:>10} {:>7}\n", rank, place,
                     rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], rest[6]);
}

// With several hosts, the cell holds the name of the rank's host; the cores are in the host's line.
// With one host, it holds the rank's own cores, because a launcher may have bound ranks to cores.
std::string PlaceCell(bool hosts, const std::string& host, const std::string& cores) {
  return hosts ? fmt::format("{:<11}", PlainText(host, 11)) : fmt::format("{:>6}", cores);
}

std::string Line(const RankRow& row, const RankSummary& ranks) {
  return Line(fmt::format("{}", row.rank),
              PlaceCell(ranks.hosts.size() > 1, ranks.hosts[row.host].name,
                        fmt::format("{:.3g}", row.cores)),
              {fmt::format("{}", row.workers), ShortNumber(row.samples_rate),
               PercentText(row.wait_fraction), DurationText(row.wait), DurationText(row.step),
               PercentText(row.data_bound), DurationText(row.held_up)});
}

// The rows to show, in the order of their ranks: all, or those that wait most for data.
std::vector<const RankRow*> Shown(const RankSummary& ranks) {
  std::vector<const RankRow*> rows;
  for (const RankRow& row : ranks.rows) rows.push_back(&row);
  if (rows.size() <= kMostRowsOfText) return rows;
  std::stable_sort(rows.begin(), rows.end(), [](const RankRow* a, const RankRow* b) {
    return a->wait_fraction > b->wait_fraction;
  });
  rows.resize(kMostRowsOfText);
  std::sort(rows.begin(), rows.end(),
            [](const RankRow* a, const RankRow* b) { return a->rank < b->rank; });
  return rows;
}

void WriteRow(const RankRow& row, const RankSummary& ranks, JsonWriter& json) {
  json.BeginObject();
  json.Field("rank", row.rank).Field("local_rank", row.local_rank);
  json.Field("host", ranks.hosts[row.host].name);
  json.Field("pid", static_cast<std::uint64_t>(row.pid));
  json.Field("num_workers", row.workers).Field("prefetch_factor", row.prefetch);
  json.Field("batches", static_cast<std::uint64_t>(row.batches));
  json.Field("samples_per_s", row.samples_rate).Field("wait_fraction", row.wait_fraction);
  json.Field("wait_mean_s", row.wait).Field("step_mean_s", row.step);
  json.Field("wait_p50_s", row.median_wait).Field("step_p50_s", row.median_step);
  json.Field("data_bound_fraction", row.data_bound).Field("held_up_s", row.held_up);
  json.Field("cores", row.cores);
  json.EndObject();
}

void WriteImbalance(const Imbalance& imbalance, JsonWriter& json) {
  json.Key("imbalance").BeginObject();
  json.Field("iterations", static_cast<std::uint64_t>(imbalance.iterations));
  json.Field("steps_end_together", imbalance.together);
  json.Field("loop_s", imbalance.loop).Field("cost_s", imbalance.cost);
  json.Field("cost_fraction", imbalance.cost_share());
  json.Field("slowest_rank", imbalance.slowest);
  json.Field("slowest_fraction", imbalance.slowest_share).Field("fixed", imbalance.fixed);
  json.Field("stretch_iterations", imbalance.stretch);
  json.EndObject();
}

void WriteHost(const HostRow& host, JsonWriter& json) {
  json.BeginObject();
  json.Field("host", host.name).Field("ranks", host.ranks).Field("recorded", host.recorded);
  json.Field("workers", host.workers).Field("usable_cores", host.cores);
  json.Field("ram_bytes", host.memory).Field("ram_limit_bytes", host.memory_limit);
  json.Field("shm_bytes", host.shared).Field("shm_limit_bytes", host.shared_size);
  json.EndObject();
}

}  // namespace

Statement RanksRecorded(const Diagnosis& diagnosis) {
  const RankSummary& ranks = diagnosis.ranks;
  if (ranks.rows.empty() || (!ranks.several() && ranks.world_size < 2)) return {};
  const auto recorded = static_cast<std::int32_t>(ranks.rows.size());
  const RankPlace* place = OurPlace(diagnosis);
  const RankRow* ours = place != nullptr ? ranks.Find(place->rank) : nullptr;
  return Say<words::kRanksRecorded>(
      Give<"recorded">(recorded), GiveIf<"world">(ranks.world_size > recorded, ranks.world_size),
      GiveIf<"launcher">(!ranks.launcher.empty(), PlainText(ranks.launcher, 16)),
      GiveIf<"hosts">(ranks.hosts.size() > 1, ranks.hosts.size()),
      GiveIf<"rank">(place != nullptr, place != nullptr ? place->rank : 0),
      Give<"several">(ranks.several()), Give<"most">(ours != nullptr && ranks.WaitsMost(*ours)));
}

Statement ImbalanceOf(const RankSummary& ranks) {
  const Imbalance& imbalance = ranks.imbalance;
  if (!ranks.several()) return {};
  if (imbalance.iterations == 0) return Say<words::kNoCommonIterations>();
  if (imbalance.iterations < Imbalance::kFewest) {
    return Say<words::kFewCommonIterations>(Give<"iterations">(imbalance.iterations));
  }
  if (!imbalance.together) return Say<words::kStepsEndApart>();
  const bool matters = imbalance.cost_share() >= 0.005;
  const bool one = matters && imbalance.fixed;
  return Say<words::kRanksWait>(
      Give<"cost">(imbalance.cost), Give<"share">(imbalance.cost_share()),
      Give<"iterations">(imbalance.iterations), GiveIf<"of_slowest">(one, imbalance.slowest_share),
      GiveIf<"slowest">(one, imbalance.slowest), Give<"in_turn">(matters && !imbalance.fixed),
      GiveIf<"stretch">(matters && imbalance.long_stretch(), imbalance.stretch));
}

Statement HostOf(const HostRow& host) {
  const bool memory = host.memory > 0 && host.memory_limit > 0;
  const bool shared = host.shared > 0 && host.shared_size > 0;
  return Say<words::kHostOfRanks>(
      Give<"host">(PlainText(host.name, 40)), Give<"ranks">(host.ranks),
      Give<"workers">(host.workers), GiveIf<"cores">(host.cores > 0, host.cores),
      GiveIf<"memory">(memory, host.memory), GiveIf<"memory_limit">(memory, host.memory_limit),
      GiveIf<"shared">(shared, host.shared), GiveIf<"shared_size">(shared, host.shared_size),
      GiveIf<"recorded">(host.recorded < host.ranks, host.recorded));
}

Statement ClockOf(const ClockRow& clock) {
  const bool moved =
      clock.by == AlignName(AlignBy::kCollective) || clock.by == AlignName(AlignBy::kWallClock);
  return Say<words::kClockOfTrace>(
      Give<"trace">(PlainText(clock.file, 60)), Give<"by">(PlainText(clock.by, 16)),
      GiveIf<"offset">(moved, clock.offset), GiveIf<"uncertainty">(moved, clock.uncertainty),
      GiveIf<"bound">(clock.bound > 0, clock.bound));
}

std::string RanksText(const Report& report) {
  const RankSummary& ranks = report.diagnosis.ranks;
  const Statement recorded = RanksRecorded(report.diagnosis);
  if (recorded.empty()) return "";
  std::string text = Labelled("ranks", English(recorded));
  if (!ranks.several()) return text;
  text += Line("rank", PlaceCell(ranks.hosts.size() > 1, "host", "cores"),
               {"workers", "samples/s", "waits", "for data", "step", "data-bound", "held up"});
  const std::vector<const RankRow*> shown = Shown(ranks);
  for (const RankRow* row : shown) text += Line(*row, ranks);
  if (shown.size() < ranks.rows.size()) {
    const std::size_t more = ranks.rows.size() - shown.size();
    text += "  " + English(Say<words::kMoreRanks>(Give<"ranks">(more))) + "\n";
  }
  text += Labelled("imbalance", English(ImbalanceOf(ranks)));
  for (const HostRow& host : ranks.hosts) {
    if (host.ranks > 0 && host.recorded > 0) text += Labelled("host", English(HostOf(host)));
  }
  for (const ClockRow& clock : ranks.clocks) {
    if (clock.by != AlignName(AlignBy::kReference) && clock.by != AlignName(AlignBy::kSameClock)) {
      text += Labelled("clock", English(ClockOf(clock)));
    }
  }
  return text;
}

void WriteRanksJson(const Report& report, JsonWriter& json) {
  const RankSummary& ranks = report.diagnosis.ranks;
  const RankPlace* place = OurPlace(report.diagnosis);
  json.BeginObject();
  json.Field("world_size", ranks.world_size).Field("launcher", ranks.launcher);
  json.Field("recorded", static_cast<std::uint64_t>(ranks.rows.size()));
  json.Field("verdict_of_rank", place != nullptr ? place->rank : -1);
  json.Key("table").BeginArray();
  for (const RankRow& row : ranks.rows) WriteRow(row, ranks, json);
  json.EndArray();
  WriteImbalance(ranks.imbalance, json);
  json.Key("hosts").BeginArray();
  for (const HostRow& host : ranks.hosts) WriteHost(host, json);
  json.EndArray().Key("clocks").BeginArray();
  for (const ClockRow& clock : ranks.clocks) {
    json.BeginObject().Field("trace", clock.file).Field("aligned_by", clock.by);
    json.Field("offset_s", clock.offset).Field("uncertainty_s", clock.uncertainty);
    json.Field("bound_s", clock.bound).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace penstock::analyzer
