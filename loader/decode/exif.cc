// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/exif.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace penstock::loader {
namespace {

constexpr unsigned kApp1 = 0xE1;
constexpr unsigned kStartOfScan = 0xDA;
constexpr unsigned kEndOfImage = 0xD9;
constexpr std::uint32_t kTagOrientation = 0x0112;
constexpr std::uint32_t kTypeShort = 3;

[[nodiscard]] unsigned At(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

// TEM and the restart markers, which have no length after them.
[[nodiscard]] bool StandsAlone(unsigned marker) {
  return marker == 0x01 || (marker & 0xF8) == 0xD0;
}

// Reads unsigned numbers of a TIFF block. Requires: they lie inside it.
struct Tiff {
  std::span<const std::byte> bytes;
  bool big_endian;

  [[nodiscard]] std::uint32_t Number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | At(bytes, big_endian ? at + i : at + size - 1 - i);
    }
    return value;
  }
};

// `block` is what follows "Exif\0\0". Source: TIFF 6.0, section 2.
int OrientationOfTiff(std::span<const std::byte> block) {
  if (block.size() < 14 || At(block, 0) != At(block, 1) ||
      (At(block, 0) != 'I' && At(block, 0) != 'M')) {
    return 1;
  }
  const Tiff tiff{block, At(block, 0) == 'M'};
  const std::size_t directory = tiff.Number(4, 4);
  if (tiff.Number(2, 2) != 42 || directory > block.size() - 2) {
    return 1;
  }
  const std::size_t fits = (block.size() - directory - 2) / 12;
  const std::size_t entries = std::min<std::size_t>(tiff.Number(directory, 2), fits);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (tiff.Number(entry, 2) == kTagOrientation) {
      const bool one_short =
          tiff.Number(entry + 2, 2) == kTypeShort && tiff.Number(entry + 4, 4) == 1;
      const std::uint32_t value = tiff.Number(entry + 8, 2);
      return one_short && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
  }
  return 1;
}

// Copies the pixels (x, y0) to (x, y1 - 1) of a column to the places y0 to y1 - 1 of a row.
void ColumnToRow(const ImageView& from, int x, int y0, int y1, std::uint8_t* row) {
  const std::uint8_t* in = from.pixels + y0 * from.stride + std::ptrdiff_t{3} * x;
  std::uint8_t* out = row + std::ptrdiff_t{3} * y0;
  for (int y = y0; y < y1; ++y, in += from.stride, out += 3) {
    out[0] = in[0];
    out[1] = in[1];
    out[2] = in[2];
  }
}

}  // namespace

int ExifOrientation(std::span<const std::byte> file) {
  constexpr std::array<char, 6> kExif = {'E', 'x', 'i', 'f', 0, 0};
  std::size_t at = 2;  // after SOI
  while (at + 4 <= file.size()) {
    const unsigned marker = At(file, at + 1);
    if (At(file, at) != 0xFF || marker == 0xFF || marker == 0) {  // stray or fill byte
      ++at;
      continue;
    }
    if (StandsAlone(marker)) {
      at += 2;
      continue;
    }
    if (marker == kStartOfScan || marker == kEndOfImage) {
      break;
    }
    const std::size_t length = At(file, at + 2) << 8 | At(file, at + 3);
    if (length < 2 || at + 2 + length > file.size()) {
      break;
    }
    const auto body = file.subspan(at + 4, length - 2);
    if (marker == kApp1 && body.size() > kExif.size() &&
        std::memcmp(body.data(), kExif.data(), kExif.size()) == 0) {
      return OrientationOfTiff(body.subspan(kExif.size()));
    }
    at += 2 + length;
  }
  return 1;
}

Orientation Orientation::Of(int exif) {
  constexpr std::array<Orientation, 8> kAll = {{
      {false, false, false},  // 1: as stored
      {false, true, false},   // 2: mirrored
      {false, true, true},    // 3: upside down
      {false, false, true},   // 4: mirrored, upside down
      {true, false, false},   // 5: transposed
      {true, false, true},    // 6: needs a turn clockwise
      {true, true, true},     // 7: transposed along the other diagonal
      {true, true, false},    // 8: needs a turn anticlockwise
  }};
  return kAll.at(static_cast<std::size_t>(exif - 1));
}

Size Orientation::Seen(Size stored) const {
  return transpose ? Size{stored.height, stored.width} : stored;
}

Region Orientation::ToStored(const Region& seen, Size stored) const {
  Region out = seen;
  if (transpose) {
    out = {seen.y, seen.x, seen.height, seen.width};
  }
  if (flip_columns) {
    out.x = stored.width - (out.x + out.width);
  }
  if (flip_rows) {
    out.y = stored.height - (out.y + out.height);
  }
  return out;
}

Region Orientation::ToSeen(const Region& stored_region, Size stored) const {
  Region out = stored_region;
  if (flip_columns) {
    out.x = stored.width - (out.x + out.width);
  }
  if (flip_rows) {
    out.y = stored.height - (out.y + out.height);
  }
  return transpose ? Region{out.y, out.x, out.height, out.width} : out;
}

void ReverseRow(std::uint8_t* row, int width) {
  std::uint8_t* left = row;
  std::uint8_t* right = row + std::ptrdiff_t{3} * (width - 1);
  for (; left < right; left += 3, right -= 3) {
    std::swap_ranges(left, left + 3, right);
  }
}

void Transpose(const ImageView& from, std::uint8_t* to, std::ptrdiff_t to_stride) {
  constexpr int kTile = 32;  // 32 rows of 96 bytes of both pictures stay in the first-level cache
  for (int y0 = 0; y0 < from.height; y0 += kTile) {
    const int y1 = std::min(y0 + kTile, from.height);
    for (int x0 = 0; x0 < from.width; x0 += kTile) {
      const int x1 = std::min(x0 + kTile, from.width);
      for (int x = x0; x < x1; ++x) {
        ColumnToRow(from, x, y0, y1, to + x * to_stride);
      }
    }
  }
}

}  // namespace penstock::loader
