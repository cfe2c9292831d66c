// SPDX-License-Identifier: Apache-2.0
//
// Runs every path through the bodies of the kernels on the CPU and compares the result bit for bit
// with plain loops, which do the same sums in the same order, one pixel after the other. Memory
// that cannot be read follows the last byte of each picture.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "cuda/emulate.h"
#include "cuda/pass_list.h"
#include "cuda/taps_body.h"

namespace penstock::cuda {
namespace {

// A picture of noise. Its last byte is the last one of its pages, and the next page cannot be read.
class Picture {
 public:
  Picture(int width, int height, std::int64_t more_pitch = 0) {
    at = {Memory::kInput, 0, PitchOf(width) + more_pitch, width, height};
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto size = static_cast<std::size_t>(at.stride * height);
    mapped_ = (size + page - 1) / page * page + page;
    pages_ = static_cast<std::uint8_t*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    bytes = pages_ + (mapped_ - page - size);
    std::mt19937 random(static_cast<unsigned>(97 * width + height));
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(random());
    mprotect(pages_ + (mapped_ - page), page, PROT_NONE);
  }
  ~Picture() { munmap(pages_, mapped_); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  [[nodiscard]] float byte(int x, int y, int c) const {
    return static_cast<float>(bytes[y * at.stride + 3 * x + c]);
  }

  PictureAt at;
  std::uint8_t* bytes = nullptr;

 private:
  std::uint8_t* pages_ = nullptr;
  std::size_t mapped_ = 0;
};

using Pixels = std::vector<std::array<float, 3>>;  // row by row

// The taps of one output along an axis: rows or columns, and their weights.
struct Line {
  std::vector<int> at;
  std::vector<float> weights;
};
using Lines = std::vector<Line>;

// Gathers each value by two sums, down and then across, as the kernels do.
Pixels Gathered(const Picture& picture, const Lines& x, const Lines& y) {
  Pixels pixels;
  for (const Line& row : y) {
    for (const Line& column : x) {
      std::array<float, 3> pixel{};
      for (std::size_t i = 0; i < column.at.size(); ++i) {
        for (int c = 0; c < 3; ++c) {
          float sum = 0;
          for (std::size_t k = 0; k < row.at.size(); ++k) {
            sum = std::fma(row.weights[k], picture.byte(column.at[i], row.at[k], c), sum);
          }
          float& value = pixel[static_cast<std::size_t>(c)];
          value = std::fma(column.weights[i], sum, value);
        }
      }
      pixels.push_back(pixel);
    }
  }
  return pixels;
}

// The outputs of an axis, with only those taps that have weight.
Lines LinesOf(const Axis& axis) {
  Lines lines(static_cast<std::size_t>(axis.count));
  const Reach reach = ReachOf(axis);
  const int taps = reach.support == 0 ? 1 : static_cast<int>(std::ceil(2 * reach.support)) + 1;
  const int step = (taps + 3) / 4 * 4;
  for (int i = 0; i < axis.count; ++i) {
    const FirstTap first = FirstTapOf(axis, reach, i);
    std::vector<FourFloats> weights(static_cast<std::size_t>(step) / 4);
    WeightsOf(axis, reach, first, taps, step, weights.data());
    for (int k = 0; k < taps; ++k) {
      const float weight = weights[static_cast<std::size_t>(k) / 4].value[k % 4];
      if (weight == 0) continue;
      lines[static_cast<std::size_t>(i)].at.push_back(axis.base + first.start + k);
      lines[static_cast<std::size_t>(i)].weights.push_back(weight);
    }
  }
  return lines;
}

struct Form {
  Element element;
  Layout layout;
};
constexpr Form kForms[] = {{Element::kU8, Layout::kHwc},  {Element::kU8, Layout::kChw},
                           {Element::kF16, Layout::kHwc}, {Element::kF16, Layout::kChw},
                           {Element::kF32, Layout::kHwc}, {Element::kF32, Layout::kChw}};

OutputForm FormOf(const Form& form) {
  return {form.element, form.layout, {0.017F, 0.018F, 0.5F}, {-2.1F, 0.25F, 1.5F}};
}

// The bytes of the pixels in an output form.
std::vector<std::uint8_t> Stored(const Pixels& pixels, const OutputForm& form) {
  const std::size_t size = ElementBytes(form.element);
  std::vector<std::uint8_t> bytes(3 * pixels.size() * size);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = std::fma(pixels[i][c], form.scale[c], form.bias[c]);
      const std::size_t at = form.layout == Layout::kChw ? c * pixels.size() + i : 3 * i + c;
      std::uint8_t* to = bytes.data() + at * size;
      if (form.element == Element::kU8) {
        *to = static_cast<std::uint8_t>(RoundedByte(value));
      } else if (form.element == Element::kF16) {
        const std::uint16_t half = HalfBits(value);
        std::memcpy(to, &half, sizeof half);
      } else {
        std::memcpy(to, &value, sizeof value);
      }
    }
  }
  return bytes;
}

// Runs the launches of the list on the CPU and returns the `size` bytes that they store.
std::vector<std::uint8_t> Emulated(const PassList& list, const Picture& picture, std::size_t size) {
  constexpr std::size_t kBeyond = 16;
  std::vector<std::uint8_t> output(size + kBeyond, 0xA5);
  std::vector<std::uint8_t> scratch(static_cast<std::size_t>(list.scratch_bytes()) + kBeyond);
  std::vector<unsigned long long> sums(static_cast<std::size_t>(list.sums()) + 1);
  Memories memories;
  memories.input = picture.bytes;
  memories.scratch = scratch.data();
  memories.output = output.data();
  memories.points = list.points().data();
  memories.weights = list.weights().data();
  memories.sums = sums.data();
  Emulate(list.launches(), list.passes(), memories);
  for (std::size_t i = 0; i < kBeyond; ++i) EXPECT_EQ(output[size + i], 0xA5) << "past the output";
  output.resize(size);
  return output;
}

void ExpectResize(const Picture& picture, const Axis& x, const Axis& y, const Form& which) {
  const OutputForm form = FormOf(which);
  PassList list;
  list.Begin(picture.at);
  ASSERT_TRUE(list.Resize(x, y));
  list.Finish(form, 0);
  list.End();
  list.Arrange();
  ASSERT_EQ(list.launches().size(), 1U);
  EXPECT_NE(list.launches()[0].ending, Ending::kAny);
  const std::vector<std::uint8_t> wanted = Stored(Gathered(picture, LinesOf(x), LinesOf(y)), form);
  EXPECT_TRUE(Emulated(list, picture, wanted.size()) == wanted)
      << picture.at.width << "x" << picture.at.height << " by " << x.ratio << " from " << x.base
      << ", " << y.base << ", form " << (&which - kForms);
}

Axis AxisOf(int base, int limit, int count) {
  Axis axis;
  axis.base = base;
  axis.limit = limit;
  axis.count = count;
  axis.ratio = static_cast<double>(limit) / count;
  return axis;
}

TEST(KernelPathsTest, ResizesOfAnyRatioAddUpInOrder) {
  const Picture picture(301, 203);
  int n = 0;
  for (const int count : {1, 2, 7, 26, 60, 87, 101, 121, 130, 160, 200, 213, 230, 300, 301, 450}) {
    const int high = count * 2 / 3 + 1;
    ExpectResize(picture, AxisOf(0, 301, count), AxisOf(0, 203, high), kForms[n++ % 6]);
  }
}

TEST(KernelPathsTest, CropsAtTheBordersReadNothingBehindThem) {
  for (const int width : {41, 42, 43, 44}) {
    const Picture picture(width, 37, 4 * (width % 3));
    for (int left = 0; left < 9; ++left) {
      for (const int count : {5, 19, 33, 70}) {
        ExpectResize(picture, AxisOf(left, width - left, count), AxisOf(left, 37 - left, count),
                     kForms[left % 6]);
      }
    }
  }
}

TEST(KernelPathsTest, PicturesOfOnePixelAreResized) {
  for (const Form& form : kForms) {
    for (const int width : {1, 2, 3}) {
      const Picture picture(width, 1);
      ExpectResize(picture, AxisOf(0, width, 9), AxisOf(0, 1, 20), form);
      ExpectResize(picture, AxisOf(width - 1, 1, 40), AxisOf(0, 1, 1), form);
      ExpectResize(picture, AxisOf(0, width, 1), AxisOf(0, 1, 3), form);
    }
  }
}

// Both outputs start at pixel 0, but only the one with the larger centre reads pixel 1, too.
TEST(KernelPathsTest, AMirroredAxisNeedsTheSamePixels) {
  for (const bool mirrored : {false, true}) {
    Axis axis = AxisOf(0, 2, 2);
    axis.first = 1;
    axis.ratio = 0.3;
    axis.mirrored = mirrored;
    PassList list;
    list.Begin({Memory::kInput, 0, PitchOf(1), 1, 1});
    EXPECT_FALSE(list.Resize(axis, axis)) << mirrored;
  }
}

TEST(KernelPathsTest, FiltersAndMirroredAxesAddUpInOrder) {
  const Picture picture(150, 90);
  for (const Filter filter : {Filter::kNearest, Filter::kBilinear, Filter::kBilinearNoAntialias}) {
    for (const bool mirrored : {false, true}) {
      for (const int count : {20, 50, 97, 140, 190}) {
        Axis x = AxisOf(3, 147, count);
        Axis y = AxisOf(0, 90, count);
        x.filter = y.filter = filter;
        x.mirrored = mirrored;
        y.mirrored = mirrored;
        y.offset = 0.125;
        ExpectResize(picture, x, y, kForms[count % 6]);
      }
    }
  }
}

// A mask outside the picture selects the kernel for any ending, which must store the same as the
// special ones.
TEST(KernelPathsTest, EveryEndingStoresTheSame) {
  const Picture picture(120, 77);
  for (const Form& which : kForms) {
    const OutputForm form = FormOf(which);
    std::vector<std::uint8_t> outputs[2];
    for (const bool masked : {false, true}) {
      PassList list;
      list.Begin(picture.at);
      ASSERT_TRUE(list.Resize(AxisOf(0, 120, 83), AxisOf(0, 77, 50)));
      list.Window({2, 3, 80, 40}, true, true);
      list.Finish(form, 0);
      if (masked) list.Erase({-5, -5, 1, 1}, 7);
      list.End();
      list.Arrange();
      EXPECT_EQ(list.launches()[0].ending == Ending::kAny, masked);
      outputs[masked ? 1 : 0] = Emulated(list, picture, 80 * 40 * 3 * ElementBytes(form.element));
    }
    EXPECT_TRUE(outputs[0] == outputs[1]);
  }
}

TEST(KernelPathsTest, BlursReflectAtTheBordersAndReadWordsBetween) {
  const int sizes[][2] = {{1, 1}, {2, 5}, {7, 1}, {40, 40}, {129, 33}, {400, 50}};
  for (const auto& [width, height] : sizes) {
    const Picture picture(width, height);
    for (const int kernel : {1, 3, 5, 7, 11}) {
      const OutputForm form = FormOf(kForms[kernel % 6]);
      PassList list;
      list.Begin(picture.at);
      ASSERT_TRUE(list.Blur(kernel, 1.3));
      list.Finish(form, 0);
      list.End();
      list.Arrange();
      EXPECT_EQ(list.launches()[0].kind, Launch::Kind::kBlur);
      const auto lines = [&](int size) {
        Lines all(static_cast<std::size_t>(size));
        for (int i = 0; i < size; ++i) {
          Line& line = all[static_cast<std::size_t>(i)];
          for (int k = 0; k < kernel; ++k) line.at.push_back(Reflected(i + k - kernel / 2, size));
          line.weights.assign(list.weights().begin(), list.weights().end());
        }
        return all;
      };
      Pixels pixels = Gathered(picture, lines(width), lines(height));
      for (auto& pixel : pixels) {
        for (float& value : pixel) value = RoundedByte(value);
      }
      const std::vector<std::uint8_t> wanted = Stored(pixels, form);
      EXPECT_TRUE(Emulated(list, picture, wanted.size()) == wanted)
          << width << "x" << height << ", " << kernel;
    }
  }
}

TEST(KernelPathsTest, StreamsOfAnySizeAndPlaceCopyEveryPixel) {
  const int windows[][4] = {{0, 0, 4, 1},    {4, 3, 8, 5},      {0, 0, 12, 90},  {20, 7, 100, 40},
                            {8, 1, 224, 41}, {12, 0, 300, 100}, {0, 99, 312, 1}, {308, 60, 4, 40}};
  for (const std::int64_t more : {0, 4, 12}) {
    const Picture picture(312, 100, more);
    for (const auto& [left, top, width, height] : windows) {
      for (const Form& which : kForms) {
        const OutputForm form = FormOf(which);
        PassList list;
        list.Begin(picture.at);
        list.Window({left, top, width, height}, false, false);
        list.Finish(form, 0);
        list.End();
        list.Arrange();
        EXPECT_EQ(list.launches()[0].kind, Launch::Kind::kStream);
        Pixels pixels;
        for (int y = top; y < top + height; ++y) {
          for (int x = left; x < left + width; ++x) {
            pixels.push_back({picture.byte(x, y, 0), picture.byte(x, y, 1), picture.byte(x, y, 2)});
          }
        }
        const std::vector<std::uint8_t> wanted = Stored(pixels, form);
        EXPECT_TRUE(Emulated(list, picture, wanted.size()) == wanted) << width << "x" << height;
      }
    }
  }
}

TEST(KernelPathsTest, WindowsOfAnySizeAreMirroredAndZeroOutside) {
  const int windows[][4] = {{0, 0, 1, 1},      {-3, -2, 7, 9},    {5, 1, 50, 3},
                            {-10, 5, 300, 41}, {250, 38, 20, 20}, {1, 0, 255, 40}};
  const Picture picture(257, 40);
  for (const auto& [left, top, width, height] : windows) {
    for (const Form& which : kForms) {
      const bool mirror = which.layout == Layout::kChw;
      const OutputForm form = FormOf(which);
      PassList list;
      list.Begin(picture.at);
      list.Window({left, top, width, height}, mirror, !mirror);
      list.Finish(form, 0);
      list.End();
      list.Arrange();
      EXPECT_EQ(list.launches()[0].kind, Launch::Kind::kPixels);
      Pixels pixels;
      for (int i = 0; i < width * height; ++i) {
        const int x = left + (mirror ? width - 1 - i % width : i % width);
        const int y = top + (mirror ? i / width : height - 1 - i / width);
        const bool inside = x >= 0 && y >= 0 && x < 257 && y < 40;
        pixels.emplace_back();
        for (int c = 0; inside && c < 3; ++c) {
          pixels.back()[static_cast<std::size_t>(c)] = picture.byte(x, y, c);
        }
      }
      const std::vector<std::uint8_t> wanted = Stored(pixels, form);
      EXPECT_TRUE(Emulated(list, picture, wanted.size()) == wanted) << width << "x" << height;
    }
  }
}

TEST(KernelPathsTest, ABatchIsALaunchForEachKindAndEnding) {
  const Picture picture(64, 48);
  PassList list;
  for (int i = 0; i < 12; ++i) {
    list.Begin(picture.at);
    ASSERT_TRUE(list.Resize(AxisOf(0, 64, 32), AxisOf(0, 48, 32)));
    if (i % 3 == 1) list.Brightness(1.5);
    if (i % 3 == 2) {
      ASSERT_TRUE(list.Blur(3, 1));
    }
    list.Finish({}, i * 32 * 32 * 3);
    list.End();
  }
  list.Arrange();
  struct {
    Launch::Kind kind;
    Ending ending;
  } const wanted[] = {{Launch::Kind::kTiled, Ending::kAny},
                      {Launch::Kind::kTiled, Ending::kBytes},
                      {Launch::Kind::kTiled, Ending::kU8},
                      {Launch::Kind::kBlur, Ending::kU8}};
  ASSERT_EQ(list.launches().size(), std::size(wanted));
  int first = 0;
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    const Launch& launch = list.launches()[i];
    EXPECT_EQ(launch.kind, wanted[i].kind);
    EXPECT_EQ(launch.ending, wanted[i].ending);
    EXPECT_EQ(launch.first, first);
    EXPECT_EQ(launch.count, 4);
    first += launch.count;
  }
}

}  // namespace
}  // namespace penstock::cuda
