// SPDX-License-Identifier: Apache-2.0
//
// Where the pixels of a finished sample come from in its picture, for masks and boxes that go
// through the same geometry. Values and pure functions; thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "loader/augment/plan.h"

namespace penstock::loader {

// In this order: `crop` of the picture is resized to `scaled`, `window` of the result is kept, and
// the kept part is flipped. Crop and window may reach outside, where there are zeros.
struct SampleGeometry {
  Size picture;
  Region crop;    // pixels of the picture
  Size scaled;    // the crop's own size where nothing was resized
  Region window;  // pixels of `scaled`; of the size of the output
  bool flip_x = false;
  bool flip_y = false;
};

// What `plan` does to a picture of this size. A flip before a resize is moved behind the resize, as
// the loader does.
// Requires: WhyNoGeometry() of the plan's operations is nullopt.
[[nodiscard]] SampleGeometry GeometryOf(const AugmentPlan& plan, Size picture);

// The reason why no SampleGeometry can describe `ops`; nullopt if one can.
[[nodiscard]] std::optional<std::string> WhyNoGeometry(std::span<const Op> ops);

}  // namespace penstock::loader
