// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/huffman_tables.h"

#include <algorithm>

namespace penstock::loader {
namespace {

constexpr unsigned kZeroRun = 0xF0;  // 16 zeros

[[nodiscard]] unsigned AdvanceOf(unsigned symbol) {
  if ((symbol & 15) != 0) {
    return (symbol >> 4) + 1;
  }
  return symbol == kZeroRun ? 16 : AcTable::kBlockEnd;
}

using Pairs = std::array<AcTable::Pair, std::size_t{1} << AcTable::kPairBits>;

// Fills in the coefficient with which the bits of each index begin.
void FillFirst(const HuffmanCodes& codes, Pairs& out) {
  constexpr int kBits = AcTable::kPairBits;
  static_assert(kBits >= HuffmanCodes::kCodeBits);
  for (std::size_t i = 0; i < out.size(); ++i) {
    AcTable::Pair& pair = out[i];
    pair = {};
    pair.advance = AcTable::kNothing;
    const unsigned code = codes.by_bits[i >> (kBits - HuffmanCodes::kCodeBits)];
    const unsigned size = code & 15;
    const unsigned length = (code >> 8) + size;
    if (code == 0 || length > kBits) {
      continue;
    }
    const std::uint64_t rest = std::uint64_t{i} << (64 - kBits) << (code >> 8);
    pair.bits = static_cast<std::uint8_t>(length);
    pair.advance = static_cast<std::uint8_t>(AdvanceOf(code & 255));
    pair.first = static_cast<std::uint8_t>(size == 0 ? 0 : (code >> 4) & 15);
    pair.first_value = static_cast<std::int16_t>(size == 0 ? 0 : ValueOf(rest, size));
  }
}

// Adds the coefficient after the first one, if the index holds all of its bits too.
void AddSecond(const Pairs& first, Pairs& out) {
  constexpr std::size_t kMask = (std::size_t{1} << AcTable::kPairBits) - 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    AcTable::Pair pair = first[i];
    if (pair.advance < AcTable::kNothing) {
      pair.second = pair.advance;
      const AcTable::Pair& next = first[(i << pair.bits) & kMask];
      if (next.advance != AcTable::kNothing && pair.bits + next.bits <= AcTable::kPairBits) {
        pair.second = static_cast<std::uint8_t>(pair.advance + next.first);
        pair.second_value = next.first_value;
        pair.bits = static_cast<std::uint8_t>(pair.bits + next.bits);
        pair.advance = static_cast<std::uint8_t>(pair.advance + next.advance);
      }
    }
    out[i] = pair;
  }
}

// Adds up the symbols whose codes lie inside the index. The bits of the last coefficient may lie
// beyond it, since nobody needs the value.
[[nodiscard]] AcTable::Skip SkipOf(const HuffmanCodes& codes, std::uint32_t index) {
  constexpr unsigned kBits = AcTable::kSkipBits;
  static_assert(kBits >= HuffmanCodes::kCodeBits);
  unsigned bits = 0;
  unsigned advance = 0;
  while (bits < kBits && advance < 64) {
    const std::uint32_t rest = (index << bits) & ((1U << kBits) - 1);
    const unsigned code = codes.by_bits[rest >> (kBits - HuffmanCodes::kCodeBits)];
    const unsigned length = code >> 8;
    const unsigned more = AdvanceOf(code & 255);
    const bool whole = code != 0 && bits + length <= kBits;
    if (!whole || (more != AcTable::kBlockEnd && advance + more > 63)) {
      break;
    }
    bits += length + (code & 15);
    advance += more;
  }
  return {static_cast<std::uint8_t>(bits),
          static_cast<std::uint8_t>(bits == 0 ? AcTable::kNothing : advance)};
}

}  // namespace

bool HuffmanCodes::Build(const JHUFF_TBL& table) {
  by_bits.fill(0);
  last.fill(-1);
  offset.fill(0);
  symbols.fill(0);
  std::int32_t code = 0;
  std::int32_t count = 0;
  for (int length = 1; length <= kLongest; ++length) {
    const auto at = static_cast<std::size_t>(length);
    offset[at] = count - code;
    for (int i = 0; i < table.bits[length]; ++i, ++count, ++code) {
      if (count >= 256 || code >= (1 << length)) {
        return false;
      }
      symbols[static_cast<std::size_t>(count)] = table.huffval[count];
      if (length <= kCodeBits) {
        const int unused = kCodeBits - length;
        std::fill_n(by_bits.begin() + (code << unused), 1 << unused,
                    static_cast<std::uint16_t>(length << 8 | table.huffval[count]));
      }
      last[at] = code;
    }
    code <<= 1;
  }
  return count > 0;
}

bool DcTable::Build(const JHUFF_TBL& table) {
  int count = 0;
  for (int length = 1; length <= HuffmanCodes::kLongest; ++length) {
    count += table.bits[length];
  }
  return codes.Build(table) && std::all_of(table.huffval, table.huffval + std::min(count, 256),
                                           [](UINT8 size) { return size <= 15; });
}

bool AcTable::Build(const JHUFF_TBL& table) {
  if (!codes.Build(table)) {
    return false;
  }
  Pairs first;
  FillFirst(codes, first);
  AddSecond(first, pairs);
  for (std::size_t i = 0; i < skips.size(); ++i) {
    skips[i] = SkipOf(codes, static_cast<std::uint32_t>(i));
  }
  return true;
}

}  // namespace penstock::loader
