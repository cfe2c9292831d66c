// SPDX-License-Identifier: Apache-2.0
//
// A small version of a picture file that a sample was read from. Values; reads one file.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gui {

struct Thumbnail {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // red, green, blue; row by row without gaps
  int picture_width = 0;             // of the file's picture
  int picture_height = 0;
  std::uint64_t bytes = 0;  // of the file

  [[nodiscard]] bool empty() const { return pixels.empty(); }
};

// Whether the name of the file may be that of a picture that ReadThumbnail() reads.
[[nodiscard]] bool MayHaveThumbnail(std::string_view path);

// The picture, shrunk so that its longer side has at most `side` pixels. It is not turned by its
// EXIF orientation. The result is empty if the file is not a regular JPEG file, cannot be read, is
// damaged at its beginning or is very large; also after a stop request, and in a build without
// libjpeg. Cost: that of decoding at a reduced scale.
[[nodiscard]] Thumbnail ReadThumbnail(const std::string& path, int side,
                                      const std::stop_token& stop = {});

}  // namespace penstock::gui
