// SPDX-License-Identifier: Apache-2.0
//
// The operations of `--ops` and their parameters, each defined by its formula. Names, defaults and
// definitions are torchvision's unless said otherwise. The definitions are those for its tensors;
// with Pillow some values differ by 1 of 255. Values, no ownership, thread-safe.
//
// In the formulas a pixel (x, y) has its centre at (x + 1/2, y + 1/2); trunc() drops the fraction,
// round() rounds halves to even, U(a, b) is a uniform random number. Every operation before
// `normalize` reads and writes 8-bit RGB, and its result is rounded to 8 bits as its formula says.
// One exception: geometry, flips, normalize and the conversion to the output type are one kernel
// with one rounding at the end, if they follow each other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "loader/decode/image.h"

namespace penstock::loader {

enum class OpKind : std::uint8_t {
  // resize=N[:filter] (short side N, the other trunc(N * long / short)) or resize=HxW[:filter]
  //   out(i) = sum over k of w(k) in(k), separable, vertical first, w normalised to sum 1:
  //   bilinear       w(k) = max(0, 1 - |k + 1/2 - c| / s) with c = (i + 1/2) r, s = max(1, r) and
  //                  r = in / out
  //   bilinear_noaa  the same with s = 1, which aliases when it shrinks
  //   nearest        in(floor(c)), as Pillow and nearest-exact of PyTorch
  kResize,
  // random_resized_crop=N|HxW[:scale=0.08-1][:ratio=0.75-1.3333][:filter]
  //   Ten times: A = W H U(scale), q = exp(U(log ratio)), w = round(sqrt(A q)) and
  //   h = round(sqrt(A / q)). The first crop with w <= W and h <= H is taken, at a uniform place.
  //   If none of the ten fits: the largest centred crop with the allowed ratio nearest to W / H.
  //   The crop is then resized to HxW. Pixels outside the crop have no weight.
  kRandomResizedCrop,
  // center_crop=N|HxW
  //   left = round((W - w) / 2); zeros where the picture is smaller.
  kCenterCrop,
  // random_crop=N|HxW[:padding=0]
  //   A uniform place, after `padding` zeros on each side. A picture that is still smaller than the
  //   crop gets the missing width or height as zeros on both sides (pad_if_needed).
  kRandomCrop,
  // crop=N|HxW[:top=0][:left=0]
  //   Zeros where the window leaves the picture.
  kCrop,
  kFlip,   // flip[:p=0.5]: left and right swapped
  kVflip,  // vflip[:p=0.5]: top and bottom swapped
  // rotate[:degrees=30][:filter=nearest][:p=1]
  //   By t = U(-degrees, degrees), or t = U(a, b) for degrees=a-b, counter-clockwise about the
  //   centre. The picture keeps its size: out(X, Y) = in(X cos t - Y sin t, X sin t + Y cos t) with
  //   X and Y counted from the centre, and zeros where that lies outside the picture. nearest takes
  //   the pixel that holds the point; bilinear is as in resize, and zeros outside count.
  kRotate,
  // brightness=B[:p=1], contrast=B[:p=1], saturation=B[:p=1]
  //   f = U(max(0, 1 - B), 1 + B), or U(a, b) for B = a-b. This holds for all three.
  kBrightness,  // trunc(clamp(f v))
  kContrast,    // trunc(clamp(f v + (1 - f) m)), m the mean over the picture of g
  kSaturation,  // trunc(clamp(f v + (1 - f) g)), g = trunc(0.2989 R + 0.587 G + 0.114 B)
  // hue=H[:p=1]
  //   f = U(-H, H), H <= 0.5: (h, s, v) -> ((h + f) mod 1, s, v), trunc(255.999 v)
  kHue,
  // color_jitter=B,C,S,H[:p=1]
  //   The four changes, in an order drawn uniformly. A change that is 0 or absent is left out.
  kColorJitter,
  // hsv=H,S,V[:p=1] (0.015,0.7,0.4)
  //   h' = (h + U(-H, H)) mod 1, s' = clamp(s U(1 - S, 1 + S)), v' likewise with V; conversion as
  //   in hue. Not in torchvision.
  kHsv,
  // gaussian_blur[:kernel=5][:sigma=0.1-2][:p=1]
  //   w(d) = exp(-d^2 / 2 sigma^2) normalised over the kernel, separable, borders reflected without
  //   repeating the last pixel, round().
  kGaussianBlur,
  // cutout[:p=0.5][:scale=0.02-0.33][:ratio=0.3-3.3][:value=0]
  //   torchvision's RandomErasing. `value` is in units of the output if this comes after normalize,
  //   else from 0 to 255.
  kCutout,
  // grid_mask[:tile=100][:ratio=0.5][:angle=0][:p=1]
  //   Zero where both frac(u / tile) and frac(v / tile) are below ratio. (u, v) is (x, y) turned by
  //   U(-angle, angle) degrees and moved by U(0, tile) along each axis. This is DALI's definition,
  //   but with parameters that are drawn at random.
  kGridMask,
  // normalize[:mean=0.485,0.456,0.406][:std=0.229,0.224,0.225]
  //   (v / 255 - mean) / std. Without this operation float output is v / 255.
  kNormalize,
};

// The operation's name in `--ops`. The text lives as long as the program runs.
[[nodiscard]] std::string_view OpName(OpKind kind);

// The size after resize=N: the short side is N, the other is in proportion with its fraction
// dropped.
[[nodiscard]] Size ShortSide(Size picture, int short_side);

enum class Filter : std::uint8_t { kNearest, kBilinear, kBilinearNoAntialias };

struct Range {
  double low = 0;
  double high = 0;
};

// One operation with its parameters. The kind decides which fields are used.
struct Op {
  OpKind kind = OpKind::kFlip;
  Filter filter = Filter::kBilinear;
  Size size;                      // of the output; width 0: `height` is the short side
  int padding = 0;                // random_crop
  int top = 0;                    // crop
  int left = 0;                   // crop
  int kernel = 0;                 // gaussian_blur
  double p = 1;                   // probability that the operation is done at all
  double value = 0;               // cutout: fill
  double tile = 0;                // grid_mask
  double fraction = 0;            // grid_mask: ratio
  double angle = 0;               // grid_mask: the largest angle
  Range scale;                    // random_resized_crop, cutout
  Range ratio;                    // random_resized_crop, cutout
  Range amount;                   // factor, shift, degrees or sigma
  std::array<Range, 4> jitter{};  // color_jitter: B, C, S, H; hsv: H, S, V
  std::array<bool, 4> jitters{};  // color_jitter: which of the four are done
  std::array<double, 3> mean{};
  std::array<double, 3> deviation{};
};

}  // namespace penstock::loader
