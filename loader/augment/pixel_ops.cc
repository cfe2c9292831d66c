// SPDX-License-Identifier: Apache-2.0
//
// Colour and blur. Brightness, contrast and saturation round as PyTorch does (multiply, then add,
// both in float), so the results equal torchvision's.
#include "loader/augment/pixel_ops.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loader/augment/pixel_ops.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once for each vector unit
//
#include <hwy/highway.h>

#include "loader/augment/rgb_simd.inc"

HWY_BEFORE_NAMESPACE();
namespace penstock::loader {
namespace HWY_NAMESPACE {
namespace {

std::size_t PixelCount(const Picture& picture) {
  return static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
}

VF Constant(double value) {
  return hn::Set(DF(), static_cast<float>(value));
}

// trunc(0.2989 R + 0.587 G + 0.114 B)
HWY_INLINE VI Grey(const Rgb& v) {
  return hn::ConvertTo(DI(),
                       Constant(0.2989) * v.r + Constant(0.587) * v.g + Constant(0.114) * v.b);
}

void Brightness(Picture picture, double factor) {
  const RgbLoader loader;
  const VF f = Constant(factor);
  const std::size_t count = PixelCount(picture);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Rgb v = loader.Load(picture.pixels + 3 * i);
    StoreRgb8(hn::ConvertTo(DI(), f * v.r), hn::ConvertTo(DI(), f * v.g),
              hn::ConvertTo(DI(), f * v.b), picture.pixels + 3 * i);
  }
}

double MeanGrey(Picture picture) {
  constexpr std::size_t kRun = std::size_t{1}
                               << 20;  // this many vectors cannot overflow a sum of 32 bits
  const RgbLoader loader;
  const std::size_t count = PixelCount(picture);
  const std::size_t whole = count / kLanes * kLanes;
  std::uint64_t total = 0;
  alignas(64) std::int32_t lanes[kLanes];
  for (std::size_t i = 0; i < whole;) {
    VI sum = hn::Zero(DI());
    for (const std::size_t end = std::min(whole, i + kRun * kLanes); i < end; i += kLanes) {
      sum = sum + Grey(loader.Load(picture.pixels + 3 * i));
    }
    hn::Store(sum, DI(), lanes);
    for (const std::int32_t lane : lanes) total += static_cast<std::uint64_t>(lane);
  }
  if (whole < count) {
    hn::Store(Grey(loader.Load(picture.pixels + 3 * whole)), DI(), lanes);
    for (std::size_t i = 0; i < count - whole; ++i) total += static_cast<std::uint64_t>(lanes[i]);
  }
  return static_cast<double>(total) / static_cast<double>(count);
}

void Contrast(Picture picture, double factor) {
  const RgbLoader loader;
  const VF f = Constant(factor);
  const VF offset = Constant(1 - factor) * Constant(MeanGrey(picture));
  const std::size_t count = PixelCount(picture);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Rgb v = loader.Load(picture.pixels + 3 * i);
    StoreRgb8(hn::ConvertTo(DI(), f * v.r + offset), hn::ConvertTo(DI(), f * v.g + offset),
              hn::ConvertTo(DI(), f * v.b + offset), picture.pixels + 3 * i);
  }
}

void Saturation(Picture picture, double factor) {
  const RgbLoader loader;
  const VF f = Constant(factor);
  const VF rest = Constant(1 - factor);
  const std::size_t count = PixelCount(picture);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Rgb v = loader.Load(picture.pixels + 3 * i);
    const VF grey = rest * hn::ConvertTo(DF(), Grey(v));
    StoreRgb8(hn::ConvertTo(DI(), f * v.r + grey), hn::ConvertTo(DI(), f * v.g + grey),
              hn::ConvertTo(DI(), f * v.b + grey), picture.pixels + 3 * i);
  }
}

struct HsvChange {
  VF hue, saturation, value;
};

// The formulas of Pillow's Convert.c, as torchvision has them. Takes values from 0 to 255, since
// hue and saturation are ratios and need no scale. Gives values in [0, 1].
HWY_INLINE Rgb ChangeHsv(const Rgb& v, const HsvChange& change) {
  const DF df;
  const VF one = hn::Set(df, 1.0f);
  const VF zero = hn::Zero(df);
  const VF high = hn::Max(hn::Max(v.r, v.g), v.b);
  const VF low = hn::Min(hn::Min(v.r, v.g), v.b);
  const auto grey = high == low;
  const VF chroma = high - low;
  const VF per_chroma = one / hn::IfThenElse(grey, one, chroma);
  VF hue = hn::IfThenElse(high == v.g, hn::MulAdd(v.b - v.r, per_chroma, hn::Set(df, 2.0f)),
                          hn::MulAdd(v.r - v.g, per_chroma, hn::Set(df, 4.0f)));
  hue = hn::IfThenElse(high == v.r, (v.g - v.b) * per_chroma, hue);
  hue = hn::MulAdd(hue, Constant(1.0 / 6), change.hue);
  hue = hue - hn::Floor(hue);
  VF saturation = chroma / hn::IfThenElse(grey, one, high);
  saturation = hn::Min(saturation * change.saturation, one);
  const VF value = hn::Min(high * (change.value * Constant(1.0 / 255)), one);

  const VF sixths = hue * hn::Set(df, 6.0f);
  const VF sector = hn::Floor(sixths);
  const VF f = sixths - sector;
  const auto clamp = [&](VF x) HWY_ATTR { return hn::Min(hn::Max(x, zero), one); };
  const VF p = clamp(value * (one - saturation));
  const VF q = clamp(value * (one - saturation * f));
  const VF t = clamp(value * (one - saturation * (one - f)));
  const auto is = [&](float number) HWY_ATTR { return sector == hn::Set(df, number); };
  // Rounding can give sector 6, which stands for sector 0.
  const auto pick = [&](VF s0, VF s1, VF s2, VF s3, VF s4, VF s5) HWY_ATTR {
    VF x = hn::IfThenElse(is(1), s1, s0);
    x = hn::IfThenElse(is(2), s2, x);
    x = hn::IfThenElse(is(3), s3, x);
    x = hn::IfThenElse(is(4), s4, x);
    return hn::IfThenElse(is(5), s5, x);
  };
  return {pick(value, q, p, p, t, value), pick(t, value, value, q, p, p),
          pick(p, p, t, value, value, q)};
}

