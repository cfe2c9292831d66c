// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of one pixel: colour, masks, rounding, half precision. Formulas and roundings are
// those of loader/augment/op.h. A multiplication and the addition after it each round. The device's
// code does so too, since it is compiled without contraction. FusedAdd() rounds once. Pure
// functions.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>

#include "cuda/host_device.h"
#include "cuda/passes.h"

namespace penstock::cuda {

struct Rgb {
  float r = 0;
  float g = 0;
  float b = 0;
};

PENSTOCK_HD float FusedAdd(float a, float b, float c) {
  return fmaf(a, b, c);
}

// Byte `i` of the word. On the device it is computed as (2^23 + byte) - 2^23, since conversions are
// slow there.
PENSTOCK_HD float ByteOf(std::uint32_t word, unsigned i) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7440U + i)) - 8388608.0f;
#else
  return static_cast<float>(word >> 8 * i & 0xFFU);
#endif
}

PENSTOCK_HD float Clamped(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

// Rounds halves to even, then clamps to 0 to 255.
PENSTOCK_HD float RoundedByte(float value) {
  return Clamped(rintf(value), 0.0f, 255.0f);
}

// Drops the fraction, then clamps to 0 to 255.
PENSTOCK_HD float TruncatedByte(float value) {
  return Clamped(truncf(value), 0.0f, 255.0f);
}

// trunc(0.2989 R + 0.587 G + 0.114 B)
PENSTOCK_HD float Grey(const Rgb& v) {
  const float red = 0.2989f * v.r;
  const float green = 0.587f * v.g;
  const float blue = 0.114f * v.b;
  return truncf((red + green) + blue);
}

// trunc(clamp(factor * v + offset)) for each channel.
PENSTOCK_HD Rgb Blended(const Rgb& v, float factor, float offset) {
  const float red = factor * v.r;
  const float green = factor * v.g;
  const float blue = factor * v.b;
  return {TruncatedByte(red + offset), TruncatedByte(green + offset), TruncatedByte(blue + offset)};
}

// Changes bytes through hue, saturation and value, each in [0, 1]: adds `shift` to the hue, and
// multiplies the others by `saturate` and `brighten`.
PENSTOCK_HD Rgb HsvChanged(const Rgb& v, float shift, float saturate, float brighten) {
  const float high = fmaxf(fmaxf(v.r, v.g), v.b);
  const float low = fminf(fminf(v.r, v.g), v.b);
  const bool grey = high == low;
  const float chroma = high - low;
  const float per_chroma = 1.0f / (grey ? 1.0f : chroma);
  float hue = 0;
  if (high == v.r) {
    hue = (v.g - v.b) * per_chroma;
  } else if (high == v.g) {
    hue = FusedAdd(v.b - v.r, per_chroma, 2.0f);
  } else {
    hue = FusedAdd(v.r - v.g, per_chroma, 4.0f);
  }
  hue = FusedAdd(hue, static_cast<float>(1.0 / 6), shift);
  hue = hue - floorf(hue);
  const float saturation = fminf(chroma / (grey ? 1.0f : high) * saturate, 1.0f);
  const float value = fminf(high * (brighten * static_cast<float>(1.0 / 255)), 1.0f);

  const float sixths = hue * 6.0f;
  const float sector = floorf(sixths);
  const float f = sixths - sector;
  const float p = Clamped(value * (1.0f - saturation), 0.0f, 1.0f);
  const float q = Clamped(value * (1.0f - saturation * f), 0.0f, 1.0f);
  const float t = Clamped(value * (1.0f - saturation * (1.0f - f)), 0.0f, 1.0f);
  Rgb changed;
  switch (static_cast<int>(sector)) {
    case 1:
      changed = {q, value, p};
      break;
    case 2:
      changed = {p, value, t};
      break;
    case 3:
      changed = {p, q, value};
      break;
    case 4:
      changed = {t, p, value};
      break;
    case 5:
      changed = {value, p, q};
      break;
    default:  // sector 0, or 6 by rounding
      changed = {value, t, p};
      break;
  }
  const float back = static_cast<float>(255.0 + 1 - 1e-3);
  return {TruncatedByte(changed.r * back), TruncatedByte(changed.g * back),
          TruncatedByte(changed.b * back)};
}

// Whether a coordinate `u` lies in the masked part of its tile along this axis.
PENSTOCK_HD bool InSquare(double u, const Point& grid) {
  const double tiles = u / grid.tile;
  return tiles - floor(tiles) < grid.fraction;
}

// Whether a mask covers the pixel (x, y) of the picture.
PENSTOCK_HD bool Covers(const Point& mask, int x, int y) {
  if (mask.kind == PointKind::kErase) {
    return x >= mask.box.x && y >= mask.box.y && x < mask.box.x + mask.box.width &&
           y < mask.box.y + mask.box.height;
  }
  const double v0 = (y + 0.5) * mask.cosine + mask.shift_v;
  const double u0 = (y + 0.5) * mask.sine + mask.shift_u;
  const double u = (x + 0.5) * mask.cosine + u0;
  const double v = v0 - (x + 0.5) * mask.sine;
  return InSquare(u, mask) && InSquare(v, mask);
}

// The pixel (x, y) with the value v after the point. Requires: v holds bytes.
PENSTOCK_HD Rgb Changed(const Point& point, int x, int y, const Rgb& v,
                        const unsigned long long* sums) {
  switch (point.kind) {
    case PointKind::kBrightness:
      return Blended(v, point.a, 0.0f);
    case PointKind::kContrast: {
      const double mean = static_cast<double>(sums[point.sum]) / point.pixels;
      return Blended(v, point.a, point.b * static_cast<float>(mean));
    }
    case PointKind::kSaturation:
      return Blended(v, point.a, point.b * Grey(v));
    case PointKind::kHsv:
      return HsvChanged(v, point.a, point.b, point.c);
    default:
      return Covers(point, x, y) ? Rgb{point.a, point.a, point.a} : v;
  }
}

// The value as IEEE binary16, with halves rounded to even. Requires: no NaN.
PENSTOCK_HD std::uint16_t HalfBits(float value) {
#ifdef __CUDA_ARCH__
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#else
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = (bits ^ magnitude) >> 16;
  std::uint32_t half = 0x7C00;
  if (magnitude < 0x38800000U) {  // adding 1/2 moves a subnormal half's bits to the float's end
    float small = 0;
    std::memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    std::memcpy(&half, &small, sizeof half);
    half -= 0x3F000000U;
  } else if (magnitude < 0x47800000U) {
    half = (magnitude + 0xC8000FFFU + (magnitude >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
#endif
}

}  // namespace penstock::cuda
