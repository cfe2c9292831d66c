// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/augment/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "loader/random/philox.h"

namespace penstock::loader::reference {
namespace {

std::uint8_t Truncated(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

// Weights of the pixels 0 ... count - 1 for output i, where [from, from + size) is scaled to
// `scaled` outputs.
std::vector<double> Weights(int i, double from, double size, int scaled, int count, Filter filter) {
  const double ratio = size / scaled;
  const double centre = from + (i + 0.5) * ratio;
  std::vector<double> weights(static_cast<std::size_t>(count));
  if (filter == Filter::kNearest) {
    weights[static_cast<std::size_t>(std::floor(centre))] = 1;
    return weights;
  }
  const double support = filter == Filter::kBilinear ? std::max(1.0, ratio) : 1.0;
  double sum = 0;
  for (int k = static_cast<int>(std::floor(from)); k < static_cast<int>(std::ceil(from + size));
       ++k) {
    const double weight = std::max(0.0, 1 - std::abs(k + 0.5 - centre) / support);
    weights[static_cast<std::size_t>(k)] = weight;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

double Grey(const Bytes& p, int x, int y) {
  return std::trunc(0.2989 * p(x, y, 0) + 0.587 * p(x, y, 1) + 0.114 * p(x, y, 2));
}

template <class F>
Bytes ForEachValue(Bytes picture, F change) {
  const Bytes before = picture;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      for (int c = 0; c < 3; ++c) picture(x, y, c) = Truncated(change(before, x, y, c));
    }
  }
  return picture;
}

int Reflected(int i, int n) {
  while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
  return n == 1 ? 0 : i;
}

}  // namespace

Bytes TestPicture(int width, int height, std::uint32_t seed) {
  Bytes picture(width, height);
  Random random({seed, 0, 0}, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double wave = 100 * std::sin(0.11 * x * (c + 1)) * std::cos(0.07 * y + c);
        const double edge = (x / 9 + y / 7 + c) % 2 == 0 ? 40 : -40;
        const double noise = 30 * (random.Uniform() - 0.5);
        picture(x, y, c) = Truncated(128 + wave + edge + noise);
      }
    }
  }
  return picture;
}

ImageView View(const Bytes& picture) {
  return {picture.values.data(), picture.width, picture.height, 3 * std::ptrdiff_t{picture.width}};
}

Reals Resample(const Bytes& picture, const Step& step, int denominator) {
  const Region& source = step.source;
  const Region& window = step.window;
  const double d = denominator;
  Reals out(window.width, window.height);
  std::vector<std::vector<double>> across;
  for (int x = 0; x < window.width; ++x) {
    across.push_back(Weights(window.x + x, source.x / d, source.width / d, step.scaled.width,
                             picture.width, step.filter));
  }
  for (int y = 0; y < window.height; ++y) {
    const auto down = Weights(window.y + y, source.y / d, source.height / d, step.scaled.height,
                              picture.height, step.filter);
    std::vector<double> row(3 * static_cast<std::size_t>(picture.width));
    for (int v = 0; v < picture.height; ++v) {
      const double weight = down[static_cast<std::size_t>(v)];
      for (std::size_t i = 0; weight != 0 && i < row.size(); ++i) {
        row[i] += weight * picture.values[picture.at(0, v, 0) + i];
      }
    }
    for (int x = 0; x < window.width; ++x) {
      const std::vector<double>& weights = across[static_cast<std::size_t>(x)];
      const int to_x = step.flip_x ? window.width - 1 - x : x;
      const int to_y = step.flip_y ? window.height - 1 - y : y;
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t u = 0; u < weights.size(); ++u) sum += weights[u] * row[3 * u + c];
        out(to_x, to_y, static_cast<int>(c)) = sum;
      }
    }
  }
  return out;
}

Bytes Brightness(Bytes picture, double factor) {
  return ForEachValue(std::move(picture),
                      [&](const Bytes& p, int x, int y, int c) { return factor * p(x, y, c); });
}

Bytes Contrast(Bytes picture, double factor) {
  double mean = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) mean += Grey(picture, x, y);
  }
  mean /= static_cast<double>(picture.width) * picture.height;
  return ForEachValue(std::move(picture), [&](const Bytes& p, int x, int y, int c) {
    return factor * p(x, y, c) + (1 - factor) * mean;
  });
}

Bytes Saturation(Bytes picture, double factor) {
  return ForEachValue(std::move(picture), [&](const Bytes& p, int x, int y, int c) {
    return factor * p(x, y, c) + (1 - factor) * Grey(p, x, y);
  });
}

Bytes Hsv(Bytes picture, double shift, double saturation, double value) {
  return ForEachValue(std::move(picture), [&](const Bytes& p, int x, int y, int c) {
    const double r = p(x, y, 0) / 255.0;
    const double g = p(x, y, 1) / 255.0;
    const double b = p(x, y, 2) / 255.0;
    const double high = std::max({r, g, b});
    const double low = std::min({r, g, b});
    double hue = 0;
    if (high > low) {
      const double chroma = high - low;
      if (high == r) {
        hue = (g - b) / chroma;
      } else if (high == g) {
        hue = 2 + (b - r) / chroma;
      } else {
        hue = 4 + (r - g) / chroma;
      }
    }
    hue = hue / 6 + 1 + shift;
    hue -= std::floor(hue);
    const double s = std::min(1.0, (high > low ? (high - low) / high : 0) * saturation);
    const double v = std::min(1.0, high * value);
    const int sector = static_cast<int>(hue * 6) % 6;
    const double f = hue * 6 - std::floor(hue * 6);
    const double q1 = v * (1 - s);
    const double q2 = v * (1 - s * f);
    const double q3 = v * (1 - s * (1 - f));
    const std::array<std::array<double, 3>, 6> table = {
        {{v, q3, q1}, {q2, v, q1}, {q1, v, q3}, {q1, q2, v}, {q3, q1, v}, {v, q1, q2}}};
    return 255.999 * table[static_cast<std::size_t>(sector)][static_cast<std::size_t>(c)];
  });
}