void Hsv(Picture picture, double hue_shift, double saturation, double value) {
  const RgbLoader loader;
  const HsvChange change = {Constant(hue_shift), Constant(saturation), Constant(value)};
  const VF back = Constant(255.0 + 1 - 1e-3);
  const std::size_t count = PixelCount(picture);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Rgb v = ChangeHsv(loader.Load(picture.pixels + 3 * i), change);
    StoreRgb8(hn::ConvertTo(DI(), v.r * back), hn::ConvertTo(DI(), v.g * back),
              hn::ConvertTo(DI(), v.b * back), picture.pixels + 3 * i);
  }
}

// Blurs vertically into a row of floats with a border, then horizontally. Three floats are a pixel.
void Blur(Picture from, Picture to, const float* weights, std::size_t kernel,
          const std::uint8_t** rows, float* row) {
  const DF df;
  const hn::Rebind<std::uint8_t, DF> d8;
  const auto width = static_cast<std::size_t>(from.width);
  const std::size_t bytes = 3 * width;
  const int radius = static_cast<int>(kernel / 2);
  const auto border = 3 * static_cast<std::size_t>(radius);
  const auto reflect = [](int i, int n) {
    const int period = std::max(1, 2 * (n - 1));
    i = (i % period + period) % period;
    return static_cast<std::size_t>(std::min(i, period - i) % n);
  };
  float* inner = row + border;
  for (int y = 0; y < from.height; ++y) {
    for (std::size_t k = 0; k < kernel; ++k) {
      rows[k] = from.pixels + bytes * reflect(y + static_cast<int>(k) - radius, from.height);
    }
    for (std::size_t x = 0; x < bytes; x += kLanes) {
      VF sum = hn::Zero(df);
      for (std::size_t k = 0; k < kernel; ++k) {
        const VF value = hn::ConvertTo(df, hn::PromoteTo(DI(), hn::LoadU(d8, rows[k] + x)));
        sum = hn::MulAdd(hn::Set(df, weights[k]), value, sum);
      }
      hn::StoreU(sum, df, inner + x);
    }
    for (int i = 1; i <= radius; ++i) {
      const auto offset = 3 * static_cast<std::size_t>(i);
      std::copy_n(inner + 3 * reflect(-i, from.width), 3, inner - offset);
      std::copy_n(inner + 3 * reflect(from.width - 1 + i, from.width), 3,
                  inner + bytes - 3 + offset);
    }
    std::uint8_t* out = to.pixels + bytes * static_cast<std::size_t>(y);
    for (std::size_t x = 0; x < bytes; x += kLanes) {
      VF sum = hn::Zero(df);
      for (std::size_t k = 0; k < kernel; ++k) {
        sum = hn::MulAdd(hn::Set(df, weights[k]), hn::LoadU(df, row + x + 3 * k), sum);
      }
      hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(sum)), d8, out + x);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace penstock::loader
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::loader {
namespace {

HWY_EXPORT(Brightness);
HWY_EXPORT(Contrast);
HWY_EXPORT(Saturation);
HWY_EXPORT(Hsv);
HWY_EXPORT(Blur);

}  // namespace

void AdjustBrightness(Picture picture, double factor) {
  HWY_DYNAMIC_DISPATCH(Brightness)(picture, factor);
}

void AdjustContrast(Picture picture, double factor) {
  HWY_DYNAMIC_DISPATCH(Contrast)(picture, factor);
}

void AdjustSaturation(Picture picture, double factor) {
  HWY_DYNAMIC_DISPATCH(Saturation)(picture, factor);
}

void AdjustHsv(Picture picture, double hue_shift, double saturation, double value) {
  HWY_DYNAMIC_DISPATCH(Hsv)(picture, hue_shift, saturation, value);
}

void GaussianBlur(Picture from, Picture to, int kernel, double sigma, BlurScratch& scratch) {
  const auto taps = static_cast<std::size_t>(kernel);
  float* weights = scratch.weights.Reserve(taps);
  double sum = 0;
  const auto weight = [&](std::size_t k) {
    const double x = (static_cast<double>(k) - (kernel - 1) * 0.5) / sigma;
    return std::exp(-0.5 * x * x);
  };
  for (std::size_t k = 0; k < taps; ++k) sum += weight(k);
  for (std::size_t k = 0; k < taps; ++k) weights[k] = static_cast<float>(weight(k) / sum);
  constexpr std::size_t kSlack = 64;
  float* row = scratch.row.Reserve(3 * (static_cast<std::size_t>(from.width) + taps) + kSlack);
  HWY_DYNAMIC_DISPATCH(Blur)(from, to, weights, taps, scratch.rows.Reserve(taps), row);
}

}  // namespace penstock::loader
#endif  // HWY_ONCE
