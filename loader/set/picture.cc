// SPDX-License-Identifier: Apache-2.0
#include "loader/set/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "loader/set/parallel.h"

namespace penstock::loader {
namespace {

// The random streams of a set, which differ by their operation.
enum Stream : std::uint32_t { kScenes = 0x5ce40, kNoise, kPictures };

// A window of a scene, mirrored or not. Counts in pixels of the scene.
struct Window {
  std::size_t at = 0;       // index of the pixel at the top left of the picture
  std::ptrdiff_t row = 0;   // from one row to the next
  std::ptrdiff_t step = 1;  // from one pixel to the next; -1: mirrored
};

Window Cut(Random& random, int width, int height, int scene_width, int scene_height) {
  const auto y = random.Below(static_cast<std::uint32_t>(scene_height - height + 1));
  const auto x = random.Below(static_cast<std::uint32_t>(scene_width - width + 1));
  const bool mirrored = random.Below(2) == 1;
  Window window;
  window.row = scene_width;
  window.step = mirrored ? -1 : 1;
  window.at = std::size_t{y} * static_cast<std::size_t>(scene_width) + x +
              (mirrored ? static_cast<std::size_t>(width - 1) : 0);
  return window;
}

// Draws the deviation of the noise in levels: mostly small as in good light, sometimes large as in
// a dark room.
float NoiseStrength(Random& random) {
  // An exponential number plus half a squared normal one has a gamma distribution of shape 1.5.
  const double normal = random.Normal();
  const double gamma = -std::log(1 - random.Uniform()) + 0.5 * normal * normal;
  return static_cast<float>(std::min(7.0, 0.85 + 0.9 * gamma));
}

}  // namespace

Painter::Painter(const SetRecipe& recipe, std::uint64_t seed, std::uint64_t classes,
                 unsigned workers, const std::stop_token& stop)
    : recipe_(recipe), seed_(seed), classes_(classes) {
  // A scene is large enough for windows of every size.
  for (const PictureSize& size : recipe.sizes) {
    scene_width_ = std::max(scene_width_, size.width * 5 / 4);
    scene_height_ = std::max(scene_height_, size.height * 5 / 4);
  }
  const auto count = static_cast<std::size_t>(recipe.scenes);
  scenes_.resize(count);
  ParallelFor(count + 1, workers, stop, [&](std::uint64_t index) {
    if (index == count) {
      Random random({seed_, 0, 0}, kNoise);
      noise_ = PaintNoise(random, scene_width_, scene_height_);
      return;
    }
    Random random({seed_, 0, index}, kScenes);
    scenes_[index] = PaintScene(random, scene_width_, scene_height_);
  });
}

ImageView Painter::Paint(std::uint64_t index, std::vector<std::uint8_t>& pixels) const {
  Random random({seed_, 0, index}, kPictures);
  const PictureSize& size = SizeOf(recipe_, index);
  const std::uint64_t label = ClassOf(index);
  const auto scenes = static_cast<std::uint32_t>(scenes_.size());
  // The class decides which four scenes may be in front, and the tint, so that a network has
  // something to learn. Neighbouring classes have different scenes; others may share some.
  const Scene& near = scenes_[(label * 7 + random.Below(4)) % scenes];
  const Scene& far = scenes_[random.Below(scenes)];
  const Window front = Cut(random, size.width, size.height, scene_width_, scene_height_);
  const Window back = Cut(random, size.width, size.height, scene_width_, scene_height_);
  const Window grain = Cut(random, size.width, size.height, scene_width_, scene_height_);
  const std::uint8_t* behind = (random.Uniform() < 0.6 ? far.blurred : far.sharp).data();
  const double exposure = 0.85 + 0.3 * random.Uniform();
  const float noise = NoiseStrength(random) / 32;
  std::array<float, 3> gain{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(label) / static_cast<double>(classes_) +
        2.1 * static_cast<double>(c);
    gain[c] = static_cast<float>(exposure * (1 + 0.08 * std::cos(angle)));
  }
  const auto width = static_cast<std::size_t>(size.width);
  pixels.resize(3 * width * static_cast<std::size_t>(size.height));
  std::uint8_t* out = pixels.data();
  for (int y = 0; y < size.height; ++y) {
    const auto start = [&](const Window& window) {
      return static_cast<std::ptrdiff_t>(window.at) + y * window.row;
    };
    std::ptrdiff_t f = start(front);
    std::ptrdiff_t b = start(back);
    std::ptrdiff_t g = start(grain);
    for (std::size_t x = 0; x < width; ++x) {
      const float share = static_cast<float>(near.near[static_cast<std::size_t>(f)]) / 255;
      for (int c = 0; c < 3; ++c) {
        const float of_back = behind[3 * b + c];
        const float of_front = near.sharp[static_cast<std::size_t>(3 * f + c)];
        const float level =
            (of_back + share * (of_front - of_back)) * gain[static_cast<std::size_t>(c)] +
            noise * noise_[static_cast<std::size_t>(3 * g + c)];
        *out++ = static_cast<std::uint8_t>(std::clamp(level, 0.0f, 255.0f));
      }
      f += front.step;
      b += back.step;
      g += grain.step;
    }
  }
  return {pixels.data(), size.width, size.height, static_cast<std::ptrdiff_t>(3 * width)};
}

}  // namespace penstock::loader
