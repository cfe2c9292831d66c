// SPDX-License-Identifier: Apache-2.0
#include "loader/set/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace penstock::loader {
namespace {

constexpr double kTau = 2 * std::numbers::pi;

// Calibrated with cuts of real photographs that were encoded the same way
// (benchmarks/check_sets.py).
constexpr double kLeastRadius = 6;          // pixels
constexpr double kLeavesPerPixel = 2.3e-3;  // later leaves hide most of the earlier ones
constexpr float kTexture = 11;              // levels, times the relief of the shape
constexpr double kTextureExponent = 1.05;
constexpr float kTint = 3.5;  // levels, red and blue against green
constexpr double kLens = 0.8;
constexpr double kOutOfFocus = 4.5;

using Colour = std::array<float, 3>;

struct Point {
  double x;
  double y;
};

// Draws the k-th smallest of n uniform numbers: the Beta(k, n + 1 - k) distribution.
double OrderStatistic(Random& random, std::size_t k, std::size_t n) {
  std::array<double, 8> drawn{};
  for (std::size_t i = 0; i < n; ++i) drawn[i] = random.Uniform();
  std::sort(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(n));
  return drawn[k - 1];
}

// Draws from the gamma distribution of shape 3/2: an exponential number plus half a squared normal
// one.
double GammaThreeHalves(Random& random) {
  const double normal = random.Normal();
  return -std::log(1 - random.Uniform()) + 0.5 * normal * normal;
}

// Muted colours around two hues, as in one place under one light.
std::vector<Colour> Palette(Random& random) {
  constexpr std::array<double, 3> kPlaces = {0.3, 0.58, 0.02};  // leaves, sky, skin and brick
  const double ground = 0.08 + 0.05 * random.Normal();
  const double place = kPlaces[random.Below(3)] + 0.05 * random.Normal();
  std::vector<Colour> colours(14);
  for (Colour& colour : colours) {
    const double hue = (random.Below(2) == 0 ? ground : place) + 0.02 * random.Normal();
    const double saturation = OrderStatistic(random, 2, 7);
    const double value = 0.12 + 0.7 * OrderStatistic(random, 2, 3);
    for (std::size_t c = 0; c < 3; ++c) {
      const double wave = std::cos(kTau * (hue - static_cast<double>(c) / 3));
      colour[c] =
          static_cast<float>(255 * std::clamp(value * (1 + 0.9 * saturation * wave), 0.0, 1.0));
    }
  }
  return colours;
}

// Calls span(y, first, last) for the runs of pixels whose centres are inside the polygon.
template <class Span>
void FillPolygon(const std::vector<Point>& corners, int width, int height, Span&& span) {
  const auto [top, bottom] = std::minmax_element(
      corners.begin(), corners.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  const int first_row = static_cast<int>(std::max(0.0, std::floor(top->y)));
  const int last_row = static_cast<int>(std::min<double>(height, std::ceil(bottom->y) + 1));
  std::vector<double> crossings;
  for (int y = first_row; y < last_row; ++y) {
    const double middle = y + 0.5;
    crossings.clear();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point& a = corners[i];
      const Point& b = corners[i + 1 == corners.size() ? 0 : i + 1];
      if ((a.y <= middle) == (b.y <= middle)) continue;
      crossings.push_back(a.x + (middle - a.y) * (b.x - a.x) / (b.y - a.y));
    }
    std::sort(crossings.begin(), crossings.end());
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const double from = std::clamp(std::ceil(crossings[i] - 0.5), 0.0, double(width));
      const double to = std::clamp(std::ceil(crossings[i + 1] - 0.5), 0.0, double(width));
      if (from < to) span(y, static_cast<int>(from), static_cast<int>(to));
    }
  }
}

// A shape with 5 to 47 corners around a random place. Its radius follows a power law of exponent 3,
// cut off at both ends. Such a law is scale-invariant, as nature is.
std::vector<Point> Leaf(Random& random, int width, int height) {
  const double radius =
      std::min(0.5 * height, kLeastRadius / std::sqrt(1 - std::min(random.Uniform(), 0.999999)));
  const double x = (1.2 * random.Uniform() - 0.1) * width;
  const double y = (1.2 * random.Uniform() - 0.1) * height;
  const double lobes = 1 + random.Below(4);
  const double phase = kTau * random.Uniform();
  const double stretch = 0.5 + 1.1 * random.Uniform();
  std::vector<double> angles(5 + random.Below(43));
  for (double& angle : angles) angle = kTau * random.Uniform();
  std::sort(angles.begin(), angles.end());
  std::vector<Point> corners;
  corners.reserve(angles.size());
  for (const double angle : angles) {
    const double reach = radius * (1 + 0.25 * std::sin(lobes * angle + phase));
    corners.push_back({x + stretch * reach * std::cos(angle), y + reach * std::sin(angle)});
  }
  return corners;
}

