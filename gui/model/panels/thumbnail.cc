// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/thumbnail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <new>

#ifdef PENSTOCK_GUI_JPEG
#include <jpeglib.h>
#endif

#include "gui/model/timeline/search_terms.h"

namespace penstock::gui {

bool MayHaveThumbnail(std::string_view path) {
  const std::string name = Lowered(path);
  return !name.empty() && name.front() == '/' &&
         (name.ends_with(".jpg") || name.ends_with(".jpeg") || name.ends_with(".jpe"));
}

#ifdef PENSTOCK_GUI_JPEG

namespace {

constexpr std::uint64_t kMostBytes = 64u << 20u;
constexpr std::size_t kPiece = 1u << 20u;  // bytes that are read before `stop` is looked at
constexpr std::uint64_t kMostPixels = 100'000'000;
constexpr std::uint64_t kMostPixelsOfScans = 25'000'000;  // a progressive file is held as a whole
constexpr int kMostScans = 100;
constexpr unsigned kEighths = 8;  // libjpeg decodes at 1/8, 2/8 ... of the size

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf back;
};

// The whole file; empty if it is not a regular file, or too large. A pipe is opened without waiting
// for its writer.
std::vector<std::uint8_t> ReadFile(const std::string& path, const std::stop_token& stop) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat file {};
  std::vector<std::uint8_t> bytes;
  if (::fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0 &&
      static_cast<std::uint64_t>(file.st_size) <= kMostBytes) {
    bytes.resize(static_cast<std::size_t>(file.st_size));
  }
  std::size_t have = 0;
  while (have < bytes.size() && !stop.stop_requested()) {
    const ssize_t got = ::read(fd, &bytes[have], std::min(kPiece, bytes.size() - have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (have < bytes.size()) bytes.clear();
  return bytes;
}

struct Progress {
  jpeg_progress_mgr base;
  const std::stop_token* stop;
};

// libjpeg calls this now and then while it decodes. Decoding also stops after kMostScans: even a
// small file may hold a great number of scans.
void StopIfAsked(j_common_ptr common) {
  const auto* info = reinterpret_cast<j_decompress_ptr>(common);
  const auto* progress = reinterpret_cast<Progress*>(common->progress);
  if (progress->stop->stop_requested() || info->input_scan_number > kMostScans) {
    common->err->error_exit(common);
  }
}

// Holds the objects of Decode() that need a destructor: a longjmp() out of libjpeg skips the
// destructors of local variables of Decode().
struct Decoding {
  jpeg_decompress_struct info{};
  ErrorManager errors{};
  Progress progress{};
  std::vector<std::uint8_t> pixels;
  bool made = false;

  Decoding() = default;
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;
  ~Decoding() {
    if (made) jpeg_destroy_decompress(&info);
  }
};

// Decodes at the smallest scale at which the longer side has at least `side` pixels, or at full
// size if none is large enough. Returns whether the file was decoded.
bool Decode(const std::vector<std::uint8_t>& file, int side, const std::stop_token& stop,
            Decoding* one) {
  jpeg_decompress_struct& info = one->info;
  info.err = jpeg_std_error(&one->errors.base);
  one->errors.base.error_exit = [](j_common_ptr common) {
    std::longjmp(reinterpret_cast<ErrorManager*>(common->err)->back, 1);
  };
  one->errors.base.emit_message = [](j_common_ptr, int) {};
  one->errors.base.output_message = [](j_common_ptr) {};
  if (setjmp(one->errors.back) != 0) return false;
  jpeg_create_decompress(&info);
  one->made = true;
  one->progress.base.progress_monitor = StopIfAsked;
  one->progress.stop = &stop;
  info.progress = &one->progress.base;
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  if (jpeg_read_header(&info, TRUE) != JPEG_HEADER_OK) return false;
  const std::uint64_t most = info.progressive_mode == TRUE ? kMostPixelsOfScans : kMostPixels;
  if (std::uint64_t{info.image_width} * info.image_height > most) return false;
  info.out_color_space = JCS_RGB;
  info.dct_method = JDCT_IFAST;
  info.scale_denom = kEighths;
  const unsigned longer = std::max(info.image_width, info.image_height);
  info.scale_num =
      std::clamp((static_cast<unsigned>(side) * kEighths + longer - 1) / longer, 1u, kEighths);
  if (jpeg_start_decompress(&info) != TRUE || info.output_components != 3) return false;
  const std::size_t row = std::size_t{info.output_width} * 3;
  one->pixels.resize(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    if (stop.stop_requested()) return false;
    JSAMPROW at = &one->pixels[row * info.output_scanline];
    if (jpeg_read_scanlines(&info, &at, 1) != 1) return false;
  }
  return true;
}

// Averages the pixels that fall into each pixel of the result.
void Shrink(const Decoding& from, int side, Thumbnail* to) {
  const std::size_t wide = from.info.output_width;
  const std::size_t high = from.info.output_height;
  const std::size_t longer = std::max(wide, high);
  const std::size_t most = std::min(longer, static_cast<std::size_t>(side));
  const std::size_t width = std::max<std::size_t>(1, wide * most / longer);
  const std::size_t height = std::max<std::size_t>(1, high * most / longer);
  to->width = static_cast<int>(width);
  to->height = static_cast<int>(height);
  to->pixels.resize(width * height * 3);
  for (std::size_t y = 0; y < height; ++y) {
    const std::size_t top = y * high / height;
    const std::size_t bottom = std::max(top + 1, (y + 1) * high / height);
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t left = x * wide / width;
      const std::size_t right = std::max(left + 1, (x + 1) * wide / width);
      std::array<std::size_t, 3> sum{};
      for (std::size_t row = top; row < bottom; ++row) {
        const std::uint8_t* pixel = &from.pixels[(row * wide + left) * 3];
        for (std::size_t i = 0; i < (right - left) * 3; ++i) sum[i % 3] += pixel[i];
      }
      const std::size_t count = (bottom - top) * (right - left);
      for (std::size_t c = 0; c < 3; ++c) {
        to->pixels[(y * width + x) * 3 + c] = static_cast<std::uint8_t>(sum[c] / count);
      }
    }
  }
}

}  // namespace

Thumbnail ReadThumbnail(const std::string& path, int side, const std::stop_token& stop) {
  try {
    const std::vector<std::uint8_t> file = ReadFile(path, stop);
    Decoding decoding;
    if (file.empty() || side < 1 || !Decode(file, side, stop, &decoding)) return {};
    Thumbnail thumbnail;
    thumbnail.picture_width = static_cast<int>(decoding.info.image_width);
    thumbnail.picture_height = static_cast<int>(decoding.info.image_height);
    thumbnail.bytes = file.size();
    Shrink(decoding, side, &thumbnail);
    return thumbnail;
  } catch (const std::bad_alloc&) {
    return {};  // the window goes on without the picture
  }
}

#else

Thumbnail ReadThumbnail(const std::string& /*path*/, int /*side*/,
                        const std::stop_token& /*stop*/) {
  return {};
}

#endif

}  // namespace penstock::gui
