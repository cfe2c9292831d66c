// SPDX-License-Identifier: Apache-2.0
//
// The entropy decoding of baseline JPEG, put in the place of libjpeg's own for the length of one
// picture; everything after it (inverse DCT, upsampling, colour) stays libjpeg's. Two coefficients
// come out of one look at a table, and blocks outside of the region are passed over without being
// decoded at all. Coefficients are the same, bit for bit. For loader/decode alone.
//
// It takes undamaged data only: whatever is out of order makes it give up, and the picture is to be
// decoded again by libjpeg, which knows what to say about it.
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
  // Files of fewer bytes than `worth_bytes`, with Huffman tables that the file before did not have,
  // are left to libjpeg: look-up tables for them would cost more than they save.
  explicit HuffmanDecoder(std::size_t worth_bytes);
  ~HuffmanDecoder();
  HuffmanDecoder(const HuffmanDecoder&) = delete;
  HuffmanDecoder& operator=(const HuffmanDecoder&) = delete;

  // Takes over the scan that `cinfo` stands before, if it is one that this can do: Huffman codes,
  // sequential, 8 bits, all components in one scan, worth it. False leaves `cinfo` as it was.
  //
  // Requires: jpeg_start_decompress() has returned and no row was read; the source holds the rest
  //           of the file; cinfo.client_data is not used otherwise.
  bool Attach(jpeg_decompress_struct& cinfo);

  // Only the columns that libjpeg has been narrowed to are wanted from now on.
  //
  // Units:    output pixels, as jpeg_crop_scanline() gave them back
  // Requires: no row was read.
  void KeepColumns(const jpeg_decompress_struct& cinfo, JDIMENSION first, JDIMENSION width);

  // Whether the error that libjpeg jumped with is no error of the file: decode it again without
  // this. False again after the next Attach().
  [[nodiscard]] bool gave_up() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::loader
