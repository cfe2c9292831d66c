// SPDX-License-Identifier: Apache-2.0
//
// Look-up tables for the Huffman codes of a baseline JPEG. Bits are in the order of the file, the
// first one the highest. The index into a table is the next kCodeBits, kPairBits or kSkipBits bits.
// For loader/decode alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs size_t and FILE

#include <jpeglib.h>

namespace penstock::loader {

// The value of the `size` bits (0 to 15) at the top of `bits`: EXTEND in the standard.
[[nodiscard]] constexpr int ValueOf(std::uint64_t bits, unsigned size) {
  const auto magnitude = static_cast<int>((bits >> 1) >> (63 - size));
  const bool negative = (bits >> 63) == 0;
  return negative ? magnitude - static_cast<int>((1U << size) - 1) : magnitude;
}

// Finds the symbol of a code of any length.
struct HuffmanCodes {
  static constexpr int kCodeBits = 10;
  static constexpr int kLongest = 16;

  // The code with which these bits begin, as length << 8 | symbol; 0 if that code is longer than
  // kCodeBits, or if there is none.
  std::array<std::uint16_t, std::size_t{1} << kCodeBits> by_bits;
  // The last code of each length (-1: none), and the offset from a code to its symbol.
  std::array<std::int32_t, kLongest + 1> last;
  std::array<std::int32_t, kLongest + 1> offset;
  std::array<std::uint8_t, 256> symbols;

  // False if `table` describes no prefix code; the tables must not be used then.
  [[nodiscard]] bool Build(const JHUFF_TBL& table);
};

struct DcTable {
  HuffmanCodes codes;  // a symbol is the size of the difference, 0 to 15

  [[nodiscard]] bool Build(const JHUFF_TBL& table);
};

// A symbol of an AC code says how many zeros come first, and the size of the coefficient after
// them. Size 0 ends the block, or stands for 16 zeros.
struct AcTable {
  static constexpr int kPairBits = 10;
  static constexpr int kSkipBits = 10;
  static constexpr unsigned kBlockEnd = 128;  // added to `advance` by a code that ends the block
  static constexpr unsigned kNothing = 64;    // `advance` if no symbol is complete

  // Up to two coefficients that these bits contain completely. If there is no second one, its value
  // is 0 and its place is the next one, where nothing has been written yet.
  struct Pair {
    std::uint8_t bits;     // used up
    std::uint8_t advance;  // places of the block used up
    std::uint8_t first;    // place of the first coefficient, from the current one
    std::uint8_t second;
    std::int16_t first_value;
    std::int16_t second_value;
  };
  // Symbols to skip in a block that nobody needs, at most up to the end of the block. Their codes
  // lie inside the index. `bits` also counts the bits of the last coefficient, which may lie
  // outside.
  struct Skip {
    std::uint8_t bits;
    std::uint8_t advance;
  };

  std::array<Pair, std::size_t{1} << kPairBits> pairs;
  std::array<Skip, std::size_t{1} << kSkipBits> skips;
  HuffmanCodes codes;

  [[nodiscard]] bool Build(const JHUFF_TBL& table);
};

}  // namespace penstock::loader
