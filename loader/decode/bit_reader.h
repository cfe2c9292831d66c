// SPDX-License-Identifier: Apache-2.0
//
// Bits of entropy-coded JPEG data, without the zero bytes stuffed in after each FF. At a marker or
// the end of the data the reader goes on with zero bits, and `count` becomes negative. The caller
// checks `count` from time to time. For loader/decode alone.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock::loader {

struct BitReader {
  // The next bits, from the top. After `count` of them come zeros, or the first bits of the byte at
  // `next`, which the next refill writes again.
  std::uint64_t bits = 0;
  int count = 0;  // bits of the data in `bits`; negative: zero bits used beyond its end
  const std::uint8_t* next = nullptr;
  const std::uint8_t* end = nullptr;

  // Makes at least 56 bits available, unless a marker or the end comes before.
  // Requires: count <= 63.
  void Refill() {
    if (end - next >= 8) [[likely]] {
      std::uint64_t word;
      std::memcpy(&word, next, sizeof word);
      constexpr std::uint64_t kLow = 0x0101010101010101;
      constexpr std::uint64_t kHigh = 0x8080808080808080;
      const bool has_ff = ((~word - kLow) & word & kHigh) != 0;
      // The reader stops only before an FF or at the end, and stays there. Neither is among the
      // next eight bytes, so it has not stopped, and `count` is not negative.
      if (!has_ff) [[likely]] {
        static_assert(std::endian::native == std::endian::little);
        bits |= __builtin_bswap64(word) >> count;
        next += (63 - count) >> 3;
        count |= 56;
        return;
      }
    }
    RefillByBytes();
  }

  // The next bits, 1 to 32 of them; needs no Refill() if count >= number.
  [[nodiscard]] std::uint32_t Peek(int number) const {
    return static_cast<std::uint32_t>(bits >> (64 - number));
  }
  void Drop(unsigned number) {
    bits <<= number;
    count -= static_cast<int>(number);
  }

  // Continues after restart marker `number` (0 to 7) if only fill bits come before it.
  [[nodiscard]] bool PassRestart(unsigned number) {
    RefillByBytes();
    if (count < 0 || count >= 8 || end - next < 2 || next[0] != 0xFF || next[1] != 0xD0 + number) {
      return false;
    }
    next += 2;
    bits = 0;
    count = 0;
    return true;
  }

 private:
  [[gnu::noinline]] void RefillByBytes() {
    while (count <= 56 && next != end) {
      const std::uint64_t byte = *next;
      if (byte == 0xFF && (end - next < 2 || next[1] != 0)) {
        return;
      }
      next += byte == 0xFF ? 2 : 1;
      bits |= byte << (56 - count);
      count += 8;
    }
  }
};

}  // namespace penstock::loader
