// SPDX-License-Identifier: Apache-2.0
//
// Does many numbered pieces of work with several threads, and passes on the results in the order of
// their numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "traces/base/result.h"

namespace penstock::loader {

// Calls piece(index) once for every index below `count`, from `workers` threads (the caller is one
// of them), or from fewer if they cannot be started, until `stop` is requested. Returns when all
// calls have returned.
void ParallelFor(std::uint64_t count, unsigned workers, const std::stop_token& stop,
                 const std::function<void(std::uint64_t)>& piece);

// The result of a worker.
struct Piece {
  std::vector<std::byte> bytes;
  bool left_out = false;  // the note says why
  std::string note;
};

// What one thread of RunOrdered() does.
class OrderedWorker {
 public:
  virtual ~OrderedWorker() = default;
  // Makes piece `index`. Results are handed on in order. Runs at the same time as other workers.
  virtual Result<Piece> Make(std::uint64_t index) = 0;
};

// Makes `count` pieces with one thread for each worker, and passes them to `take` one at a time in
// the order of their index. At most four pieces for each worker wait for their turn. Ends early,
// without an error, when `stop` is requested.
//
// Errors: that of the first piece, in order, that could not be made or taken; kEnvironment if
//         making or taking it threw an exception, or if a thread cannot be started.
Result<void> RunOrdered(std::uint64_t count,
                        const std::vector<std::unique_ptr<OrderedWorker>>& workers,
                        const std::stop_token& stop,
                        const std::function<Result<void>(std::uint64_t, Piece)>& take);

}  // namespace penstock::loader
