// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "loader/augment/program.h"
#include "tests/loader/augment/support.h"

namespace {
std::atomic<std::int64_t> g_allocations{0};  // relaxed: one thread counts

void* Allocate(std::size_t size, std::size_t alignment) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) {
  return Allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
// Not inline: else gcc sees free() called on memory of `new`, and warns.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace penstock::loader {
namespace {

using reference::Bytes;

Bytes Flipped(const Bytes& picture, bool x, bool y) {
  Bytes out(picture.width, picture.height);
  for (int v = 0; v < picture.height; ++v) {
    for (int u = 0; u < picture.width; ++u) {
      for (int c = 0; c < 3; ++c) {
        out(u, v, c) = picture(x ? picture.width - 1 - u : u, y ? picture.height - 1 - v : v, c);
      }
    }
  }
  return out;
}

std::size_t Zeros(const Bytes& picture) {
  return static_cast<std::size_t>(std::count(picture.values.begin(), picture.values.end(), 0));
}

Bytes Constant(int width, int height, std::uint8_t value) {
  Bytes picture(width, height);
  std::fill(picture.values.begin(), picture.values.end(), value);
  return picture;
}

// The part of the picture that the plan asks for, in memory of exactly its size.
Bytes Cut(const Bytes& picture, const Region& region) {
  Bytes part(region.width, region.height);
  for (int y = 0; y < region.height; ++y) {
    for (int x = 0; x < region.width; ++x) {
      for (int c = 0; c < 3; ++c) part(x, y, c) = picture(region.x + x, region.y + y, c);
    }
  }
  return part;
}

TEST(AugmenterTest, ARegionGivesTheBytesOfTheWhole) {
  const Bytes picture = reference::TestPicture(190, 131, 6);
  OnEveryTarget([&] {
    for (const char* ops :
         {"random_resized_crop=40,flip", "resize=64,center_crop=48",
          "resize=64,random_crop=20,vflip:1", "resize=20,center_crop=9",
          "resize=300,random_crop=33", "random_crop=30x50,flip", "resize=40:nearest,random_crop=30",
          "resize=40:bilinear_noaa,random_crop=30", "random_crop=50,resize=31x17,gaussian_blur",
          "random_resized_crop=17:scale=0.9-1,rotate"}) {
      const AugmentProgram program = Parsed(ops, ElementType::kF32, Layout::kChw);
      Augmenter augmenter(program);
      for (std::uint64_t sample = 0; sample < 5; ++sample) {
        const AugmentPlan plan = augmenter.Draw(InfoOf(picture), {4, 0, sample});
        const Bytes part = Cut(picture, plan.region);
        std::vector<std::byte> out(program.format().bytes());
        ASSERT_TRUE(augmenter.Run(plan, reference::View(part), plan.region, 1, out));
        ASSERT_EQ(out, RunWhole(program, picture, {4, 0, sample})) << ops << " " << sample;
      }
    }
  });
}

TEST(AugmenterTest, AReducedRegionGivesTheBytesOfTheReducedWhole) {
  constexpr int kDenominator = 4;
  const Bytes reduced = reference::TestPicture(150, 110, 6);
  const ImageInfo info{.width = 150 * kDenominator, .height = 110 * kDenominator};
  const Region whole = {0, 0, info.width, info.height};
  for (const char* ops :
       {"random_resized_crop=24", "resize=32,center_crop=24", "resize=40,random_crop=9"}) {
    const AugmentProgram program = Parsed(ops, ElementType::kF32, Layout::kHwc);
    Augmenter augmenter(program);
    for (std::uint64_t sample = 0; sample < 20; ++sample) {
      const AugmentPlan plan = augmenter.Draw(info, {4, 0, sample});
      // Whole pixels of the reduced picture around the region, as the decoder gives them.
      const int left = plan.region.x / kDenominator;
      const int top = plan.region.y / kDenominator;
      const int right = (plan.region.x + plan.region.width + kDenominator - 1) / kDenominator;
      const int bottom = (plan.region.y + plan.region.height + kDenominator - 1) / kDenominator;
      const Bytes part = Cut(reduced, {left, top, right - left, bottom - top});
      const Region covers = {left * kDenominator, top * kDenominator, (right - left) * kDenominator,
                             (bottom - top) * kDenominator};
      std::vector<std::byte> out(program.format().bytes());
      std::vector<std::byte> expected(out.size());
      ASSERT_TRUE(augmenter.Run(plan, reference::View(part), covers, kDenominator, out));
      ASSERT_TRUE(augmenter.Run(plan, reference::View(reduced), whole, kDenominator, expected));
      ASSERT_EQ(out, expected) << ops << " " << sample;
    }
  }
}

TEST(AugmenterTest, RowsMayHaveGaps) {
  const Bytes picture = reference::TestPicture(33, 21, 6);
  constexpr std::ptrdiff_t kStride = 3 * 33 + 29;
  std::vector<std::uint8_t> spread(static_cast<std::size_t>(20 * kStride + 3 * 33), 0xEE);
  for (std::size_t y = 0; y < 21; ++y) {
    std::memcpy(spread.data() + y * kStride, picture.values.data() + y * 3 * 33, 3 * 33);
  }
  for (const char* ops : {"resize=10x12", "crop=12,flip:1", "crop=12", "crop=40:left=-4"}) {
    const AugmentProgram program = Parsed(ops);
    Augmenter augmenter(program);
    std::vector<std::byte> out(program.format().bytes());
    const AugmentPlan plan = augmenter.Draw(InfoOf(picture), {});
    ASSERT_TRUE(augmenter.Run(plan, {spread.data(), 33, 21, kStride}, {0, 0, 33, 21}, 1, out));
    EXPECT_EQ(out, RunWhole(program, picture, {})) << ops;
  }
}

TEST(AugmenterTest, RefusesPixelsThatDoNotSuffice) {
  const Bytes picture = reference::TestPicture(60, 50, 6);
  const AugmentProgram program = Parsed("crop=30:top=10:left=10,resize=9x9", ElementType::kF32);
  Augmenter augmenter(program);
  const AugmentPlan plan = augmenter.Draw(InfoOf(picture), {});
  std::vector<std::byte> out(program.format().bytes());
  const ImageView view = reference::View(picture);
  EXPECT_TRUE(augmenter.Run(plan, view, {10, 10, 60, 50}, 1, out));
  for (const Region& covers :
       {Region{11, 10, 60, 50}, Region{10, 11, 60, 50}, Region{-30, 0, 60, 50}}) {
    const auto done = augmenter.Run(plan, view, covers, 1, out);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, testing::HasSubstr("needs 30x30 pixels at (10, 10)"));
  }
  EXPECT_FALSE(augmenter.Run(plan, view, {0, 0, 60, 50}, 0, out));
  EXPECT_FALSE(augmenter.Run(plan, view, {0, 0, 60, 50}, 1, std::span(out).first(out.size() - 1)));
  EXPECT_FALSE(augmenter.Run(plan, {view.pixels, 60, 50, 10}, {0, 0, 60, 50}, 1, out));
}

TEST(AugmenterTest, RefusesToMakeHugePictures) {
  const AugmentProgram program = Parsed("resize=16384,brightness=0.1,center_crop=8");
  Augmenter augmenter(program);
  const Bytes picture = reference::TestPicture(3000, 1, 1);
  std::vector<std::byte> out(program.format().bytes());
  const auto done = augmenter.Run(augmenter.Draw(InfoOf(picture), {}), reference::View(picture),
                                  {0, 0, 3000, 1}, 1, out);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("49152000x16384"));
}

