// SPDX-License-Identifier: Apache-2.0
//
// The steps that one sample goes through, after every random number was drawn. Plain values without
// heap. Augmenter::Draw() makes a plan, Augmenter::Run() carries it out.
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
  kPad,       // keeps a window that may lie partly outside the picture; zeros there
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
  // This step does the work of operations [first, last) of the program.
  std::uint8_t first = 0;
  std::uint8_t last = 0;
  // kResample: `source`, a part of the picture before the step, is scaled to `scaled`; `window` of
  // the scaled part is kept and then flipped. kPad: `window` of the picture is kept. kErase:
  // `window` is erased.
  Region source;
  Size scaled;
  Region window;
  // kHsv: hue shift, saturation, value. kGridMask: u, v, angle. kBlur: sigma, kernel. All others
  // use only the first number: factor, angle in radians or fill.
  std::array<double, 3> amount{};
  Size out;  // size of the picture after the step
};

inline constexpr std::size_t kMaxOps = 16;
inline constexpr std::size_t kMaxSteps = 5 * kMaxOps + 1;  // a color_jitter can take five

struct AugmentPlan {
  Region region;  // part that must be decoded, in full-resolution coordinates
  Size target;    // pixels wanted for `region`, for decoding at a reduced size; {0, 0}: all
  std::array<Step, kMaxSteps> steps{};
  std::size_t count = 0;
  std::size_t final_step = 0;  // writes the output; the steps after it change it in place
};

// Draws the parameters of `ops` for one picture, like Augmenter::Draw(). Operation i draws from
// Random(key, i), so its numbers do not depend on the operations before it.
//
// Requires: both sides of `picture` at least 1; at most kMaxOps operations, in an order that
//           AugmentProgram::Parse() accepts.
[[nodiscard]] AugmentPlan DrawPlan(std::span<const Op> ops, Size picture, const SampleKey& key);

}  // namespace penstock::loader
