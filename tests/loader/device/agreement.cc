// SPDX-License-Identifier: Apache-2.0
//
// One set of programs for the emulation and for a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/loader/augment/support.h"
#include "tests/loader/device/support.h"

namespace penstock::loader {
namespace {

struct Case {
  const char* ops;
  double most;   // of 255
  double share;  // of the values that differ
};

// In programs with several operations on bytes, a difference can grow from one to the next.
constexpr Case kCases[] = {
    {"random_resized_crop=40", 1, 1e-3},
    {"random_resized_crop=36x52,flip,vflip", 1, 1e-3},
    {"resize=64,center_crop=48,flip", 1, 1e-3},
    {"resize=300,random_crop=33", 1, 1e-3},
    {"resize=20x7", 1, 1e-3},
    {"resize=1x1", 1, 0.34},
    {"resize=40:nearest,random_crop=30", 0, 0},
    {"resize=40:bilinear_noaa,random_crop=30,flip:1", 1, 1e-3},
    {"crop=32x64:top=5:left=8", 0, 0},
    {"crop=31x57:top=3:left=7,flip:1", 0, 0},
    {"crop=200x260:top=-20:left=-31", 0, 0},
    {"random_crop=64:padding=9,vflip", 0, 0},
    {"center_crop=300,flip", 0, 0},
    {"crop=100x120,rotate=40", 0, 1e-3},
    {"crop=99x121,rotate=40:bilinear", 1, 1e-3},
    {"random_resized_crop=41,brightness=0.6", 1, 2e-3},
    {"crop=64,contrast=0.7", 0, 0},
    {"crop=64,saturation=0.7", 0, 0},
    {"crop=64,hue=0.3", 1, 1e-2},
    {"crop=64,hsv", 1, 1e-2},
    {"crop=63x61,gaussian_blur=7:sigma=0.5-2", 1, 1e-3},
    {"crop=5x4,gaussian_blur=9:sigma=3-4", 1, 1e-2},
    {"random_resized_crop=64,cutout:1:value=300", 1, 1e-3},
    {"crop=90x80,grid_mask:tile=17:angle=30", 0, 0},
    {"crop=90x80,grid_mask:tile=17", 0, 0},
    {"random_resized_crop=48,color_jitter=0.4,0.4,0.4,0.1,flip", 6, 0.03},
    {"resize=70,color_jitter=0.4,0.4,0.4,0.1:p=0.8,random_crop=48,flip", 6, 0.03},
    {"flip,resize=50:nearest,center_crop=40,contrast=0.5,contrast=0.5,vflip", 1, 0.01},
    {"random_resized_crop=52,flip,rotate=20:bilinear,gaussian_blur,hsv,grid_mask:tile=9,cutout", 6,
     0.06},
};

Apart Against(const std::vector<std::byte>& made, const std::vector<std::byte>& wanted,
              const OutputFormat& format) {
  reference::Reals a = reference::Decode(made, format);
  reference::Reals b = reference::Decode(wanted, format);
  const double scale = format.type == ElementType::kU8 ? 1 : 255;
  for (double& value : a.values) value *= scale;
  for (double& value : b.values) value *= scale;
  return Compare(a, b, 0.5);
}

}  // namespace

void ExpectDeviceAgreesWithCpu(cuda::Device& device) {
  const reference::Bytes picture = reference::TestPicture(190, 131, 6);
  const std::vector<SampleKey> keys = Keys(6);
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.ops);
    for (const ElementType type : {ElementType::kU8, ElementType::kF32}) {
      const AugmentProgram program = Parsed(one.ops, type, Layout::kChw);
      const auto outputs = RunOnDevice(device, program, picture, keys);
      ASSERT_EQ(outputs.size(), keys.size());
      double share = 0;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const Apart apart =
            Against(outputs[i], RunWhole(program, picture, keys[i]), program.format());
        EXPECT_LE(apart.most, one.most + 0.03) << "sample " << i;
        share += apart.share / static_cast<double>(keys.size());
      }
      EXPECT_LE(share, one.share);
    }
  }
  // These operations make bytes, so the values are whole even if the output is of floats.
  for (const char* ops :
       {"crop=63x61,gaussian_blur=7:sigma=0.5-2", "crop=99x121,rotate=40:bilinear",
        "crop=99x121,rotate=40:bilinear,center_crop=70,flip:1"}) {
    SCOPED_TRACE(ops);
    const AugmentProgram program = Parsed(ops, ElementType::kF32, Layout::kHwc);
    for (const auto& output : RunOnDevice(device, program, picture, keys)) {
      const reference::Reals made = reference::Decode(output, program.format());
      EXPECT_EQ(std::count_if(made.values.begin(), made.values.end(),
                              [](double value) {
                                return std::abs(255 * value - std::nearbyint(255 * value)) > 0.01;
                              }),
                0);
    }
  }
  // Every form of the output, once in a stream of whole rows and once with a resize.
  for (const char* ops : {"crop=64x40:top=3:left=12", "random_resized_crop=37,flip"}) {
    for (const ElementType type : {ElementType::kU8, ElementType::kF16, ElementType::kF32}) {
      for (const Layout layout : {Layout::kHwc, Layout::kChw}) {
        SCOPED_TRACE(std::string(ops) + " as " + std::to_string(static_cast<int>(type)) + " " +
                     std::to_string(static_cast<int>(layout)));
        std::string text = ops;
        if (type != ElementType::kU8) text += ",normalize,cutout:1:value=0.25";
        const AugmentProgram program = Parsed(text, type, layout);
        const auto outputs = RunOnDevice(device, program, picture, keys);
        ASSERT_EQ(outputs.size(), keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const Apart apart =
              Against(outputs[i], RunWhole(program, picture, keys[i]), program.format());
          // Normalised values reach 2.7, where half a unit of binary16 is 2^-10. Times 255 that is
          // 0.25.
          EXPECT_LE(apart.most, type == ElementType::kU8    ? 1.0
                                : type == ElementType::kF16 ? 0.6
                                                            : 0.03)
              << "sample " << i;
        }
      }
    }
  }
}