struct Canvas {
  std::array<Plane, 3> colour;
  Plane relief;  // strength of the texture of each shape
};

Canvas PaintLeaves(Random& random, int width, int height) {
  const std::vector<Colour> colours = Palette(random);
  Canvas canvas;
  for (std::size_t c = 0; c < 3; ++c) canvas.colour[c] = Plane(width, height, colours[0][c]);
  canvas.relief = Plane(width, height, 1);
  const auto leaves = static_cast<int>(kLeavesPerPixel * width * height);
  for (int leaf = 0; leaf < leaves; ++leaf) {
    const std::vector<Point> corners = Leaf(random, width, height);
    Colour colour = colours[random.Below(static_cast<std::uint32_t>(colours.size()))];
    for (float& level : colour) {
      level = std::clamp(level + 9 * static_cast<float>(random.Normal()), 0.0f, 255.0f);
    }
    const auto relief = static_cast<float>(std::min(2.0, 0.5 * GammaThreeHalves(random)));
    FillPolygon(corners, width, height, [&](int y, int first, int last) {
      for (std::size_t c = 0; c < 3; ++c) {
        float* row = canvas.colour[c].row(y);
        std::fill(row + first, row + last, colour[c]);
      }
      float* row = canvas.relief.row(y);
      std::fill(row + first, row + last, relief);
    });
  }
  for (Plane& plane : canvas.colour) Blur(plane, kLens);  // a lens makes no hard edges
  Blur(canvas.relief, 1.0);
  return canvas;
}

std::uint8_t Level(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
}

void Interleave(const std::array<Plane, 3>& planes, std::vector<std::uint8_t>& out) {
  const std::size_t count = planes[0].values.size();
  out.resize(3 * count);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < count; ++i) out[3 * i + c] = Level(planes[c].values[i]);
  }
}

}  // namespace

Scene PaintScene(Random& random, int width, int height) {
  Canvas canvas = PaintLeaves(random, width, height);
  const Plane texture = NaturalField(random, width, height, kTextureExponent);
  const std::array<Plane, 2> tint = {NaturalField(random, width, height, 1.5),
                                     NaturalField(random, width, height, 1.5)};
  // Light and shade vary slowly and fall off towards one side.
  Plane shade = NaturalField(random, width, height, 2.0);
  const double above = 0.7 + 0.55 * random.Uniform();
  const double below = 0.7 + 0.55 * random.Uniform();
  for (int y = 0; y < height; ++y) {
    const auto slope = static_cast<float>(above + (below - above) * y / (height - 1));
    float* row = shade.row(y);
    for (int x = 0; x < width; ++x) {
      row[x] = std::clamp((1 + 0.16f * row[x]) * slope, 0.3f, 1.6f);
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<float>& values = canvas.colour[c].values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] =
          values[i] * shade.values[i] + kTexture * canvas.relief.values[i] * texture.values[i];
    }
    if (c == 1) continue;
    const std::vector<float>& colour = tint[c / 2].values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += kTint * colour[i];
  }
  Scene scene;
  scene.width = width;
  scene.height = height;
  Interleave(canvas.colour, scene.sharp);
  for (Plane& plane : canvas.colour) Blur(plane, kOutOfFocus);
  Interleave(canvas.colour, scene.blurred);
  const Plane near = NaturalField(random, width, height, 2.6);
  const auto level = static_cast<float>(-1.2 + 1.4 * random.Uniform());
  scene.near.reserve(near.values.size());
  for (const float value : near.values) {
    scene.near.push_back(Level(255 / (1 + std::exp(-20 * (value - level)))));
  }
  return scene;
}

std::vector<std::int8_t> PaintNoise(Random& random, int width, int height) {
  const auto w = static_cast<std::size_t>(width) + 2;
  const auto h = static_cast<std::size_t>(height) + 2;
  std::vector<float> white(3 * w * h);
  for (float& value : white) value = static_cast<float>(random.Normal());
  std::vector<std::int8_t> noise;
  const float kDeviation = std::sqrt(8.0f + 64.0f / 3.0f);
  noise.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::size_t y = 1; y + 1 < h; ++y) {
    for (std::size_t x = 1; x + 1 < w; ++x) {
      Colour value{};
      for (std::size_t c = 0; c < 3; ++c) {
        const float* at = white.data() + 3 * (y * w + x) + c;
        value[c] = at[-3] + at[3] + *(at - 3 * w) + at[3 * w] + 2 * at[0];
      }
      const float mean = (value[0] + value[1] + value[2]) / 3;
      // A channel alone has the variance 8. Twice the mean of the channels adds (4 + 4) * 8 / 3.
      for (const float level : value) {
        noise.push_back(static_cast<std::int8_t>(
            std::lround(std::clamp((level + 2 * mean) * 32 / kDeviation, -127.0f, 127.0f))));
      }
    }
  }
  return noise;
}

}  // namespace penstock::loader
