// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/rank_summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyzer/model/loader_memory.h"
#include "analyzer/model/steady.h"
#include "analyzer/ranks/clocks.h"
#include "analyzer/ranks/tracks.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// An iteration is held back by its data if it waits for more than this share of its time. Source:
// kineto's and xprof's threshold.
constexpr double kDataBound = 0.05;
// One rank is named if it causes this share of the cost, and also this many times an equal share of
// it. The second condition matters for two ranks: one of them always causes at least half.
constexpr double kMostOfIt = 0.5;
constexpr double kOverEqual = 1.5;
// An iteration tells which rank is the last if it costs this share of an iteration. In others, the
// ranks get their data at about the same time.
constexpr double kTells = 0.05;
constexpr double kLongStretch = 8;
constexpr int kMostParts = 1 << 12;  // a damaged trace may contain any number

RankRow RowOf(const RunModel& run, const RankTrack& track, const RankPlace& place,
              const traces::Trace& trace) {
  const LoaderRun& loader = run.loaders[track.loader];
  RankRow row;
  row.rank = place.rank;
  row.local_rank = place.local_rank;
  row.host = place.host;
  row.pid = trace.processes()[place.consumer.value].pid;
  row.loader = track.loader;
  row.workers = loader.config.num_workers;
  row.prefetch = loader.config.prefetch_factor;
  row.batches = loader.batches.size();
  row.cores = place.cores;
  std::vector<double> waits;
  std::vector<double> steps;
  const SteadyLoop loop = MeasureLoop(loader);
  double samples = 0;
  double data_bound = 0;  // iterations
  for (std::size_t i = 0; i < loop.steady.size(); ++i) {
    const Batch& batch = loader.batches[i];
    if (!loop.steady[i]) continue;
    const double step = loader.batches[i - 1].step();  // a turn of MeasureLoop()
    waits.push_back(batch.wait());
    steps.push_back(step);
    samples += SamplesOf(loader, batch);
    if (batch.wait() > kDataBound * (batch.wait() + step)) data_bound += 1;
  }
  if (waits.empty() || loop.time <= 0) return row;
  const auto count = static_cast<double>(waits.size());
  row.samples_rate = samples / loop.time;
  row.wait_fraction = loop.wait_fraction();
  row.data_bound = data_bound / count;
  row.wait = loop.wait / count;
  row.step = (loop.time - loop.wait) / count;
  row.median_wait = Median(std::move(waits));
  row.median_step = Median(std::move(steps));
  return row;
}

// For each iteration that is steady on all ranks: the passings of the ranks, in the order of
// `tracks`.
std::map<Iteration, std::vector<const Passing*>> Common(const std::vector<RankTrack>& tracks) {
  std::map<Iteration, std::vector<const Passing*>> common;
  for (std::size_t r = 0; r < tracks.size(); ++r) {
    for (const Passing& passing : tracks[r].passings) {
      if (!passing.steady) continue;
      std::vector<const Passing*>& all = common[passing.iteration];
      if (all.size() == r) all.push_back(&passing);
    }
  }
  for (auto it = common.begin(); it != common.end();) {
    it = it->second.size() == tracks.size() ? std::next(it) : common.erase(it);
  }
  return common;
}

// Whether the steps of all ranks end together.
bool Together(const std::vector<RankTrack>& tracks) {
  const HostPassings first = PassingsOf({&tracks[0], 1});
  for (std::size_t r = 1; r < tracks.size(); ++r) {
    const auto steps = EstimateBySteps(first, PassingsOf({&tracks[r], 1}));
    if (!steps || !steps->together) return false;
  }
  return true;
}

// An iteration: the rank that got its data last, as an index into the tracks, and the cost.
struct Late {
  std::size_t rank = 0;
  double cost = 0;
};

// Imbalance::stretch. `least`: seconds; a smaller cost does not tell which rank is the last.
double MeanStretch(const std::vector<Late>& lates, double least) {
  double count = 0;
  double stretches = 0;
  std::optional<std::size_t> before;
  for (const Late& late : lates) {
    if (late.cost <= least) continue;
    if (before != late.rank) stretches += 1;
    before = late.rank;
    count += 1;
  }
  return stretches > 1 ? count / stretches : 0;
}

void MeasureImbalance(const std::vector<RankTrack>& tracks, RankSummary& summary) {
  Imbalance& imbalance = summary.imbalance;
  if (tracks.size() < 2) return;
  const auto common = Common(tracks);
  imbalance.iterations = common.size();
  if (common.size() < Imbalance::kFewest) return;
  imbalance.together = Together(tracks);
  const auto ranks = static_cast<double>(tracks.size());
  std::vector<Late> lates;
  for (const auto& [iteration, passings] : common) {
    double sum = 0;
    std::size_t last = 0;
    for (std::size_t r = 0; r < passings.size(); ++r) {
      sum += passings[r]->wait;
      imbalance.loop += (passings[r]->wait + passings[r]->step) / ranks;
      if (passings[r]->wait > passings[last]->wait) last = r;
    }
    const double cost = passings[last]->wait - (sum - passings[last]->wait) / (ranks - 1);
    imbalance.cost += cost;
    summary.rows[last].held_up += cost;
    lates.push_back({last, cost});
  }
  imbalance.stretch =
      MeanStretch(lates, kTells * imbalance.loop / static_cast<double>(imbalance.iterations));
  const auto slowest =
      std::max_element(summary.rows.begin(), summary.rows.end(),
                       [](const RankRow& a, const RankRow& b) { return a.held_up < b.held_up; });
  imbalance.slowest = slowest->rank;
  imbalance.slowest_share = imbalance.cost > 0 ? slowest->held_up / imbalance.cost : 0;
  imbalance.fixed = imbalance.slowest_share >= std::max(kMostOfIt, kOverEqual / ranks);
  if (imbalance.fixed) return;
  // If ranks take turns, each has the long waits too. With equal waits, an iteration would be
  // longer by the mean of all ranks, not by that of the others.
  const double of_all = (ranks - 1) / ranks;
  imbalance.cost *= of_all;
  for (RankRow& row : summary.rows) row.held_up *= of_all;
}

