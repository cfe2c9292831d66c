// SPDX-License-Identifier: Apache-2.0
//
// Which ranks of a distributed run a trace holds, on which hosts, and what each may use of its
// host: ranks of one host share its cores, its memory and its /dev/shm. Values; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/host.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// One rank: the process that trains.
struct RankPlace {
  ProcessId consumer;
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::size_t host = 0;  // index into RankLayout::hosts
  double cores = 0;      // its part of the host's: of a core that n ranks may use, 1/n
};

struct RankHost {
  std::string name;
  Host machine;      // as a whole
  int ranks = 1;     // that run on it, recorded or not
  int recorded = 0;  // of them
  double cores = 0;  // of the recorded ranks together
};

struct RankLayout {
  std::vector<RankPlace> places;     // ascending by rank; empty: no process has a rank
  std::vector<RankHost> hosts;       // of all processes, at least one
  std::vector<std::size_t> host_of;  // by process
  std::int32_t world_size = 0;       // 0: not known
  std::string launcher;              // "torch", "openmpi", ...: agent/core/rank_env.h

  // The place of the rank that `consumer` is; nullptr if it is none.
  [[nodiscard]] const RankPlace* Find(ProcessId consumer) const;
};

// Cores of a rank: of each CPU that its mask allows the part that is left when all recorded ranks
// of its host whose masks allow it have as much. Where not all ranks of a host were recorded, at
// most an equal part of all its cores. A quota is shared equally.
[[nodiscard]] RankLayout ReadRankLayout(const traces::Trace& trace);

// The fact of the part of a merged trace that a process came from; of the trace otherwise.
[[nodiscard]] std::string FactOfPart(const traces::Trace& trace, std::string_view part,
                                     std::string_view key);

// The part of `host` that a rank on it has: its cores, and of memory and /dev/shm as much as every
// other rank there.
[[nodiscard]] Host ShareOf(const RankHost& host, const RankPlace& place);

}  // namespace penstock::analyzer
