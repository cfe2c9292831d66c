// SPDX-License-Identifier: Apache-2.0
#include "loader/random/permutation.h"

#include <bit>
#include <cstddef>

#include "loader/random/philox.h"

namespace penstock::loader {
namespace {

constexpr std::uint64_t Mask(int bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
}

// A finaliser with full avalanche (David Stafford's variant 13, as in SplitMix64).
constexpr std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(size) {
  const int bits = size <= 1 ? 0 : static_cast<int>(std::bit_width(size - 1));
  right_bits_ = bits - bits / 2;
  left_mask_ = Mask(bits / 2);
  right_mask_ = Mask(right_bits_);
  const auto key = EpochKey(seed, epoch);
  for (std::size_t round = 0; round < keys_.size(); ++round) {
    // The last word differs from the last word of every sample's counter.
    const auto block =
        Philox4x32({static_cast<std::uint32_t>(round), 0x7065726D, 0, 0xFFFFFFFF}, key);
    keys_[round] = std::uint64_t{block[0]} << 32 | block[1];
  }
}

std::uint64_t Permutation::Encrypt(std::uint64_t value) const {
  std::uint64_t left = value >> right_bits_ & left_mask_;
  std::uint64_t right = value & right_mask_;
  for (std::size_t round = 0; round < keys_.size(); round += 2) {
    left ^= Mix(right + keys_[round]) & left_mask_;
    right ^= Mix(left + keys_[round + 1]) & right_mask_;
  }
  return left << right_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
  std::uint64_t value = Encrypt(position);
  while (value >= size_) {
    value = Encrypt(value);
  }
  return value;
}

}  // namespace penstock::loader
