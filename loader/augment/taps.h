// SPDX-License-Identifier: Apache-2.0
//
// Which pixels of the source make each output of a resize along one axis, and with what weights.
// Everything here belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "loader/augment/buffer.h"
#include "loader/augment/op.h"

namespace penstock::loader {

// Output i of [first, first + count) has its centre at offset + (i + 1/2) * ratio, in pixels of the
// source, counted from `base`. Pixels outside [base, base + limit) have no weight. `base` itself
// may lie outside the source, if all pixels with weight are inside. So an axis has the same offset
// and ratio for a part of a picture as for the whole, and gives the same result.
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
  kLookup4,  // a window of four vectors (if the CPU looks up in two registers at once)
  kDot,      // one output at a time
};

// Weights for one axis. Lanes are outputs: weight k of output i is at
// weights[(i / lanes * stride + k) * lanes + i % lanes].
struct AxisTaps {
  Axis axis;
  std::size_t lanes = 0;  // 0: nothing has been computed yet
  std::size_t stride = 0;
  std::size_t taps = 0;  // with a weight other than zero; <= stride
  int begin = 0;         // first source pixel with weight, counted from axis.base
  int end = 0;
  RowMethod method = RowMethod::kLookup2;
  Buffer<float> weights;
  Buffer<float> phase;         // distance of the first tap's centre from the output's
  Buffer<std::int32_t> start;  // first tap of each output, from axis.base; padded to full vectors
  Buffer<std::int32_t> bases;  // first tap of each vector of outputs
  Buffer<float> dots;          // for kDot: [output][taps rounded up to full vectors]
};

// Keeps the tables of the last axes: flips and common sizes soon ask for the same axis again.
class TapCache {
 public:
  // Returns the table for `axis`. `rows`: for the vertical pass, without the parts that only the
  // horizontal pass needs.
  //
  // Lifetime: survives the next kEntries - 1 calls.
  const AxisTaps& Get(const Axis& axis, bool rows);

 private:
  static constexpr std::size_t kEntries = 4;
  std::array<AxisTaps, kEntries> entries_;
  std::array<bool, kEntries> rows_{};
  std::size_t next_ = 0;
};

}  // namespace penstock::loader