Bytes Blur(const Bytes& picture, int kernel, double sigma) {
  const int radius = kernel / 2;
  std::vector<double> weights;
  double sum = 0;
  for (int d = -radius; d <= radius; ++d) {
    weights.push_back(std::exp(-d * d / (2 * sigma * sigma)));
    sum += weights.back();
  }
  Bytes out(picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        double total = 0;
        for (int v = -radius; v <= radius; ++v) {
          for (int u = -radius; u <= radius; ++u) {
            total += weights[static_cast<std::size_t>(v + radius)] *
                     weights[static_cast<std::size_t>(u + radius)] *
                     picture(Reflected(x + u, picture.width), Reflected(y + v, picture.height), c);
          }
        }
        out(x, y, c) = static_cast<std::uint8_t>(std::nearbyint(total / (sum * sum)));
      }
    }
  }
  return out;
}

Bytes Rotate(const Bytes& picture, double radians, Filter filter) {
  Bytes out(picture.width, picture.height);
  const auto pixel = [&](double x, double y, int c) {
    const bool inside = x >= 0 && y >= 0 && x < picture.width && y < picture.height;
    return inside ? picture(static_cast<int>(x), static_cast<int>(y), c) : 0;
  };
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const double dx = x + 0.5 - out.width / 2.0;
      const double dy = y + 0.5 - out.height / 2.0;
      const double u = dx * std::cos(radians) - dy * std::sin(radians) + out.width / 2.0;
      const double v = dx * std::sin(radians) + dy * std::cos(radians) + out.height / 2.0;
      for (int c = 0; c < 3; ++c) {
        if (filter == Filter::kNearest) {
          out(x, y, c) = static_cast<std::uint8_t>(pixel(std::floor(u), std::floor(v), c));
          continue;
        }
        const double left = std::floor(u - 0.5);
        const double top = std::floor(v - 0.5);
        const double a = u - 0.5 - left;
        const double b = v - 0.5 - top;
        const double sum =
            (1 - a) * (1 - b) * pixel(left, top, c) + a * (1 - b) * pixel(left + 1, top, c) +
            (1 - a) * b * pixel(left, top + 1, c) + a * b * pixel(left + 1, top + 1, c);
        out(x, y, c) = static_cast<std::uint8_t>(std::nearbyint(sum));
      }
    }
  }
  return out;
}

Bytes Apply(const Bytes& picture, const Step& step) {
  const std::array<double, 3>& amount = step.amount;
  switch (step.kind) {
    case StepKind::kBrightness:
      return Brightness(picture, amount[0]);
    case StepKind::kContrast:
      return Contrast(picture, amount[0]);
    case StepKind::kSaturation:
      return Saturation(picture, amount[0]);
    case StepKind::kHsv:
      return Hsv(picture, amount[0], amount[1], amount[2]);
    case StepKind::kRotate:
      return Rotate(picture, amount[0], step.filter);
    case StepKind::kBlur:
      return Blur(picture, static_cast<int>(amount[1]), amount[0]);
    default:
      break;
  }
  const Reals values = Resample(picture, step);
  Bytes bytes(values.width, values.height);
  std::transform(values.values.begin(), values.values.end(), bytes.values.begin(),
                 [](double value) { return static_cast<std::uint8_t>(std::nearbyint(value)); });
  return bytes;
}

double HalfValue(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int mantissa = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VAL : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::uint16_t NearestHalf(double value) {
  const double magnitude = std::abs(value);
  std::uint16_t below = 0;  // the largest value not above `value`: values grow with their bits
  for (int bit = 14; bit >= 0; --bit) {
    const auto candidate = static_cast<std::uint16_t>(below | 1 << bit);
    if (candidate < 0x7C00 && HalfValue(candidate) <= magnitude) below = candidate;
  }
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double low = HalfValue(below);
  const double high = above == 0x7C00 ? 65536.0 : HalfValue(above);
  const double middle = (low + high) / 2;
  const bool up = magnitude > middle || (magnitude == middle && below % 2 == 1);
  return static_cast<std::uint16_t>((up ? above : below) | (std::signbit(value) ? 0x8000 : 0));
}

Reals Decode(const std::vector<std::byte>& out, const OutputFormat& format) {
  Reals reals(format.width, format.height);
  const std::size_t plane =
      static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height);
  for (std::size_t pixel = 0; pixel < plane; ++pixel) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t element = format.layout == Layout::kHwc ? 3 * pixel + c : c * plane + pixel;
      const std::byte* at = out.data() + element * ElementSize(format.type);
      std::uint16_t half = 0;
      float single = 0;
      switch (format.type) {
        case ElementType::kU8:
          reals.values[3 * pixel + c] = static_cast<double>(*at);
          break;
        case ElementType::kF16:
          std::memcpy(&half, at, sizeof(half));
          reals.values[3 * pixel + c] = HalfValue(half);
          break;
        case ElementType::kF32:
          std::memcpy(&single, at, sizeof(single));
          reals.values[3 * pixel + c] = single;
          break;
      }
    }
  }
  return reals;
}

}  // namespace penstock::loader::reference
