// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a distributed run in a trace, their hosts, and the part of the host that each rank
// may use. Ranks of one host share its cores, its memory and its /dev/shm. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/host.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One rank, which is one training process.
struct RankPlace {
  ProcessId consumer;
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::size_t host = 0;  // index into RankLayout::hosts
  double cores = 0;      // its part of the host's cores: 1/n of each core that n ranks may use
};

struct RankHost {
  std::string name;
  Host machine;      // the whole host
  int ranks = 1;     // all ranks that run on the host, recorded or not
  int recorded = 0;  // those of `ranks` that were recorded
  double cores = 0;  // of all recorded ranks together
};

struct RankLayout {
  std::vector<RankPlace> places;     // ascending by rank; empty: no process has a rank
  std::vector<RankHost> hosts;       // hosts of all processes; at least one
  std::vector<std::size_t> host_of;  // by process
  std::int32_t world_size = 0;       // 0: not known
  std::string launcher;              // "torch", "openmpi", ...: agent/core/rank_env.h

  // The place of the rank whose training process is `consumer`; nullptr: it is not a rank.
  [[nodiscard]] const RankPlace* Find(ProcessId consumer) const;
};

// A rank gets an equal part of each CPU that its mask allows: it shares the CPU with all recorded
// ranks of its host whose masks allow the same CPU. If not all ranks of a host were recorded, a
// rank gets at most an equal part of all the host's cores. A quota is shared equally.
[[nodiscard]] RankLayout ReadRankLayout(const traces::Trace& trace);

// A fact of one part of a merged trace; a fact of the whole trace if `part` is empty.
[[nodiscard]] std::string FactOfPart(const traces::Trace& trace, std::string_view part,
                                     std::string_view key);

// The part of `host` that belongs to a rank on it: its cores, and the same share of memory and
// /dev/shm as every other rank.
[[nodiscard]] Host ShareOf(const RankHost& host, const RankPlace& place);

}  // namespace penstock::analyzer
