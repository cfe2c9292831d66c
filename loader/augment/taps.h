// SPDX-License-Identifier: Apache-2.0
//
// What each output of a resize is made of, along one axis: which pixels of the source, and with
// what weights. Everything here belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "loader/augment/buffer.h"
#include "loader/augment/op.h"

namespace penstock::loader {

// Along one axis: output i of [first, first + count) is centred at offset + (i + 1/2) * ratio, in
// pixels of the source from `base`; pixels outside of [base, base + limit) have no weight. `base`
// and what lies at it need not be in the source, if only pixels with weight are: so the numbers,
// and with them the result, are the same for a part of a picture and for the whole of it.
struct Axis {
  int base = 0;
  int limit = 0;
  double offset = 0;
  double ratio = 1;
  int first = 0;
  int count = 0;
  bool mirrored = false;
  Filter filter = Filter::kBilinear;
  bool operator==(const Axis&) const = default;
};

// How the outputs of a row are computed from the taps, fastest first.
enum class RowMethod : std::uint8_t {
  kLookup2,  // a vector of outputs reads a window of two vectors
  kLookup4,  // of four (where the CPU looks up in two registers at once)
  kDot,      // one output at a time
};

// Weights for one axis. Lanes are outputs: weight k of output i is at
// weights[(i / lanes * stride + k) * lanes + i % lanes].
struct AxisTaps {
  Axis axis;
  std::size_t lanes = 0;  // 0: nothing has been computed yet
  std::size_t stride = 0;
  std::size_t taps = 0;  // of these, columns with a weight other than zero; <= stride
  int begin = 0;         // source pixels with weight, from axis.base
  int end = 0;
  RowMethod method = RowMethod::kLookup2;
  Buffer<float> weights;
  Buffer<float> phase;         // centre of the first tap from that of the output
  Buffer<std::int32_t> start;  // first tap of each output, from axis.base; padded to full vectors
  Buffer<std::int32_t> bases;  // first tap of each vector of outputs
  Buffer<float> dots;          // for kDot: [output][taps rounded up to full vectors]
};

// A few tables, since flips and a repeated size take turns.
class TapCache {
 public:
  // The table for `axis`; `rows`: for vertical use, without what only a row needs.
  //
  // Lifetime: until the next call but kEntries - 1.
  const AxisTaps& Get(const Axis& axis, bool rows);

 private:
  static constexpr std::size_t kEntries = 4;
  std::array<AxisTaps, kEntries> entries_;
  std::array<bool, kEntries> rows_{};
  std::size_t next_ = 0;
};

}  // namespace penstock::loader
