// SPDX-License-Identifier: Apache-2.0
//
// One set of files for the real nvJPEG and for its stand-in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tests/loader/device/support.h"
#include "tests/loader/support/jpeg_writer.h"

namespace penstock::loader {
namespace {

struct Form {
  int sampling_x;
  int sampling_y;
  // Mean difference, of 255. Swapped channels, or a region that is one pixel off, make ten times as
  // much.
  double mean;
  int most;
};

// With 4:4:4 only roundings of the transform and of the colours differ. If chroma is interpolated
// in another way, single pixels at edges differ a lot.
constexpr Form kForms[] = {{1, 1, 1.0, 12}, {2, 1, 2.5, 255}, {2, 2, 2.5, 255}};
constexpr cuda::Box kRegions[] = {{0, 0, 160, 120}, {19, 13, 101, 67}, {64, 48, 96, 72}};
// A picture of this width is so large that gpu-hybrid leaves its codes to the GPU.
constexpr int kLargeWidth = 1200;
constexpr int kLargeHeight = 900;
constexpr cuda::Box kLargeRegions[] = {{0, 0, kLargeWidth, kLargeHeight}, {613, 401, 500, 333}};

}  // namespace

void ExpectJpegAgreesWithCpu(cuda::Device& device, cuda::JpegBatches& jpeg) {
  std::vector<std::vector<std::byte>> files;
  std::vector<cuda::JpegPicture> pictures;
  std::size_t bytes = 0;
  for (const Form& form : kForms) {
    test::JpegSpec spec;
    spec.width = 160;
    spec.height = 120;
    spec.sampling_x = form.sampling_x;
    spec.sampling_y = form.sampling_y;
    files.push_back(test::MakeJpeg(spec, 5));
  }
  test::JpegSpec large;
  large.width = kLargeWidth;
  large.height = kLargeHeight;
  large.sampling_x = large.sampling_y = 2;
  files.push_back(test::MakeJpeg(large, 6));
  std::vector<Form> forms;  // of the pictures
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool is_large = i == std::size(kForms);
    for (const cuda::Box& region : is_large ? std::span<const cuda::Box>(kLargeRegions)
                                            : std::span<const cuda::Box>(kRegions)) {
      cuda::JpegPicture picture;
      picture.file = files[i];
      picture.region = region;
      picture.pitch = static_cast<std::size_t>(cuda::PitchOf(region.width));
      if (!jpeg.Takes(picture)) continue;  // engines do not take every sampling
      forms.push_back(is_large ? std::end(kForms)[-1] : kForms[i]);
      bytes += picture.pitch * static_cast<std::size_t>(region.height);
      pictures.push_back(picture);
    }
  }
  ASSERT_FALSE(pictures.empty());
  auto stream = device.MakeStream();
  auto memory = device.Allocate(cuda::Kind::kDevice, bytes);
  auto fetched = device.Allocate(cuda::Kind::kPinned, bytes);
  ASSERT_TRUE(stream && memory && fetched);
  std::memset(fetched->data(), 0, bytes);
  ASSERT_TRUE((*stream)->CopyIn(memory->data(), fetched->data(), bytes));
  auto* to = reinterpret_cast<std::uint8_t*>(memory->data());
  for (cuda::JpegPicture& picture : pictures) {
    picture.pixels = to;
    to += picture.pitch * static_cast<std::size_t>(picture.region.height);
  }
  std::vector<std::size_t> refused;
  const Result<void> decoded = jpeg.Decode(pictures, **stream, refused);
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_TRUE((*stream)->CopyOut(fetched->data(), memory->data(), bytes));
  ASSERT_TRUE((*stream)->Mark(0));
  const Result<void> done = (*stream)->Wait(0);
  ASSERT_TRUE(done) << done.error().message;
  const auto* made = reinterpret_cast<const std::uint8_t*>(fetched->data());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const cuda::JpegPicture& picture = pictures[i];
    const Form& form = forms[i];
    SCOPED_TRACE("sampling " + std::to_string(form.sampling_x) + "x" +
                 std::to_string(form.sampling_y) + ", region from " +
                 std::to_string(picture.region.x));
    const test::PlainImage wanted = test::DecodePlain(picture.file);
    double sum = 0;
    int most = 0;
    for (int y = 0; y < picture.region.height; ++y) {
      const auto row = static_cast<std::size_t>((picture.region.y + y) * wanted.width);
      const std::uint8_t* want =
          wanted.pixels.data() + 3 * (row + static_cast<std::size_t>(picture.region.x));
      for (int x = 0; x < 3 * picture.region.width; ++x) {
        const int apart = std::abs(int{made[x]} - int{want[x]});
        sum += apart;
        most = std::max(most, apart);
      }
      made += picture.pitch;
    }
    EXPECT_LE(sum / (3.0 * picture.region.width * picture.region.height), form.mean);
    EXPECT_LE(most, form.most);
  }
}

}  // namespace penstock::loader
