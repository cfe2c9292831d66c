// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a run side by side: how fast each is, who makes the others wait and what that costs,
// and whether their hosts can feed all of them. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One rank in its steady part: without the batches that fill its queues at the start of an epoch.
// Times in seconds.
struct RankRow {
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::size_t host = 0;  // index into RankSummary::hosts
  std::uint32_t pid = 0;
  std::size_t loader = 0;  // index into RunModel::loaders
  int workers = 0;
  int prefetch = 0;
  std::size_t batches = 0;
  double samples_rate = 0;
  double wait_fraction = 0;  // of its loop
  double wait = 0;           // median of an iteration
  double step = 0;           // median; waiting for other ranks included
  double data_bound = 0;     // of its iterations: it waited for more than a twentieth of them
  double held_up = 0;        // what the others waited for its data: see Imbalance
  double cores = 0;          // its part of the host's
};

// What it costs that not all ranks have their data at the same time. In a collective all wait for
// the last: an iteration is longer by what the largest wait for data exceeds the mean one. Below
// kFewest iterations only their number is known.
struct Imbalance {
  static constexpr std::size_t kFewest = 8;  // iterations, to speak of ranks that wait for others
  std::size_t iterations = 0;                // that all ranks have, steady ones
  bool together = false;      // steps end together, so the ranks do wait for each other
  double loop = 0;            // seconds of these iterations, mean of the ranks
  double cost = 0;            // sum over iterations of (largest wait - mean wait), seconds
  std::int32_t slowest = -1;  // the rank with most of it
  double slowest_share = 0;   // of the cost
  bool fixed = false;         // one rank has most of it; else they take turns

  [[nodiscard]] double cost_share() const { return loop > 0 ? cost / loop : 0; }
};

// A host and what all of its ranks together ask of it, those that were not recorded taken to be
// like the others. 0 where it is not known.
struct HostRow {
  std::string name;
  int ranks = 0;
  int recorded = 0;
  double workers = 0;
  double cores = 0;         // that they may use
  double memory = 0;        // bytes of workers and of batches on their way
  double memory_limit = 0;  // kMemoryShare of what the host or its cgroup has
  double shared = 0;        // bytes of batches in /dev/shm
  double shared_size = 0;
};

// How the clock of a part of a merged trace came to be that of all.
struct ClockRow {
  std::string file;
  std::string by;          // AlignName()
  double offset = 0;       // seconds, to be added to its own
  double uncertainty = 0;  // seconds
  double bound = 0;        // seconds, 0: not known
};

struct RankSummary {
  std::int32_t world_size = 0;
  std::string launcher;
  std::vector<RankRow> rows;  // ascending by rank; with a loader
  std::vector<HostRow> hosts;
  Imbalance imbalance;
  std::vector<ClockRow> clocks;  // of a merged trace

  // There is more than one rank to speak of.
  [[nodiscard]] bool several() const { return rows.size() > 1; }
  [[nodiscard]] const RankRow* Find(std::int32_t rank) const;
};

// Cost: O(batches of all ranks).
[[nodiscard]] RankSummary SummariseRanks(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
