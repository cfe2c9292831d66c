// SPDX-License-Identifier: Apache-2.0
#include "gui/model/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr Rgb Hex(std::uint32_t rgb) {
  return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8),
          static_cast<std::uint8_t>(rgb)};
}

constexpr Palette kDark = {.background = Hex(0x0e1116),
                           .panel = Hex(0x171c23),
                           .raised = Hex(0x222933),
                           .line = Hex(0x30363d),
                           .text = Hex(0xe6edf3),
                           .dim = Hex(0x9aa4af),
                           .accent = Hex(0x5ca9f2),
                           .good = Hex(0x35b58f),
                           .warn = Hex(0xf0b64d),
                           .bad = Hex(0xff8a80)};
constexpr Palette kLight = {.background = Hex(0xf3f5f8),
                            .panel = Hex(0xffffff),
                            .raised = Hex(0xe9edf2),
                            .line = Hex(0xd3dae1),
                            .text = Hex(0x1b1f24),
                            .dim = Hex(0x57606a),
                            .accent = Hex(0x0b5cad),
                            .good = Hex(0x0b7a5a),
                            .warn = Hex(0x8a5a00),
                            .bad = Hex(0xb3261e)};

struct Pair {
  Rgb dark;
  Rgb light;
};

Pair ColoursOf(StageId stage) {
  switch (stage) {
    case StageId::kRead:
      return {Hex(0x4aa3df), Hex(0x0072b2)};
    case StageId::kDecode:
      return {Hex(0xd97ab0), Hex(0xb8407f)};
    case StageId::kAugment:
      return {Hex(0x2fbf93), Hex(0x009e73)};
    case StageId::kTokenize:
      return {Hex(0xff9d76), Hex(0xd9825f)};
    case StageId::kSample:
      return {Hex(0x6d684f), Hex(0xc9c2a3)};
    case StageId::kCollate:
      return {Hex(0xa897ee), Hex(0x8f7ae0)};
    case StageId::kFetch:
      return {Hex(0x3f638c), Hex(0x8fb4dd)};
    case StageId::kPut:
      return {Hex(0x98b84a), Hex(0x6b8e23)};
    case StageId::kGet:
      return {Hex(0x7cc0ea), Hex(0x4f9fd1)};
    case StageId::kPin:
      return {Hex(0xb08d68), Hex(0x7a5c3e)};
    case StageId::kWait:
      return {Hex(0xd98a2b), Hex(0xe6861a)};
    case StageId::kIdle:
      return {Hex(0x4a525b), Hex(0xb4bac1)};
    case StageId::kH2d:
      return {Hex(0xe0d35a), Hex(0xa89a10)};
    case StageId::kKernel:
      return {Hex(0x6fcfd6), Hex(0x1f8f99)};
    case StageId::kStep:
      return {Hex(0x6f93a9), Hex(0x456a80)};
    case StageId::kStartup:
      return {Hex(0x8a6fb5), Hex(0x6b4fa0)};
    case StageId::kMark:
      return {Hex(0x8d8d8d), Hex(0x8d8d8d)};
    case StageId::kSync:
      return {Hex(0xd9503a), Hex(0xa8503d)};
    case StageId::kCopy:
      return {Hex(0xd8c49a), Hex(0xac9856)};
    case StageId::kCall:
      return {Hex(0xa3b3c2), Hex(0x2b3d56)};
    case StageId::kBlock:
      return {Hex(0xb9b2a5), Hex(0x7d766a)};
    case StageId::kNone:
      break;
  }
  return {Hex(0x707070), Hex(0x9a9a9a)};
}

double Linear(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double Luminance(Rgb colour) {
  return 0.2126 * Linear(colour.r) + 0.7152 * Linear(colour.g) + 0.0722 * Linear(colour.b);
}

// CIELAB under D65, from linear RGB.
std::array<double, 3> Lab(double r, double g, double b) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const double y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const double z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

std::array<double, 3> SeenByDeuteranope(Rgb colour) {
  const double r = Linear(colour.r);
  const double g = Linear(colour.g);
  const double b = Linear(colour.b);
  const double red_green = 0.29275 * r + 0.70725 * g;
  return Lab(red_green, red_green, std::clamp(-0.02234 * r + 0.02234 * g + b, 0.0, 1.0));
}

}  // namespace

const Palette& PaletteOf(Theme theme) {
  return theme == Theme::kDark ? kDark : kLight;
}

Rgb StageColour(StageId stage, Theme theme) {
  const Pair pair = ColoursOf(stage);
  return theme == Theme::kDark ? pair.dark : pair.light;
}

Rgb NamedColour(std::string_view name, Theme theme) {
  return NamedColour(ColourOfName(name), theme);
}

Rgb NamedColour(std::uint8_t number, Theme theme) {
  // Muted colours, so that the stages stand out among them; their hues are 30 degrees apart.
  constexpr std::array<Rgb, kNamedColours> kNamedDark = {{{0xb0, 0x7a, 0x7a},
                                                          {0xb0, 0x92, 0x6c},
                                                          {0xa6, 0xa6, 0x66},
                                                          {0x86, 0xa8, 0x6c},
                                                          {0x6c, 0xa8, 0x7a},
                                                          {0x66, 0xa8, 0x96},
                                                          {0x66, 0xa0, 0xb0},
                                                          {0x70, 0x8c, 0xb8},
                                                          {0x86, 0x7e, 0xbc},
                                                          {0x9e, 0x78, 0xb6},
                                                          {0xb0, 0x74, 0xa2},
                                                          {0xb0, 0x74, 0x8c}}};
  const Rgb colour = kNamedDark[number % kNamedDark.size()];
  return theme == Theme::kDark ? colour : Mix(colour, {0, 0, 0}, 0.25);
}

Rgb SpanColour(StageId stage, std::uint8_t number, Theme theme) {
  return number < kNamedColours ? NamedColour(number, theme) : StageColour(stage, theme);
}

Rgb GrabColour(Theme theme, bool held) {
  const Palette& p = PaletteOf(theme);
  return Mix(p.raised, p.accent, held ? 0.52 : 0.45);
}

Rgb Mix(Rgb a, Rgb b, double share) {
  const auto mix = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * std::clamp(share, 0.0, 1.0)));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
}

Rgb InkOn(Rgb ground) {
  // With pure black and pure white, one of the two has a contrast of at least 4.5:1 on every
  // colour. The lowest is 4.58:1, on a middle grey.
  constexpr Rgb kBlack = {0, 0, 0};
  constexpr Rgb kWhite = {255, 255, 255};
  return Contrast(ground, kBlack) >= Contrast(ground, kWhite) ? kBlack : kWhite;
}

double Contrast(Rgb a, Rgb b) {
  const double first = Luminance(a) + 0.05;
  const double second = Luminance(b) + 0.05;
  return first > second ? first / second : second / first;
}

double DistanceForDeuteranope(Rgb a, Rgb b) {
  const auto one = SeenByDeuteranope(a);
  const auto other = SeenByDeuteranope(b);
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

}  // namespace penstock::gui
