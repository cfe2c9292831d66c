// SPDX-License-Identifier: Apache-2.0
//
// Decodes JPEG files to RGB pixels with libjpeg-turbo and our own decoder for Huffman codes: the
// whole picture or a region of it, at full or reduced size. There is one decoder for each thread.
// It owns the pixels that it returns and one libjpeg instance, and uses both for every file, so its
// memory grows to the largest region and stays. A bad file gives an Error that does not name the
// file (the caller knows it) and leaves the decoder usable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loader/decode/image.h"
#include "traces/base/result.h"

namespace penstock::loader {

struct DecodeOptions {
  bool fancy_upsampling = true;  // chroma interpolated, as Pillow and torchvision do
  // Whether our own decoder reads Huffman codes, which gives the same pixels faster than libjpeg's.
  bool own_huffman = true;
  // Building look-up tables for new Huffman codes is worth it from this many bytes after the header
  // on.
  std::size_t own_huffman_from = 24 << 10;
  bool fast_dct = false;  // 3 % faster, 4 to 6 dB worse at quality 97; for comparison
  // 0: always decode at full size. q >= 1: decode at the smallest of 1/2, 1/4 and 1/8 that leaves
  // at least q times the pixels wanted along each side. (At libjpeg's other ratios decoding is
  // slower than at full size.)
  double reduce = 0;
  bool exif = false;  // apply the EXIF orientation
  // Whether libjpeg's warning that data is corrupt makes the file an error. If not, the warning is
  // counted and the pixels are what libjpeg makes of the data. A truncated file is always an error.
  bool strict = true;
  std::uint64_t max_pixels = 178'956'970;  // Pillow's limit
  int max_scans = 100;                     // some kilobytes with many scans can take hours
};

class JpegDecoder {
 public:
  explicit JpegDecoder(const DecodeOptions& options);
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&&) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) noexcept;

  // Reads the header of the JPEG file in `file`.
  //
  // Requires: `file` outlives the Decode() calls that follow.
  // Errors:   kInput: empty, no JPEG, truncated (no end marker), damaged, more than max_pixels;
  //           kEnvironment: no memory.
  [[nodiscard]] Result<ImageInfo> ReadHeader(std::span<const std::byte> file);

  // Pixel (i, j) of `view` shows the picture's `denominator` x `denominator` pixels that begin at
  // (covers.x + i * denominator, covers.y + j * denominator). Without reduction `covers` is the
  // region asked for. With it `covers` is widened to whole pixels of the view, so it can begin or
  // end outside the picture, by less than `denominator`.
  struct Decoded {
    ImageView view;
    Region covers;
    int denominator = 1;
  };

  // Decodes `region` of the file whose header was read last; may be called again for another
  // region. Pixels are the same, bit for bit, as those of the whole picture decoded at that size.
  //
  // Shapes:   target: pixels wanted over the region, for DecodeOptions::reduce; {} never reduces.
  // Requires: ReadHeader() of this file succeeded.
  // Errors:   kInput: data that the region needs is truncated or damaged, or more than max_scans;
  //           kUsage: the region is not inside the picture, or no header was read; kEnvironment: no
  //           memory.
  // Lifetime: the view is valid until the next call; kReadablePadding bytes after it may be read.
  [[nodiscard]] Result<Decoded> Decode(const Region& region, Size target);

  // Bytes after the last pixel of a view that a vector load may touch; their values mean nothing.
  static constexpr std::size_t kReadablePadding = 64;

  // Warnings of libjpeg since construction, whether they made a file an error or not.
  [[nodiscard]] std::uint64_t warnings() const;
  // The number of pictures and regions whose Huffman codes our own decoder has read. It reads only
  // undamaged baseline files.
  [[nodiscard]] std::uint64_t own_huffman_decodes() const;
  // Bytes of pixels held: what the largest region so far needed.
  [[nodiscard]] std::size_t buffer_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
