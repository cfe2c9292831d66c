// SPDX-License-Identifier: Apache-2.0
//
// What is to be done to one sample, after every random number has been drawn: a list of steps.
// Plain values without heap, made by Augmenter::Draw() and carried out by Augmenter::Run().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "loader/augment/op.h"
#include "loader/decode/image.h"
#include "loader/random/philox.h"

namespace penstock::loader {

enum class StepKind : std::uint8_t {
  kResample,  // crop, resize, crop, flip; the last one also normalises and converts
  kPad,       // a window that leaves the picture; zeros outside
  kBrightness,
  kContrast,
  kSaturation,
  kHsv,
  kRotate,
  kBlur,
  kErase,
  kGridMask,
};

struct Step {
  StepKind kind = StepKind::kResample;
  Filter filter = Filter::kBilinear;
  bool flip_x = false;
  bool flip_y = false;
  // Operations [first, last) of the program: whose work this is.
  std::uint8_t first = 0;
  std::uint8_t last = 0;
  // kResample: `source` (of the picture before the step) is scaled to `scaled`; `window` of that is
  // kept, then flipped. kPad: `window` of the picture. kErase: `window` is what is erased.
  Region source;
  Size scaled;
  Region window;
  // Factor, angle in radians, sigma, fill; hue shift, saturation, value; grid: u, v, angle.
  std::array<double, 3> amount{};
  Size out;  // size of the picture after the step
};

inline constexpr std::size_t kMaxOps = 16;
inline constexpr std::size_t kMaxSteps = 5 * kMaxOps + 1;  // color_jitter alone can be five

struct AugmentPlan {
  Region region;  // what of the picture must be decoded, full-resolution coordinates
  Size target;  // pixels wanted over `region`, for decoding at a reduced size; {0, 0}: all of them
  std::array<Step, kMaxSteps> steps{};
  std::size_t count = 0;
  std::size_t final_step = 0;  // writes the output; the steps after it change it in place
};

// Draws the parameters of `ops` for one picture: Augmenter::Draw() without the Augmenter. Operation
// i draws from Random(key, i), so that its numbers do not depend on the operations before it.
//
// Requires: both sides of `picture` at least 1; at most kMaxOps operations, in an order that
//           AugmentProgram::Parse() accepts.
[[nodiscard]] AugmentPlan DrawPlan(std::span<const Op> ops, Size picture, const SampleKey& key);

}  // namespace penstock::loader
