// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a run side by side: how fast each rank is, which one makes the others wait, how much
// time that costs, and whether the hosts can feed all ranks. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One rank in its steady part, without the batches that fill its queues at the start of an epoch.
// Times in seconds.
struct RankRow {
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::size_t host = 0;  // index into RankSummary::hosts
  std::uint32_t pid = 0;
  std::size_t loader = 0;  // index into RunModel::loaders
  int workers = 0;
  int prefetch = 0;
  std::size_t batches = 0;  // of the whole recording
  double samples_rate = 0;
  double wait_fraction = 0;  // share of its loop's time
  double wait = 0;           // mean over the iterations
  double step = 0;           // mean; includes waiting for other ranks
  double median_wait = 0;
  double median_step = 0;
  double data_bound = 0;  // share of iterations that spent more than a twentieth on waiting
  double held_up = 0;     // its part of Imbalance::cost: iterations in which it waited longest
  double cores = 0;       // its part of the host's cores
};

// The cost if ranks do not get their data at the same time. In a collective all ranks wait for the
// last one, so an iteration is longer by the largest wait for data minus the mean wait of the other
// ranks, or of all ranks if they take turns. Below kFewest iterations, only `iterations` is known.
struct Imbalance {
  static constexpr std::size_t kFewest = 8;  // iterations needed to compare ranks
  static constexpr double kOfNote = 0.05;    // cost_share() worth a finding, as in kineto
  std::size_t iterations = 0;                // steady iterations that all ranks have
  bool together = false;      // steps end together, so the ranks do wait for each other
  double loop = 0;            // seconds of these iterations, mean over the ranks
  double cost = 0;            // sum over iterations of (largest wait - mean), s
  std::int32_t slowest = -1;  // the rank that causes most of the cost
  double slowest_share = 0;   // its share of the cost
  bool fixed = false;         // one rank causes half of the cost (with two ranks: three quarters);
                              // false: the cost is spread over the ranks
  double stretch = 0;         // mean number of iterations in a row in which one rank is the last;
                              // iterations that hardly cost anything do not count

  [[nodiscard]] double cost_share() const { return loop > 0 ? cost / loop : 0; }
  // The length of a stretch if it is far longer than by chance: with two ranks of varying costs, a
  // rank is the last twice in a row. nullopt if one rank causes most of the cost.
  [[nodiscard]] std::optional<double> long_stretch() const;
};

// A host, and the needs of all its ranks together. Ranks that were not recorded are assumed to be
// like the others. 0: not known.
struct HostRow {
  std::string name;
  int ranks = 0;
  int recorded = 0;
  double workers = 0;
  double cores = 0;         // cores that they may use
  double memory = 0;        // bytes of workers and of batches in flight
  double memory_limit = 0;  // kMemoryShare of the memory of the host or its control group
  double shared = 0;        // bytes of batches in /dev/shm
  double shared_size = 0;
};

// How the clock of one part of a merged trace was aligned with the clock of the merged trace.
struct ClockRow {
  std::string file;
  std::string by;          // as AlignName() gives it
  double offset = 0;       // seconds to add to its own clock
  double uncertainty = 0;  // seconds
  double bound = 0;        // seconds, 0: not known
};

struct RankSummary {
  std::int32_t world_size = 0;
  std::string launcher;
  std::vector<RankRow> rows;  // ranks with a loader, ascending by rank
  std::vector<HostRow> hosts;
  Imbalance imbalance;
  std::vector<ClockRow> clocks;  // of a merged trace

  // Whether `row` may be said to wait most for data: it waits clearly longer than another rank, and
  // no other waits clearly longer. Nobody is named if ranks take turns, are even, or do not meet.
  [[nodiscard]] bool WaitsMost(const RankRow& row) const;
  // Whether more than one rank with a loader was recorded.
  [[nodiscard]] bool several() const { return rows.size() > 1; }
  [[nodiscard]] const RankRow* Find(std::int32_t rank) const;
};

// Cost: O(batches of all ranks).
[[nodiscard]] RankSummary SummariseRanks(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
