// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory for one batch on its way to the device. Samples take pieces of any size in any
// order, and then all of it is copied at once. Blocks are kept from batch to batch, so nothing is
// pinned in steady state; pinning takes milliseconds.
//
// Threads: Take() from any thread; the other functions from one thread, while no Take() runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/device.h"
#include "traces/base/result.h"

namespace penstock::cuda {

class Staging {
 public:
  // A place in the staging memory, valid until Reset().
  struct Piece {
    std::byte* data = nullptr;
    std::size_t block = 0;
    std::size_t offset = 0;  // in the block
  };

  explicit Staging(Device& device) : device_(device) {}

  // Takes at least `bytes` at a multiple of kPictureAlignment, with kReadableBeyond bytes after
  // them. Errors: kEnvironment if pinned memory runs out.
  [[nodiscard]] Result<Piece> Take(std::size_t bytes);

  // Where the piece will lie in the device's memory. Requires: all pieces are taken.
  [[nodiscard]] std::int64_t OffsetOf(const Piece& piece) const;
  [[nodiscard]] std::size_t bytes() const;  // of all pieces and the gaps between them
  // Queues the copies, one for each block.
  [[nodiscard]] Result<void> CopyTo(std::byte* device, Stream& stream) const;

  // Forgets all pieces. Requires: their copies are done.
  void Reset();
  [[nodiscard]] std::size_t capacity() const;

 private:
  static constexpr std::size_t kBlock = std::size_t{8} << 20;

  struct Block {
    DeviceMemory memory;
    std::size_t used = 0;
  };

  Device& device_;
  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // the block from which pieces are taken
};

}  // namespace penstock::cuda
