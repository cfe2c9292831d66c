// SPDX-License-Identifier: Apache-2.0
//
// The order of an epoch without an array: the index at a position is computed on demand. So
// shuffling ten million samples needs no memory, and resuming in mid-epoch needs no replay.
// Immutable, thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace penstock::loader {

// A pseudo-random permutation of 0 ... size - 1.
//
// A Feistel network permutes the numbers that have as many bits as size - 1. A result outside the
// range is permuted again until it lies inside (cycle walking: on average less than two rounds).
//
// Cost:   no memory; about 50 ns a call.
// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);

  // The index at `position`.
  //
  // Requires: position < size().
  [[nodiscard]] std::uint64_t operator()(std::uint64_t position) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  static constexpr int kRounds = 12;

  [[nodiscard]] std::uint64_t Encrypt(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t left_mask_;
  std::uint64_t right_mask_;
  int right_bits_;
  std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace penstock::loader
