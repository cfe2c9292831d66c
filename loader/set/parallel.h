// SPDX-License-Identifier: Apache-2.0
//
// Work on many numbered pieces with several threads, where what comes out must be in order of the
// numbers for any number of threads.
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
// of them), until `stop` is requested. Returns when all calls have returned.
void ParallelFor(std::uint64_t count, unsigned workers, const std::stop_token& stop,
                 const std::function<void(std::uint64_t)>& piece);

// What a worker has made.
struct Piece {
  std::vector<std::byte> bytes;
  bool left_out = false;  // and why is in the note
  std::string note;
};

// What one thread of RunOrdered() does.
class OrderedWorker {
 public:
  virtual ~OrderedWorker() = default;
  // Makes piece `index`; what it gives back is handed on in order. Runs beside other workers.
  virtual Result<Piece> Make(std::uint64_t index) = 0;
};

// Makes `count` pieces with one thread per worker and hands them to `take` one at a time in order
// of their index; at most four pieces a worker wait for their turn. Ends early when `stop` is
// requested (no error).
//
// Errors: those of the first piece, in order, that could not be made or taken.
Result<void> RunOrdered(std::uint64_t count,
                        const std::vector<std::unique_ptr<OrderedWorker>>& workers,
                        const std::stop_token& stop,
                        const std::function<Result<void>(std::uint64_t, Piece)>& take);

}  // namespace penstock::loader
