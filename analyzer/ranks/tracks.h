// SPDX-License-Identifier: Apache-2.0
//
// How each rank went through the iterations of a run, so that ranks can be compared. Values; pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// An iteration of the training loop. Ranks number their iterators differently (rank 0 often
// validates alone), so epochs of the training loader are counted. `batch` is the index of the
// batch. If batches are not delivered in order, the n-th delivery has the n-th smallest index.
struct Iteration {
  std::uint32_t epoch = 0;
  std::uint32_t batch = 0;
  constexpr auto operator<=>(const Iteration&) const = default;
};

// One rank in one iteration. Times are nanoseconds of its trace's clock.
struct Passing {
  Iteration iteration;
  std::int64_t delivered = kNever;  // when next() returned
  std::int64_t ended = kNever;      // when the collective ended; if not known, when the step ended
  double wait = 0;                  // seconds
  double step = 0;                  // seconds
  bool steady = false;              // it counts in SteadyLoop: its batch does not fill the queues
};

struct RankTrack {
  std::int32_t rank = -1;
  std::size_t loader = 0;         // index into RunModel::loaders
  bool by_device = false;         // `ended` comes from NCCL's kernels, not from the loop's step
  std::vector<Passing> passings;  // ascending by iteration
};

// The tracks of all ranks that have a loader with at least one batch, ascending by rank. If a rank
// has several loaders, the track follows the one that delivered most batches. If all ranks of the
// trace have some loaders in common, only these count. Processes without a rank have no track. If
// the collectives of most batches of a track were recorded, an iteration ends with its last
// collective, because the loop runs ahead of its devices.
// Cost: O(batches), and a pass over the kernels if there are any.
[[nodiscard]] std::vector<RankTrack> TracksOf(const traces::Trace& trace, const RunModel& run);

}  // namespace penstock::analyzer
