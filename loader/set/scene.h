// SPDX-License-Identifier: Apache-2.0
//
// Scenes: large painted pictures with the statistics of photographs, from which the pictures of a
// set are cut. Values; painting a scene is a pure function of its arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "loader/set/field.h"

namespace penstock::loader {

// A picture of occluding shapes whose sizes follow a power law ("dead leaves"), with textures of a
// 1/f spectrum and slow light and shade; the same picture out of focus; a mask of the near parts.
struct Scene {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> sharp;    // [height][width][3]
  std::vector<std::uint8_t> blurred;  // [height][width][3]
  std::vector<std::uint8_t> near;     // [height][width], 255: in front
};

// Requires: width and height >= 16.
[[nodiscard]] Scene PaintScene(Random& random, int width, int height);

// Noise of a demosaicked sensor, with a little correlation between neighbours and between channels.
// In units of 1/32 of a deviation, cut off at four deviations; [height][width][3].
[[nodiscard]] std::vector<std::int8_t> PaintNoise(Random& random, int width, int height);

}  // namespace penstock::loader
