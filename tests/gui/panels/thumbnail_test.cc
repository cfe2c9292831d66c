// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/thumbnail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#ifdef PENSTOCK_GUI_JPEG
#include <jpeglib.h>
#endif

#include "tests/traces/support.h"

namespace penstock::gui {
namespace {

TEST(ThumbnailTest, OnlyAbsolutePathsOfJpegFilesMayHaveOne) {
  EXPECT_TRUE(MayHaveThumbnail("/data/a.jpg"));
  EXPECT_TRUE(MayHaveThumbnail("/data/a.JPEG"));
  EXPECT_FALSE(MayHaveThumbnail("a.jpg"));
  EXPECT_FALSE(MayHaveThumbnail("/data/a.png"));
  EXPECT_FALSE(MayHaveThumbnail(""));
}

#ifdef PENSTOCK_GUI_JPEG

class ThumbnailFileTest : public ::testing::Test {
 protected:
  // A picture whose left half has one colour and whose right half has another.
  std::string Write(const std::string& name, unsigned width, unsigned height, J_COLOR_SPACE space,
                    const std::vector<std::uint8_t>& left, const std::vector<std::uint8_t>& right,
                    bool progressive = false) {
    const std::string path = folder_ / name;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = width;
    info.image_height = height;
    info.input_components = static_cast<int>(left.size());
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    std::vector<std::uint8_t> row;
    for (unsigned x = 0; x < width; ++x) {
      const auto& colour = x < width / 2 ? left : right;
      row.insert(row.end(), colour.begin(), colour.end());
    }
    JSAMPROW rows = row.data();
    while (info.next_scanline < height) jpeg_write_scanlines(&info, &rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::fclose(file);
    return path;
  }
  static std::array<int, 3> At(const Thumbnail& thumbnail, int x, int y) {
    const std::uint8_t* pixel =
        &thumbnail.pixels[static_cast<std::size_t>((y * thumbnail.width + x) * 3)];
    return {pixel[0], pixel[1], pixel[2]};
  }
  static void ExpectNear(const std::array<int, 3>& seen, const std::array<int, 3>& wanted) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(seen[c], wanted[c], 6) << c;
  }

  traces::testing::TempFolder folder_;
};

TEST_F(ThumbnailFileTest, HasTheColoursAndTheShapeOfThePicture) {
  for (const bool progressive : {false, true}) {
    const std::string path =
        Write("a.jpg", 1000, 500, JCS_RGB, {200, 30, 20}, {10, 40, 220}, progressive);
    const Thumbnail thumbnail = ReadThumbnail(path, 96);
    ASSERT_EQ(thumbnail.width, 96);
    ASSERT_EQ(thumbnail.height, 48);
    ASSERT_EQ(thumbnail.pixels.size(), 96u * 48 * 3);
    EXPECT_EQ(thumbnail.picture_width, 1000);
    EXPECT_EQ(thumbnail.picture_height, 500);
    EXPECT_EQ(thumbnail.bytes, std::filesystem::file_size(path));
    ExpectNear(At(thumbnail, 4, 4), {200, 30, 20});
    ExpectNear(At(thumbnail, 91, 43), {10, 40, 220});
  }
}

TEST_F(ThumbnailFileTest, ASmallPictureStaysAsItIsAndGreyBecomesColour) {
  const Thumbnail thumbnail =
      ReadThumbnail(Write("grey.jpg", 20, 40, JCS_GRAYSCALE, {90}, {180}), 96);
  ASSERT_EQ(thumbnail.width, 20);
  ASSERT_EQ(thumbnail.height, 40);
  ExpectNear(At(thumbnail, 2, 2), {90, 90, 90});
  ExpectNear(At(thumbnail, 17, 37), {180, 180, 180});
}

TEST_F(ThumbnailFileTest, ExtremeShapesKeepAPixel) {
  const Thumbnail thumbnail =
      ReadThumbnail(Write("wide.jpg", 4000, 3, JCS_RGB, {1, 2, 3}, {1, 2, 3}), 96);
  EXPECT_EQ(thumbnail.width, 96);
  EXPECT_EQ(thumbnail.height, 1);
}

TEST_F(ThumbnailFileTest, WhatIsNoPictureHasNone) {
  const std::string whole = Write("whole.jpg", 64, 64, JCS_RGB, {1, 2, 3}, {4, 5, 6});
  EXPECT_FALSE(ReadThumbnail(whole, 96).empty());
  EXPECT_TRUE(ReadThumbnail(whole, 0).empty());
  EXPECT_TRUE(ReadThumbnail(folder_ / "missing.jpg", 96).empty());
  EXPECT_TRUE(ReadThumbnail((folder_ / ".").string(), 96).empty());
  const std::string text = folder_ / "text.jpg";
  std::ofstream(text) << "no picture";
  EXPECT_TRUE(ReadThumbnail(text, 96).empty());
  const std::string pipe = folder_ / "pipe.jpg";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(ReadThumbnail(pipe, 96).empty());  // opening it would wait for a writer
  const std::string inks = Write("inks.jpg", 64, 64, JCS_CMYK, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_TRUE(ReadThumbnail(inks, 96).empty());
}

TEST_F(ThumbnailFileTest, IsNotMadeIfNobodyWantsItAnyMore) {
  const std::string path = Write("a.jpg", 400, 400, JCS_RGB, {1, 2, 3}, {4, 5, 6});
  std::stop_source source;
  EXPECT_FALSE(ReadThumbnail(path, 96, source.get_token()).empty());
  source.request_stop();
  EXPECT_TRUE(ReadThumbnail(path, 96, source.get_token()).empty());
}

TEST_F(ThumbnailFileTest, AFileThatIsCutShowsWhatThereIs) {
  const std::string path = Write("cut.jpg", 800, 800, JCS_RGB, {200, 30, 20}, {10, 40, 220});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Thumbnail thumbnail = ReadThumbnail(path, 96);
  ASSERT_FALSE(thumbnail.empty());
  ExpectNear(At(thumbnail, 4, 4), {200, 30, 20});
}

#endif

}  // namespace
}  // namespace penstock::gui
