// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a synthetic set. Picture i is a pure function of the recipe, the seed, the number
// of classes and i. A Painter is immutable, and many threads may use it at a time.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "loader/decode/image.h"
#include "loader/set/recipe.h"
#include "loader/set/scene.h"

namespace penstock::loader {

class Painter {
 public:
  // Paints the scenes with `workers` threads. If `stop` is requested, scenes are missing and the
  // painter must not be used.
  Painter(const SetRecipe& recipe, std::uint64_t seed, std::uint64_t classes, unsigned workers,
          const std::stop_token& stop);

  // Paints picture `index` into `pixels`. The view is valid as long as `pixels` is unchanged.
  [[nodiscard]] ImageView Paint(std::uint64_t index, std::vector<std::uint8_t>& pixels) const;

  [[nodiscard]] std::uint64_t ClassOf(std::uint64_t index) const { return index % classes_; }

 private:
  const SetRecipe& recipe_;
  std::uint64_t seed_;
  std::uint64_t classes_;
  int scene_width_ = 0;
  int scene_height_ = 0;
  std::vector<Scene> scenes_;
  std::vector<std::int8_t> noise_;
};

}  // namespace penstock::loader
