// SPDX-License-Identifier: Apache-2.0
//
// Decodes any bytes as a JPEG file: the header, the whole picture, a region, the region at smaller
// sizes. As in a loader, the same decoders decode all files. Whatever state an earlier file left in
// them, they must answer as a new decoder does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "loader/decode/jpeg_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using penstock::loader::DecodeOptions;
using penstock::loader::ImageInfo;
using penstock::loader::ImageView;
using penstock::loader::JpegDecoder;
using penstock::loader::Region;

constexpr std::uint64_t kMaxPixels = 1 << 16;
constexpr int kMaxScans = 20;

void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

std::vector<std::uint8_t> Copy(const ImageView& view) {
  std::vector<std::uint8_t> out;
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* row = view.pixels + y * view.stride;
    out.insert(out.end(), row, row + std::ptrdiff_t{3} * view.width);
  }
  return out;
}

Region Part(const ImageInfo& info, std::size_t seed) {
  const int x = static_cast<int>(seed % 97) % info.width;
  const int y = static_cast<int>(seed % 89) % info.height;
  return {x, y, std::max(1, (info.width - x) / 2), std::max(1, (info.height - y) / 2)};
}

// Requires that our Huffman decoder and libjpeg's give the same result for a file, damaged or not.
void RequireAgreement(const DecodeOptions& options, std::span<const std::byte> file) {
  DecodeOptions always = options;
  always.own_huffman_from = 0;
  DecodeOptions libjpeg = options;
  libjpeg.own_huffman = false;
  JpegDecoder own(always);
  JpegDecoder other(libjpeg);
  const auto info = own.ReadHeader(file);
  if (!other.ReadHeader(file) || !info) {
    return;
  }
  const Region part = Part(*info, file.size());
  for (const Region& region : {Region{0, 0, info->width, info->height}, part}) {
    const auto mine = own.Decode(region, {});
    const auto theirs = other.Decode(region, {});
    Require(mine.has_value() == theirs.has_value());
    Require(mine ? Copy(mine->view) == Copy(theirs->view)
                 : mine.error().message == theirs.error().message);
  }
  Require(own.warnings() == other.warnings());
}

void DecodeWith(JpegDecoder& decoder, const DecodeOptions& options,
                std::span<const std::byte> file) {
  const auto info = decoder.ReadHeader(file);
  JpegDecoder fresh(options);
  Require(fresh.ReadHeader(file).has_value() == info.has_value());
  if (!info) {
    return;
  }
  Require(info->width > 0 && info->height > 0);
  const Region all = {0, 0, info->width, info->height};
  const Region part = Part(*info, file.size());
  const auto whole = decoder.Decode(all, {});
  const std::vector<std::uint8_t> pixels = whole ? Copy(whole->view) : std::vector<std::uint8_t>{};
  if (whole) {
    Require(whole->view.width == info->width && whole->view.height == info->height);
  }
  if (const auto again = fresh.Decode(all, {}); whole && options.strict) {
    Require(again && Copy(again->view) == pixels);
  }
  const auto region = decoder.Decode(part, {});
  // Without `strict`, pixels of a damaged file may depend on the region.
  if (region && whole && options.strict) {
    for (int y = 0; y < part.height; ++y) {
      const auto from =
          pixels.begin() + 3 * (static_cast<std::ptrdiff_t>(part.y + y) * all.width + part.x);
      Require(std::equal(from, from + std::ptrdiff_t{3} * part.width,
                         region->view.pixels + y * region->view.stride));
    }
  }
  for (const int denominator : {2, 4, 8}) {
    const auto reduced =
        decoder.Decode(part, {part.width / denominator, part.height / denominator});
    if (reduced) {
      Require(reduced->covers.x > part.x - 8 && reduced->covers.x <= part.x);
      Require(reduced->covers.y > part.y - 8 && reduced->covers.y <= part.y);
      (void)Copy(reduced->view);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const DecodeOptions strict_options = {
      .reduce = 1, .exif = true, .max_pixels = kMaxPixels, .max_scans = kMaxScans};
  static const DecodeOptions tolerant_options = {.fancy_upsampling = false,
                                                 .fast_dct = true,
                                                 .reduce = 1,
                                                 .strict = false,
                                                 .max_pixels = kMaxPixels,
                                                 .max_scans = kMaxScans};
  static JpegDecoder strict(strict_options);
  static JpegDecoder tolerant(tolerant_options);
  const auto file = std::as_bytes(std::span(data, size));
  DecodeWith(strict, strict_options, file);
  DecodeWith(tolerant, tolerant_options, file);
  RequireAgreement(strict_options, file);
  RequireAgreement(tolerant_options, file);
  return 0;
}
