// SPDX-License-Identifier: Apache-2.0
//
// How each rank went through the iterations of a run, so that ranks can be laid side by side.
// Values; pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// An iteration of the training loop. Ranks number the generations of their iterators differently
// (rank 0 often validates alone), so an epoch is counted among those of the training loader.
struct Iteration {
  std::uint32_t epoch = 0;
  std::uint32_t batch = 0;
  constexpr auto operator<=>(const Iteration&) const = default;
};

// One rank in one iteration. Times of its trace's clock, in nanoseconds.
struct Passing {
  Iteration iteration;
  std::int64_t delivered = kNever;  // next() returned
  std::int64_t ended = kNever;      // the collective did, or the step that holds it
  double wait = 0;                  // seconds
  double step = 0;                  // seconds
  bool steady = false;              // not one of those that fill the queues: see SteadyLoop
};

struct RankTrack {
  std::int32_t rank = -1;
  std::size_t loader = 0;         // index into RunModel::loaders
  bool by_device = false;         // `ended` is that of NCCL's kernels, not of the loop's step
  std::vector<Passing> passings;  // ascending by iteration
};

// The tracks of all ranks with a loader of at least one batch, ascending by rank: of each the
// loader that delivered most batches. Processes without a rank have none.
// Where the collectives of devices were recorded, an iteration ends with its last one: the loop
// itself runs ahead of its devices.
// Cost: O(batches), and a pass over the kernels if there are any.
[[nodiscard]] std::vector<RankTrack> TracksOf(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
