// SPDX-License-Identifier: Apache-2.0
//
// Converts the spans of one thread to columns and back. A BlockEncoder keeps only scratch memory,
// and is not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/event.h"

namespace penstock::traces::packed {

class BlockEncoder {
 public:
  // Sorts `spans` in the order of StartsBefore and writes their columns to `out`.
  // Requires: 1 <= spans.size() <= kSpansPerBlock. Negative durations count as zero.
  void Encode(std::vector<Span>& spans, ByteWriter& out);

 private:
  struct Key {
    std::int64_t start;
    std::int64_t inverse_duration;
    std::uint32_t depth;
    std::uint32_t index;
  };
  std::vector<Key> keys_;
  std::vector<Span> sorted_;
  std::vector<ByteWriter> columns_;
};

// Reads `count` spans. Returns false, and leaves `out` empty, if the columns are not those of
// `count` spans with ascending starts.
[[nodiscard]] bool DecodeBlock(std::span<const std::byte> payload, std::uint32_t count,
                               std::vector<Span>& out);

}  // namespace penstock::traces::packed
