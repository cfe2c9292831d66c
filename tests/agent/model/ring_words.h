// SPDX-License-Identifier: Apache-2.0
//
// The values of two kinds of words in the model of the ring: the state of a chunk, and ids of
// records.
#pragma once

#include <cstdint>

namespace penstock::model {

inline constexpr std::uint8_t kFree = 0;
inline constexpr std::uint8_t kOwned = 1;
inline constexpr std::uint8_t kFull = 2;
inline constexpr int kMaxRecords = 8;  // of a writer

inline std::uint8_t IdOf(int writer, int number) {
  return static_cast<std::uint8_t>(writer * kMaxRecords + number);
}
inline std::uint64_t BitOf(std::uint8_t id) {
  return std::uint64_t{1} << id;
}

// Returns the state of a chunk that `writer` has claimed. It names the writer.
inline std::uint8_t OwnedBy(int writer) {
  return static_cast<std::uint8_t>(kOwned | (writer + 1) << 2);
}
inline std::uint8_t StateIn(std::uint8_t word) {
  return word & 3;
}

}  // namespace penstock::model
