// SPDX-License-Identifier: Apache-2.0
#include "cuda/staging.h"

#include <algorithm>
#include <utility>

namespace penstock::cuda {

Result<Staging::Piece> Staging::Take(std::size_t bytes) {
  constexpr std::size_t kUnit = kPictureAlignment;
  const std::size_t wanted = (bytes + kReadableBeyond + kUnit - 1) / kUnit * kUnit;
  const std::lock_guard lock(mutex_);
  // A block that is passed over gets no more pieces in this batch, even if smaller ones would fit.
  while (current_ < blocks_.size() &&
         blocks_[current_].memory.size() - blocks_[current_].used < wanted) {
    ++current_;
  }
  if (current_ == blocks_.size()) {
    PENSTOCK_TRY(device_.MakeCurrent());
    Result<DeviceMemory> made = device_.Allocate(Kind::kPinned, std::max(kBlock, wanted));
    PENSTOCK_TRY(made);
    blocks_.push_back({std::move(*made), 0});
  }
  Block& block = blocks_[current_];
  const Piece piece{block.memory.data() + block.used, current_, block.used};
  block.used += wanted;
  return piece;
}

std::int64_t Staging::OffsetOf(const Piece& piece) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < piece.block; ++i) before += blocks_[i].used;
  return static_cast<std::int64_t>(before + piece.offset);
}

std::size_t Staging::bytes() const {
  std::size_t all = 0;
  for (const Block& block : blocks_) all += block.used;
  return all;
}

Result<void> Staging::CopyTo(std::byte* device, Stream& stream) const {
  for (const Block& block : blocks_) {
    if (Result<void> copied = stream.CopyIn(device, block.memory.data(), block.used); !copied) {
      return copied;
    }
    device += block.used;
  }
  return {};
}

void Staging::Reset() {
  for (Block& block : blocks_) block.used = 0;
  current_ = 0;
}

std::size_t Staging::capacity() const {
  std::size_t all = 0;
  for (const Block& block : blocks_) all += block.memory.size();
  return all;
}

}  // namespace penstock::cuda
