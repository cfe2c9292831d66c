// SPDX-License-Identifier: Apache-2.0
//
// Kernels run by the CPU, and the passes that PassList plans.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/loader/augment/support.h"
#include "tests/loader/device/support.h"

namespace penstock::loader {
namespace {

TEST(EmulatedKernelsTest, PixelsAreTheCpusWithinTheTolerance) {
  ExpectDeviceAgreesWithCpu(*cuda::MakeEmulatedDevice());
}

TEST(EmulatedKernelsTest, PixelsAreThoseOfTheFormulasInDoublePrecision) {
  ExpectDeviceAgreesWithGoldens(*cuda::MakeEmulatedDevice());
}

TEST(EmulatedKernelsTest, AListThatIsStartedAgainMakesTheSamePixels) {
  ExpectStartsAreAlike(*cuda::MakeEmulatedDevice());
}

cuda::PassList ListOf(const std::string& ops, ElementType type) {
  const AugmentProgram program = Parsed(ops, type, Layout::kChw);
  cuda::PassList list;
  DevicePicture picture;
  picture.at = {cuda::Memory::kInput, 0, cuda::PitchOf(500), 500, 375};
  picture.covers = {0, 0, 500, 375};
  const AugmentPlan plan = DrawPlan(program.ops(), {500, 375}, {1, 2, 3});
  const auto added = PlanPasses(program).Add(plan, picture, 0, list);
  EXPECT_TRUE(added) << (added ? "" : added.error().message);
  list.Arrange();
  return list;
}

TEST(PassListTest, ColourFlipAndNormalizeRideOnTheResize) {
  EXPECT_EQ(ListOf("random_resized_crop=224,flip,normalize", ElementType::kF16).passes().size(),
            1U);
  EXPECT_EQ(ListOf("random_resized_crop=224,brightness=0.4,saturation=0.4,hue=0.1,flip:1,normalize,"
                   "cutout:1",
                   ElementType::kF16)
                .passes()
                .size(),
            1U);
}

TEST(PassListTest, AContrastCostsOnePassMore) {
  EXPECT_EQ(ListOf("random_resized_crop=224,contrast=0.4,flip,normalize", ElementType::kF16)
                .passes()
                .size(),
            2U);
  EXPECT_EQ(ListOf("random_resized_crop=224,color_jitter=0.4,0.4,0.4,0.1,flip,normalize",
                   ElementType::kF16)
                .passes()
                .size(),
            2U);
}

TEST(PassListTest, ACropOfWholeGroupsIsAStream) {
  const cuda::PassList list = ListOf("crop=224x224:left=8,normalize", ElementType::kF16);
  ASSERT_EQ(list.launches().size(), 1U);
  EXPECT_EQ(list.launches()[0].kind, cuda::Launch::Kind::kStream);
  EXPECT_EQ(list.bytes_moved(), 224U * 224 * 3 * 3);
}

TEST(PassListTest, TilesFitSharedMemoryWhateverTheRatio) {
  for (const double ratio : {0.01, 0.5, 1.0, 1.3, 2.0, 7.7, 40.0, 300.0}) {
    cuda::Pass pass;
    pass.gather = cuda::Gather::kTiled;
    pass.x.ratio = pass.y.ratio = ratio;
    const cuda::Tile tile = cuda::ChooseTile(pass);
    EXPECT_GE(tile.width, 1) << ratio;
    EXPECT_LE(tile.shared_bytes, cuda::kSharedBytes) << ratio;
  }
}

TEST(PassListTest, WhatIsTooWideToShrinkNamesTheRemedy) {
  cuda::PassList list;
  list.Begin({cuda::Memory::kInput, 0, cuda::PitchOf(60000), 60000, 2});
  cuda::Axis x;
  x.limit = 60000;
  x.ratio = 60000;
  x.count = 1;
  cuda::Axis y;
  y.limit = 2;
  y.ratio = 2;
  y.count = 1;
  const Result<void> refused = list.Resize(x, y);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInput);
  EXPECT_NE(refused.error().message.find("leave augment on the CPU"), std::string::npos);
}

TEST(PassListTest, PixelsThatAreMissingAreRefused) {
  cuda::PassList list;
  list.Begin({cuda::Memory::kInput, 0, cuda::PitchOf(50), 50, 50});
  cuda::Axis axis;
  axis.limit = 60;
  axis.ratio = 2;
  axis.count = 30;
  const Result<void> refused = list.Resize(axis, axis);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace penstock::loader
