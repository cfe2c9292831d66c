// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory of one batch on its way to the device: samples take a piece each, of any size and
// in any order; then all of it is copied at once. Keeps its blocks from batch to batch, so that
// nothing is pinned in steady state, which costs milliseconds.
//
// Threads: Take() from any; the rest from one, while nobody takes.
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

  // At least `bytes` at a multiple of kPictureAlignment, with kReadableBeyond bytes after them.
  // Errors: kEnvironment if pinned memory runs out.
  [[nodiscard]] Result<Piece> Take(std::size_t bytes);

  // Where the piece will lie in the device's memory. Requires: all pieces are taken.
  [[nodiscard]] std::int64_t OffsetOf(const Piece& piece) const;
  [[nodiscard]] std::size_t bytes() const;  // of all pieces, with what lies between them
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
  std::size_t current_ = 0;  // the block that pieces are taken from
};

}  // namespace penstock::cuda
