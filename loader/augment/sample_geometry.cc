// SPDX-License-Identifier: Apache-2.0
#include "loader/augment/sample_geometry.h"

#include <fmt/format.h>

namespace penstock::loader {
namespace {

class GeometryBuilder {
 public:
  explicit GeometryBuilder(Size picture) {
    made_.picture = made_.scaled = picture;
    made_.crop = made_.window = {0, 0, picture.width, picture.height};
  }

  // Keeps a part of the picture as it is now.
  void Keep(Region kept) {
    Region& window = made_.window;
    window.x += made_.flip_x ? window.width - kept.x - kept.width : kept.x;
    window.y += made_.flip_y ? window.height - kept.y - kept.height : kept.y;
    window.width = kept.width;
    window.height = kept.height;
  }

  void Scale(Size size) {
    made_.crop = made_.window;
    made_.scaled = size;
    made_.window = {0, 0, size.width, size.height};
    scaled_ = true;
  }

  void Flip(bool x, bool y) {
    made_.flip_x = made_.flip_x != x;
    made_.flip_y = made_.flip_y != y;
  }

  [[nodiscard]] SampleGeometry Made() {
    if (!scaled_) Scale({made_.window.width, made_.window.height});
    return made_;
  }

 private:
  SampleGeometry made_;  // until Scale(), `window` is a part of the picture
  bool scaled_ = false;
};

}  // namespace

SampleGeometry GeometryOf(const AugmentPlan& plan, Size picture) {
  GeometryBuilder builder(picture);
  for (const Step& step : std::span(plan.steps).first(plan.count)) {
    if (step.kind == StepKind::kPad) {
      builder.Keep(step.window);
    } else if (step.kind == StepKind::kResample) {
      builder.Keep(step.source);
      if (step.scaled != Size{step.source.width, step.source.height}) builder.Scale(step.scaled);
      builder.Keep(step.window);
      builder.Flip(step.flip_x, step.flip_y);
    }
  }
  return builder.Made();
}

std::optional<std::string> WhyNoGeometry(std::span<const Op> ops) {
  int resizes = 0;
  int crops = 0;
  for (const Op& op : ops) {
    const bool resize = op.kind == OpKind::kResize || op.kind == OpKind::kRandomResizedCrop;
    resizes += resize ? 1 : 0;
    crops += !resize && op.kind <= OpKind::kCrop ? 1 : 0;
    if (resizes > 1 || crops > 1 || op.kind == OpKind::kRotate) {
      return fmt::format(
          "{0}: masks and boxes share at most one resize (random_resized_crop is one), one other "
          "crop and flips with the picture: leave this {0} out",
          OpName(op.kind));
    }
  }
  return std::nullopt;
}

}  // namespace penstock::loader