std::vector<HostRow> HostsOf(const RunModel& run, const std::vector<RankRow>& rows) {
  std::vector<HostRow> hosts;
  for (const RankHost& host : run.ranks.hosts) {
    HostRow row;
    row.name = host.name;
    row.ranks = host.ranks;
    row.recorded = host.recorded;
    const double each = host.recorded > 0 ? static_cast<double>(host.ranks) / host.recorded : 1;
    row.cores = host.machine.known ? host.cores * each : 0;
    row.memory_limit = kMemoryShare * static_cast<double>(host.machine.memory().value);
    row.shared_size = static_cast<double>(host.machine.shm_size.value);
    hosts.push_back(std::move(row));
  }
  std::set<std::size_t> unknown;  // hosts whose workers' memory was not recorded
  for (const RankRow& rank : rows) {
    HostRow& host = hosts[rank.host];
    const LoaderRun& loader = run.loaders[rank.loader];
    // The number of ranks that each recorded rank stands for.
    const double each = static_cast<double>(host.ranks) / std::max(1, host.recorded);
    const bool processes = !loader.config.sample_tasks;
    const double batches = processes
                               ? BatchBytes(loader) * rank.workers * (rank.prefetch + 1)
                               : BatchBytes(loader) * (rank.workers > 0 ? rank.prefetch + 1 : 0);
    host.workers += each * rank.workers;
    const double worker = ReadWorkers(run, loader.config.consumer).bytes;
    if (rank.workers > 0 && processes && worker <= 0) unknown.insert(rank.host);
    host.memory += each * (rank.workers * worker + batches);
    if (processes) host.shared += each * kSharedMargin * batches;
  }
  for (const std::size_t host : unknown) hosts[host].memory = 0;
  return hosts;
}

std::vector<ClockRow> ClocksOf(const traces::Trace& trace) {
  std::vector<ClockRow> clocks;
  const double parts = NumberFact(trace.facts(), "merged.parts").value_or(0);
  for (int part = 0; part < parts && part < kMostParts; ++part) {
    const std::string name = std::to_string(part);
    const auto number = [&](const std::string& key) {
      return NumberFact(trace.facts(), "part." + name + "." + key).value_or(0) * 1e-9;
    };
    ClockRow row;
    row.file = FactOfPart(trace, name, "file");
    row.by = FactOfPart(trace, name, "align.by");
    row.offset = number("align.offset_ns");
    row.uncertainty = number("align.uncertainty_ns");
    row.bound = number("align.bound_ns");
    clocks.push_back(std::move(row));
  }
  return clocks;
}

}  // namespace

std::optional<double> Imbalance::long_stretch() const {
  return !fixed && stretch >= kLongStretch ? std::optional(stretch) : std::nullopt;
}

const RankRow* RankSummary::Find(std::int32_t rank) const {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const RankRow& row) { return row.rank == rank; });
  return found == rows.end() ? nullptr : &*found;
}

bool RankSummary::WaitsMost(const RankRow& row) const {
  constexpr double kClearly = 0.02;  // of the loop, as in analyzer/model/main_rank.cc
  const bool compared = imbalance.iterations > 0 && imbalance.loop > 0;
  const bool one =
      imbalance.together && imbalance.cost_share() >= Imbalance::kOfNote && imbalance.fixed;
  if (rows.empty() || (compared && !one)) return false;
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const RankRow& a, const RankRow& b) { return a.wait_fraction < b.wait_fraction; });
  return row.wait_fraction >= most->wait_fraction - kClearly &&
         row.wait_fraction > least->wait_fraction + kClearly;
}

RankSummary SummariseRanks(const traces::Trace& trace, const RunModel& run) {
  RankSummary summary;
  summary.clocks = ClocksOf(trace);
  if (run.ranks.places.empty()) return summary;
  summary.world_size = run.ranks.world_size;
  summary.launcher = run.ranks.launcher;
  const std::vector<RankTrack> tracks = TracksOf(trace, run);
  for (const RankTrack& track : tracks) {
    const RankPlace* place = run.ranks.Find(run.loaders[track.loader].config.consumer);
    summary.rows.push_back(RowOf(run, track, *place, trace));
  }
  summary.hosts = HostsOf(run, summary.rows);
  MeasureImbalance(tracks, summary);
  return summary;
}

}  // namespace penstock::analyzer