TEST(AugmenterTest, AllocatesNothingOnceItHasSeenTheLargestPicture) {
  const AugmentProgram program = Parsed(
      "random_resized_crop=40,flip,rotate,color_jitter=0.4,0.4,0.4,0.1,hsv,gaussian_blur=9,"
      "random_crop=36:padding=4,grid_mask=8,normalize,cutout",
      ElementType::kF16, Layout::kChw);
  const Bytes picture = reference::TestPicture(200, 150, 1);
  Augmenter augmenter(program);
  std::vector<std::byte> out(program.format().bytes());
  const auto run = [&](std::uint64_t sample) {
    const AugmentPlan plan = augmenter.Draw(InfoOf(picture), {1, 0, sample});
    return augmenter.Run(plan, reference::View(picture), {0, 0, 200, 150}, 1, out).has_value();
  };
  for (std::uint64_t sample = 0; sample < 80; ++sample) ASSERT_TRUE(run(sample));
  const std::int64_t before = g_allocations.load(std::memory_order_relaxed);
  for (std::uint64_t sample = 0; sample < 80; ++sample) {
    if (!run(sample)) FAIL();
  }
  EXPECT_EQ(g_allocations.load(std::memory_order_relaxed), before);
}

TEST(AugmenterTest, HistoryLeavesNoTrace) {
  const AugmentProgram program = Parsed("random_resized_crop=24,flip,gaussian_blur,rotate");
  const Bytes large = reference::TestPicture(300, 200, 1);
  const Bytes small = reference::TestPicture(40, 70, 2);
  Augmenter used(program);
  std::vector<std::byte> out(program.format().bytes());
  for (std::uint64_t sample = 0; sample < 10; ++sample) {
    for (const Bytes* picture : {&large, &small}) {
      const AugmentPlan plan = used.Draw(InfoOf(*picture), {1, 0, sample});
      ASSERT_TRUE(used.Run(plan, reference::View(*picture), {0, 0, picture->width, picture->height},
                           1, out));
      ASSERT_EQ(out, RunWhole(program, *picture, {1, 0, sample}));
    }
  }
}

