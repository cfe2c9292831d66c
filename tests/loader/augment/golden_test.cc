// SPDX-License-Identifier: Apache-2.0
//
// Pixels against the double-precision reference, on every vector unit of this CPU. Tolerances:
// float32 1e-5 of the range, float16 one unit in the last place (or 1e-6 near zero), uint8 1.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "tests/loader/augment/reference.h"
#include "tests/loader/augment/support.h"

namespace penstock::loader {
namespace {

using reference::Bytes;
using reference::Reals;

// One unit in the last place of a binary16 at `value`.
double HalfUnit(double value) {
  const int exponent = std::max(-14, std::ilogb(std::max(std::abs(value), 0x1p-24)));
  return std::ldexp(1, exponent - 10);
}

void ExpectNear(const Reals& actual, const Reals& expected, ElementType type) {
  ASSERT_EQ(actual.values.size(), expected.values.size());
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double tolerance = type == ElementType::kU8 ? 0.5 + 1e-3
                             : type == ElementType::kF16
                                 ? std::max(HalfUnit(expected.values[i]), 1e-6)
                                 : 1e-5 * 4.8;  // 4.8: the range of normalized values
    if (!(std::abs(actual.values[i] - expected.values[i]) <= tolerance)) {
      FAIL() << "element " << i << " is " << actual.values[i] << ", not " << expected.values[i];
    }
  }
}

// The program's geometry by the reference, then normalised or scaled.
Reals Expected(const AugmentProgram& program, const Bytes& picture, const SampleKey& key) {
  const AugmentPlan plan = DrawPlan(program.ops(), {picture.width, picture.height}, key);
  Bytes current = picture;
  for (std::size_t i = 0; i < plan.final_step; ++i) {
    current = reference::Apply(current, plan.steps[i]);
  }
  Reals values = reference::Resample(current, plan.steps[plan.final_step]);
  const bool unit = program.format().type != ElementType::kU8;
  const Op& last = program.ops().back();
  const bool normalize = last.kind == OpKind::kNormalize;
  for (std::size_t i = 0; i < values.values.size(); ++i) {
    double& v = values.values[i];
    if (unit) v /= 255;
    if (normalize) v = (v - last.mean[i % 3]) / last.deviation[i % 3];
  }
  return values;
}

struct Geometry {
  Size picture;
  const char* ops;
};

// The cases: widths around multiples of a vector, scales from enlarging to shrinking by 18, each
// row method, each filter, windows, flips, pictures of one pixel.
constexpr std::array kGeometries = {
    Geometry{{61, 47}, "resize=32x48"},
    Geometry{{61, 47}, "resize=47x61"},
    Geometry{{40, 30}, "resize=33x65,flip:1"},
    Geometry{{100, 80}, "resize=50x50,vflip:1"},
    Geometry{{100, 80}, "resize=17x15,flip:1,vflip:1"},
    Geometry{{233, 60}, "resize=20x100"},
    Geometry{{300, 50}, "resize=12x97"},
    Geometry{{300, 200}, "resize=11x33,flip:1"},
    Geometry{{600, 40}, "resize=9x33"},
    Geometry{{1, 1}, "resize=5x7"},
    Geometry{{1, 90}, "resize=8x3"},
    Geometry{{3, 2}, "resize=1x1"},
    Geometry{{64, 64}, "resize=20x30:nearest,flip:1"},
    Geometry{{300, 64}, "flip:1,resize=90x16:nearest"},
    Geometry{{90, 70}, "resize=31x44:bilinear_noaa"},
    Geometry{{333, 200}, "resize=19x33:bilinear_noaa,vflip:1"},
    Geometry{{120, 90}, "resize=64,center_crop=48"},
    Geometry{{120, 90}, "random_crop=40x50,flip:1"},
    Geometry{{120, 90}, "flip:1,random_crop=40x50,resize=31x33,vflip:1,center_crop=20"},
    Geometry{{160, 120}, "random_resized_crop=48,flip"},
};

void CheckAll(ElementType type, Layout layout, const char* suffix) {
  const SampleKey key{3, 1, 4};
  for (const Geometry& geometry : kGeometries) {
    SCOPED_TRACE(geometry.ops);
    const Bytes picture =
        reference::TestPicture(geometry.picture.width, geometry.picture.height, 1);
    const AugmentProgram program = Parsed(std::string(geometry.ops) + suffix, type, layout);
    const Reals expected = Expected(program, picture, key);
    OnEveryTarget([&] {
      ExpectNear(reference::Decode(RunWhole(program, picture, key), program.format()), expected,
                 type);
    });
  }
}

TEST(AugmentGoldenTest, FloatOutputIsTheFormulas) {
  CheckAll(ElementType::kF32, Layout::kChw, ",normalize");
  CheckAll(ElementType::kF32, Layout::kHwc, "");
}

TEST(AugmentGoldenTest, HalfOutputIsTheFormulasToOneUnit) {
  CheckAll(ElementType::kF16, Layout::kChw, ",normalize");
  CheckAll(ElementType::kF16, Layout::kHwc, ",normalize:mean=0.5,0.5,0.5:std=0.5,0.25,1");
}

TEST(AugmentGoldenTest, ByteOutputIsTheFormulasRounded) {
  CheckAll(ElementType::kU8, Layout::kHwc, "");
  CheckAll(ElementType::kU8, Layout::kChw, "");
}

// Halves are rounded to even, also below the smallest normal number and up to the largest. The
// values are bytes divided by 255 std: the resize changes no pixel, and the mean is 0.
TEST(AugmentGoldenTest, HalfIsTheNearestOne) {
  Bytes picture(256, 1);
  for (int x = 0; x < 256; ++x) {
    for (int c = 0; c < 3; ++c) picture(x, 0, c) = static_cast<std::uint8_t>(x);
  }
  OnEveryTarget([&] {
    for (const char* std_of : {"1", "300", "41943.04", "20971520", "0.0039", "0.000015", "0.001"}) {
      const std::string ops = std::string("resize=1x256,normalize:mean=0,0,0:std=") + std_of + "," +
                              std_of + "," + std_of;
      const auto half = RunWhole(Parsed(ops, ElementType::kF16, Layout::kHwc), picture, {});
      const auto single = RunWhole(Parsed(ops, ElementType::kF32, Layout::kHwc), picture, {});
      for (std::size_t i = 0; i < 768; ++i) {
        std::uint16_t bits = 0;
        float value = 0;
        std::memcpy(&bits, half.data() + 2 * i, 2);
        std::memcpy(&value, single.data() + 4 * i, 4);
        ASSERT_EQ(bits, reference::NearestHalf(value)) << value << " with std " << std_of;
      }
    }
  });
}

// In a picture decoded at 1/2, 1/4 or 1/8 the crop may begin inside of a pixel.
TEST(AugmentGoldenTest, ReducedPicturesKeepTheirGeometry) {
  OnEveryTarget([&] {
    for (const int denominator : {2, 4, 8}) {
      const Bytes picture = reference::TestPicture(60, 50, 7);
      const AugmentProgram program =
          Parsed("random_resized_crop=24", ElementType::kF32, Layout::kHwc);
      for (std::uint64_t sample = 0; sample < 8; ++sample) {
        Augmenter augmenter(program);
        const int width = 60 * denominator - 1;
        const int height = 50 * denominator - 1;
        const AugmentPlan plan = augmenter.Draw({.width = width, .height = height}, {5, 0, sample});
        std::vector<std::byte> out(program.format().bytes());
        const Region covers = {0, 0, 60 * denominator, 50 * denominator};
        ASSERT_TRUE(augmenter.Run(plan, reference::View(picture), covers, denominator, out));
        Reals expected = reference::Resample(picture, plan.steps[0], denominator);
        for (double& value : expected.values) value /= 255;
        ExpectNear(reference::Decode(out, program.format()), expected, ElementType::kF32);
      }
    }
  });
}

// A byte may differ by 1 where a truncated value is almost whole, or a rounded value almost a half.
void ExpectWithinOne(const Bytes& actual, const Bytes& expected, double share) {
  ASSERT_EQ(actual.values.size(), expected.values.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    ASSERT_LE(std::abs(actual.values[i] - expected.values[i]), 1) << "element " << i;
    different += actual.values[i] != expected.values[i] ? 1U : 0U;
  }
  EXPECT_LE(static_cast<double>(different), share * static_cast<double>(actual.values.size()));
}

TEST(AugmentGoldenTest, ColoursAreTheFormulas) {
  OnEveryTarget([&] {
    for (const Size size : {Size{37, 23}, Size{1, 1}, Size{64, 16}}) {
      const Bytes picture = reference::TestPicture(size.width, size.height, 2);
      const auto run = [&](const std::string& op) {
        return BytesOf(
            "crop=" + std::to_string(size.height) + "x" + std::to_string(size.width) + "," + op,
            picture);
      };
      for (const double factor : {0.0, 0.37, 1.0, 1.61}) {
        const std::string fixed = std::to_string(factor) + "-" + std::to_string(factor);
        SCOPED_TRACE(fixed);
        ExpectWithinOne(run("brightness=" + fixed), reference::Brightness(picture, factor), 0.02);
        ExpectWithinOne(run("contrast=" + fixed), reference::Contrast(picture, factor), 0.02);
        ExpectWithinOne(run("saturation=" + fixed), reference::Saturation(picture, factor), 0.02);
      }
      for (const double shift : {-0.5, -0.11, 0.0, 0.2, 0.5}) {
        const std::string fixed = std::to_string(shift) + "-" + std::to_string(shift);
        ExpectWithinOne(run("hue=" + fixed), reference::Hsv(picture, shift, 1, 1), 0.02);
        ExpectWithinOne(run("hsv=" + fixed + ",0.6-0.6,1.3-1.3"),
                        reference::Hsv(picture, shift, 0.6, 1.3), 0.02);
      }
    }
  });
}

TEST(AugmentGoldenTest, BlurIsTheFormula) {
  OnEveryTarget([&] {
    for (const Size size : {Size{37, 23}, Size{2, 3}, Size{1, 1}}) {
      const Bytes picture = reference::TestPicture(size.width, size.height, 3);
      for (const int kernel : {1, 5, 11}) {
        const std::string ops = "crop=" + std::to_string(size.height) + "x" +
                                std::to_string(size.width) +
                                ",gaussian_blur=" + std::to_string(kernel) + ":sigma=1.7";
        SCOPED_TRACE(ops);
        ExpectWithinOne(BytesOf(ops, picture), reference::Blur(picture, kernel, 1.7), 0.002);
      }
    }
  });
}

TEST(AugmentGoldenTest, RotationIsTheFormula) {
  const Bytes picture = reference::TestPicture(53, 38, 4);
  for (const double degrees : {-170.0, -33.3, 0.0, 12.5, 61.0, 180.0}) {
    const std::string fixed = std::to_string(degrees) + "-" + std::to_string(degrees);
    const double radians = degrees * 3.14159265358979323846 / 180;
    SCOPED_TRACE(fixed);
    EXPECT_EQ(BytesOf("crop=38x53,rotate=" + fixed, picture).values,
              reference::Rotate(picture, radians, Filter::kNearest).values);
    ExpectWithinOne(BytesOf("crop=38x53,rotate=" + fixed + ":bilinear", picture),
                    reference::Rotate(picture, radians, Filter::kBilinear), 0.002);
  }
}

// Steps together: each step works on the result of the step before.
TEST(AugmentGoldenTest, LongProgramsAreTheirStepsInOrder) {
  constexpr const char* kOps =
      "brightness=0.3,random_resized_crop=40,flip,rotate,color_jitter=0.4,0.4,0.4,0.1,"
      "gaussian_blur,resize=30x36,vflip,normalize";
  const AugmentProgram program = Parsed(kOps, ElementType::kF32, Layout::kChw);
  const Bytes picture = reference::TestPicture(90, 70, 5);
  for (std::uint64_t sample = 0; sample < 6; ++sample) {
    const auto out =
        reference::Decode(RunWhole(program, picture, {8, 0, sample}), program.format());
    const Reals expected = Expected(program, picture, {8, 0, sample});
    double worst = 0;
    double sum = 0;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const double difference = std::abs(out.values[i] - expected.values[i]);
      worst = std::max(worst, difference);
      sum += difference;
    }
    // A byte that differs by 1 adds 0.0175 here. Near grey, such a difference changes the hue a
    // lot.
    EXPECT_LT(worst, 0.2);
    EXPECT_LT(sum / static_cast<double>(out.values.size()), 0.002);
  }
}

}  // namespace
}  // namespace penstock::loader
