// SPDX-License-Identifier: Apache-2.0
//
// Pixels against the double-precision reference, on every vector unit of this CPU. Tolerances:
// float32 1e-5 of the range, float16 one unit in the last place (or 1e-6 near zero), uint8 one
// count.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "tests/loader/augment/reference.h"

namespace penstock::loader {
namespace {

using reference::Bytes;
using reference::Reals;

// Runs `body` once for each vector unit that was compiled for and that this CPU has.
template <class F>
void OnEveryTarget(F body) {
  int targets = 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
    ++targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, 1);
}

AugmentProgram Parsed(std::string_view ops, ElementType type, Layout layout) {
  auto program = AugmentProgram::Parse(ops, type, layout);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return *program;
}

std::vector<std::byte> RunWhole(const AugmentProgram& program, const Bytes& picture,
                                const SampleKey& key) {
  Augmenter augmenter(program);
  const AugmentPlan plan = augmenter.Draw({.width = picture.width, .height = picture.height}, key);
  std::vector<std::byte> out(program.format().bytes());
  const auto done =
      augmenter.Run(plan, reference::View(picture), {0, 0, picture.width, picture.height}, 1, out);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return out;
}

// How far one unit in the last place reaches at `value`.
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
                                 : 1e-5 * 4.8;  // range of normalized values
    ASSERT_NEAR(actual.values[i], expected.values[i], tolerance) << "element " << i;
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

// Widths around multiples of a vector, scales from enlarging to eighteen times smaller, each row
// method, each filter, windows, flips, pictures of one pixel.
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
  OnEveryTarget([&] {
    for (const Geometry& geometry : kGeometries) {
      const Bytes picture =
          reference::TestPicture(geometry.picture.width, geometry.picture.height, 1);
      const AugmentProgram program = Parsed(std::string(geometry.ops) + suffix, type, layout);
      SCOPED_TRACE(geometry.ops);
      const SampleKey key{3, 1, 4};
      const auto out = RunWhole(program, picture, key);
      ExpectNear(reference::Decode(out, program.format()), Expected(program, picture, key), type);
    }
  });
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

}  // namespace
}  // namespace penstock::loader