TEST(AugmenterTest, TellsTheObserverOfEachStep) {
  struct Recorder : StepObserver {
    void Begin(std::string_view name) override { log += std::string(name) + "("; }
    void End() override { log += ")"; }
    std::string log;
  } recorder;
  const AugmentProgram program =
      Parsed("resize=8x8,brightness=0.1,vflip,normalize", ElementType::kF32);
  Augmenter augmenter(program);
  augmenter.SetObserver(&recorder);
  const Bytes picture = reference::TestPicture(20, 20, 1);
  std::vector<std::byte> out(program.format().bytes());
  ASSERT_TRUE(augmenter.Run(augmenter.Draw(InfoOf(picture), {}), reference::View(picture),
                            {0, 0, 20, 20}, 1, out));
  EXPECT_EQ(recorder.log, "resize()brightness()vflip+normalize()");
  augmenter.SetObserver(nullptr);
  ASSERT_TRUE(augmenter.Run(augmenter.Draw(InfoOf(picture), {}), reference::View(picture),
                            {0, 0, 20, 20}, 1, out));
  EXPECT_EQ(recorder.log, "resize()brightness()vflip+normalize()");
}

TEST(AugmentOpsTest, FlipsAreMirrors) {
  const Bytes picture = reference::TestPicture(21, 34, 1);
  EXPECT_EQ(BytesOf("crop=34x21,flip:1", picture).values, Flipped(picture, true, false).values);
  EXPECT_EQ(BytesOf("crop=34x21,vflip:1", picture).values, Flipped(picture, false, true).values);
  EXPECT_EQ(BytesOf("crop=34x21,flip:1,vflip:1,flip:1", picture).values,
            Flipped(picture, false, true).values);
  // One flip before and one after an operation that needs pixels.
  EXPECT_EQ(BytesOf("flip:1,brightness=1-1,flip:1,crop=34x21", picture).values, picture.values);
  // A crop of a flipped picture is taken from the opposite side of the picture.
  EXPECT_EQ(BytesOf("flip:1,crop=34x5", picture).values,
            Flipped(BytesOf("crop=34x5:left=16", picture), true, false).values);
}

TEST(AugmentOpsTest, NeutralParametersChangeNothing) {
  const Bytes picture = reference::TestPicture(31, 17, 1);
  for (const char* ops :
       {"crop=17x31", "resize=17x31", "crop=17x31,brightness=1-1", "crop=17x31,contrast=1-1",
        "crop=17x31,saturation=1-1", "crop=17x31,rotate=0-0", "crop=17x31,hue=0.2:p=0",
        "crop=17x31,rotate=0-0:bilinear", "crop=17x31,gaussian_blur=1",
        "crop=17x31,gaussian_blur=5:sigma=0.01", "crop=17x31,grid_mask=8:ratio=0",
        "crop=17x31,cutout:0", "random_crop=17x31", "center_crop=17x31"}) {
    EXPECT_EQ(BytesOf(ops, picture).values, picture.values) << ops;
  }
}

TEST(AugmentOpsTest, ExtremeParametersGiveWhatTheirFormulasSay) {
  const Bytes picture = reference::TestPicture(31, 17, 1);
  EXPECT_EQ(Zeros(BytesOf("crop=17x31,brightness=0-0", picture)), picture.values.size());
  const Bytes flat = BytesOf("crop=17x31,contrast=0-0", picture);
  EXPECT_EQ(std::count(flat.values.begin(), flat.values.end(), flat.values[0]),
            static_cast<std::ptrdiff_t>(flat.values.size()));
  const Bytes grey = BytesOf("crop=17x31,saturation=0-0", picture);
  for (std::size_t i = 0; i < grey.values.size(); i += 3) {
    ASSERT_EQ(grey.values[i], grey.values[i + 1]);
    ASSERT_EQ(grey.values[i], grey.values[i + 2]);
  }
  EXPECT_EQ(Zeros(BytesOf("crop=17x31,grid_mask=8:ratio=1", picture)), picture.values.size());
}

TEST(AugmentOpsTest, HalfATurnIsTwoMirrors) {
  const Bytes picture = reference::TestPicture(31, 17, 1);
  EXPECT_EQ(BytesOf("crop=17x31,rotate=180-180", picture).values,
            Flipped(picture, true, true).values);
}