void ExpectDeviceAgreesWithGoldens(cuda::Device& device) {
  const reference::Bytes picture = reference::TestPicture(173, 118, 9);
  const std::vector<SampleKey> keys = Keys(4);
  const Size size{picture.width, picture.height};
  for (const char* ops :
       {"random_resized_crop=40,flip", "resize=61x33", "resize=250,center_crop=90",
        "resize=50:bilinear_noaa,center_crop=40", "resize=30x30:nearest"}) {
    SCOPED_TRACE(ops);
    const AugmentProgram program = Parsed(ops, ElementType::kF32, Layout::kHwc);
    const auto outputs = RunOnDevice(device, program, picture, keys);
    ASSERT_EQ(outputs.size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const AugmentPlan plan = DrawPlan(program.ops(), size, keys[i]);
      ASSERT_EQ(plan.count, 1U);
      reference::Reals made = reference::Decode(outputs[i], program.format());
      for (double& value : made.values) value *= 255;
      EXPECT_LE(Compare(made, reference::Resample(picture, plan.steps[0]), 0.5).most, 0.02);
    }
  }
  // Operations on bytes: the first step is a crop, the second step is compared.
  for (const char* op : {"brightness=0.5", "contrast=0.5", "saturation=0.5", "hue=0.2", "hsv",
                         "gaussian_blur=5", "rotate=30", "rotate=30:bilinear"}) {
    SCOPED_TRACE(op);
    const AugmentProgram program = Parsed(std::string("crop=118x173,") + op);
    const auto outputs = RunOnDevice(device, program, picture, keys);
    ASSERT_EQ(outputs.size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const AugmentPlan plan = DrawPlan(program.ops(), size, keys[i]);
      ASSERT_EQ(plan.count, 3U);
      const reference::Bytes wanted = reference::Apply(picture, plan.steps[1]);
      reference::Reals golden(wanted.width, wanted.height);
      std::copy(wanted.values.begin(), wanted.values.end(), golden.values.begin());
      const Apart apart = Compare(reference::Decode(outputs[i], program.format()), golden, 0.5);
      // A turned point on the edge of a pixel may fall to either side of it.
      const bool nearest = std::string_view(op) == "rotate=30";
      EXPECT_LE(apart.most, nearest ? 255 : 1);
      EXPECT_LE(apart.share, 0.01);
    }
  }
}

void ExpectStartsAreAlike(cuda::Device& device) {
  const AugmentProgram program =
      Parsed("random_resized_crop=48,contrast=0.7,contrast=0.7", ElementType::kU8, Layout::kHwc);
  const reference::Bytes picture = reference::TestPicture(90, 70, 6);
  const std::vector<SampleKey> keys = Keys(5);
  EXPECT_EQ(RunOnDevice(device, program, picture, keys, 3),
            RunOnDevice(device, program, picture, keys));
}

}  // namespace penstock::loader
