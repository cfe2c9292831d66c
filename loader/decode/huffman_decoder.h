// SPDX-License-Identifier: Apache-2.0
//
// Decodes the Huffman codes of baseline JPEG in place of libjpeg's own decoder, for one picture at
// a time. Everything after it (inverse DCT, upsampling, colour) stays libjpeg's. One look-up gives
// up to two coefficients, and blocks outside the region are skipped without computing their
// coefficients. Coefficients are the same, bit for bit. For loader/decode alone.
//
// It decodes undamaged data only. At anything unexpected it gives up. Then libjpeg must decode the
// picture again and reports what is wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs size_t and FILE
#include <memory>

#include <jpeglib.h>

namespace penstock::loader {

class HuffmanDecoder {
 public:
  // A file with fewer than `worth_bytes` bytes after its header is left to libjpeg if one of its
  // Huffman tables is neither that of the file before nor the one built last: building look-up
  // tables for it would cost more than they save.
  explicit HuffmanDecoder(std::size_t worth_bytes);
  ~HuffmanDecoder();
  HuffmanDecoder(const HuffmanDecoder&) = delete;
  HuffmanDecoder& operator=(const HuffmanDecoder&) = delete;

  // Takes over the scan before which `cinfo` stands, if this class can decode it (Huffman codes,
  // sequential, 8 bits, all components in one scan) and the tables are worth building. If not,
  // returns false and leaves `cinfo` as it was.
  //
  // Requires: jpeg_start_decompress() has returned and no row was read; the source holds the rest
  //           of the file; cinfo.client_data is not used otherwise.
  bool Attach(jpeg_decompress_struct& cinfo);

  // From now on decodes only the columns to which libjpeg was narrowed.
  //
  // Units:    output pixels, as jpeg_crop_scanline() gave them back
  // Requires: no row was read.
  void KeepColumns(const jpeg_decompress_struct& cinfo, JDIMENSION first, JDIMENSION width);

  // Whether libjpeg jumped because this class gave up, so that the file must be decoded again
  // without it. False again after the next Attach().
  [[nodiscard]] bool gave_up() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