TEST(AugmentOpsTest, PositiveAnglesTurnCounterClockwise) {
  Bytes picture(21, 21);
  picture(20, 10, 0) = 200;  // on the right
  const Bytes turned = BytesOf("crop=21,rotate=90-90", picture);
  EXPECT_EQ(turned(10, 0, 0), 200);  // now on top
}

TEST(AugmentOpsTest, BlurKeepsWhatIsFlatAndTheMean) {
  const Bytes flat = Constant(20, 20, 137);
  EXPECT_EQ(BytesOf("crop=20,gaussian_blur=9:sigma=3", flat).values, flat.values);
  Bytes point = Constant(41, 41, 0);
  point(20, 20, 1) = 255;
  const Bytes blurred = BytesOf("crop=41,gaussian_blur=5:sigma=0.8", point);
  EXPECT_EQ(blurred(20, 20, 0), 0);
  EXPECT_EQ(blurred(18, 20, 1), blurred(22, 20, 1));
  EXPECT_EQ(blurred(20, 18, 1), blurred(18, 20, 1));
  EXPECT_GT(blurred(20, 20, 1), blurred(21, 20, 1));
}

TEST(AugmentOpsTest, PaddingIsZeroAndThePictureIsWhereItShouldBe) {
  const Bytes picture = Constant(10, 8, 9);
  const Bytes padded = BytesOf("center_crop=12x15", picture);  // torchvision: 2 left, 2 on top
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 15; ++x) {
      const bool inside = x >= 2 && x < 12 && y >= 2 && y < 10;
      ASSERT_EQ(padded(x, y, 1), inside ? 9 : 0) << x << " " << y;
    }
  }
  EXPECT_EQ(Zeros(BytesOf("crop=4:left=50", picture)), 48U);
  EXPECT_EQ(Zeros(BytesOf("crop=4:top=-50", picture)), 48U);
  EXPECT_EQ(BytesOf("crop=4:top=-2:left=-1,flip:1", picture)(3, 2, 0), 0);
}

TEST(AugmentOpsTest, CutoutErasesOneRectangleOfTheAskedArea) {
  const Bytes picture = Constant(60, 50, 77);
  int erased = 0;
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const Bytes out = BytesOf("crop=50x60,cutout:scale=0.1-0.2", picture, {1, 0, sample});
    const std::size_t zeros = Zeros(out) / 3;
    if (zeros == 0) continue;
    ++erased;
    EXPECT_GE(zeros, 260U);  // 300, less the rounding of the erased part's sides
    EXPECT_LE(zeros, 640U);
  }
  EXPECT_NEAR(erased, 100, 30);
}

TEST(AugmentOpsTest, CutoutAfterNormalizeWritesItsValue) {
  const Bytes picture = Constant(30, 30, 255);
  for (const ElementType type : {ElementType::kF32, ElementType::kF16}) {
    for (const Layout layout : {Layout::kHwc, Layout::kChw}) {
      const AugmentProgram program =
          Parsed("crop=30,normalize:mean=0,0,0:std=1,1,1,cutout:1:value=-2.5", type, layout);
      const auto out = reference::Decode(RunWhole(program, picture, {1, 0, 0}), program.format());
      const auto count = std::count(out.values.begin(), out.values.end(), -2.5);
      EXPECT_GT(count, 3 * 900 / 100);
      EXPECT_EQ(count % 3, 0);
      EXPECT_EQ(count + std::count(out.values.begin(), out.values.end(), 1.0), 2700);
      for (std::size_t i = 0; i < 2700; i += 3) ASSERT_EQ(out.values[i], out.values[i + 2]);
    }
  }
}

TEST(AugmentOpsTest, GridMaskCoversItsShareWhicheverWayItIsTurned) {
  const Bytes picture = Constant(200, 200, 50);
  for (const char* ops :
       {"crop=200,grid_mask=20:ratio=0.5", "crop=200,grid_mask=20:ratio=0.5:angle=180"}) {
    for (std::uint64_t sample = 0; sample < 5; ++sample) {
      const Bytes out = BytesOf(ops, picture, {1, 0, sample});
      EXPECT_NEAR(static_cast<double>(Zeros(out)) / 120000, 0.25, 0.03) << ops;
    }
  }
  const Bytes upright = BytesOf("crop=200,grid_mask=20:ratio=0.5", picture, {1, 0, 0});
  EXPECT_EQ(Zeros(upright), 30000U);
  for (int i = 0; i < 180; ++i) {  // the grid repeats
    ASSERT_EQ(upright(i, i, 0), upright(i + 20, i, 0));
    ASSERT_EQ(upright(i, i, 0), upright(i, i + 20, 0));
  }
}

}  // namespace
}  // namespace penstock::loader
