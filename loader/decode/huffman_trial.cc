// SPDX-License-Identifier: Apache-2.0
#include "loader/decode/huffman_trial.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "loader/decode/huffman_decoder.h"
#include "loader/decode/jpeg_memory.h"

namespace penstock::loader {
namespace {

constexpr unsigned kWidth = 72;
constexpr unsigned kHeight = 56;
constexpr std::size_t kChannels = 3;
constexpr unsigned kRestartMcus = 7;

// Encodes the test picture to `out`. False if libjpeg gave up.
bool Encode(JpegErrors& errors, unsigned char** out, unsigned long* size) {  // NOLINT: libjpeg's
  jpeg_compress_struct cinfo = {};
  cinfo.err = &errors.base;
  const bool done = Guarded(errors, [&cinfo, out, size] {
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, out, size);
    cinfo.image_width = kWidth;
    cinfo.image_height = kHeight;
    cinfo.input_components = kChannels;
    cinfo.in_color_space = JCS_RGB;
    jpeg_set_defaults(&cinfo);  // 4:2:0
    jpeg_set_quality(&cinfo, 92, TRUE);
    cinfo.restart_interval = kRestartMcus;
    jpeg_start_compress(&cinfo, TRUE);
    std::uint32_t noise = 1;
    JSAMPLE row[kWidth * kChannels];  // NOLINT: plain memory, as a jump may pass it
    while (cinfo.next_scanline < cinfo.image_height) {
      for (JSAMPLE& sample : row) {
        noise = noise * 1664525U + 1013904223U;
        sample = static_cast<JSAMPLE>(noise >> (24 + noise % 4));
      }
      JSAMPROW rows = row;
      jpeg_write_scanlines(&cinfo, &rows, 1);
    }
    jpeg_finish_compress(&cinfo);
  });
  jpeg_destroy_compress(&cinfo);
  return done;
}

struct Part {
  unsigned scale;  // 1/scale
  bool narrow;     // leave out columns and rows
};

// Adds the pixels of a part to `out`. `huffman`: nullptr for libjpeg alone. False if libjpeg gave
// up or `huffman` could not be attached.
bool Decode(JpegErrors& errors, std::span<const std::byte> file, HuffmanDecoder* huffman,
            const Part& part, std::vector<std::uint8_t>& out) {
  jpeg_decompress_struct cinfo = {};
  jpeg_source_mgr source;
  cinfo.err = &errors.base;
  InitSource(source);
  SetSource(source, file);
  std::uint8_t pixels[kHeight * kWidth * kChannels] = {};  // NOLINT: a jump may pass it
  std::uint8_t* const begin = pixels;
  bool attached = huffman == nullptr;
  bool* const attached_pointer = &attached;
  const bool done = Guarded(errors, [&cinfo, &source, &part, huffman, begin, attached_pointer] {
    jpeg_create_decompress(&cinfo);
    cinfo.src = &source;
    jpeg_read_header(&cinfo, TRUE);
    cinfo.scale_denom = part.scale;
    jpeg_start_decompress(&cinfo);
    if (huffman != nullptr) {
      *attached_pointer = huffman->Attach(cinfo);
    }
    if (part.narrow) {
      JDIMENSION first = cinfo.output_width / 3;
      JDIMENSION width = cinfo.output_width / 3;
      jpeg_crop_scanline(&cinfo, &first, &width);
      if (huffman != nullptr) {
        huffman->KeepColumns(cinfo, first, width);
      }
      jpeg_skip_scanlines(&cinfo, cinfo.output_height / 2);
    }
    while (cinfo.output_scanline < cinfo.output_height) {
      JSAMPROW row = begin + std::size_t{cinfo.output_scanline} * cinfo.output_width * kChannels;
      jpeg_read_scanlines(&cinfo, &row, 1);
    }
  });
  jpeg_destroy_decompress(&cinfo);
  out.insert(out.end(), begin, begin + sizeof pixels);
  return done && attached;
}

bool Try() {
  JpegErrors errors;
  InitErrors(errors, true);
  unsigned char* encoded = nullptr;
  unsigned long size = 0;  // NOLINT: the type is libjpeg's
  bool fits = Encode(errors, &encoded, &size);
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(encoded), size);
  HuffmanDecoder huffman(0);
  for (const Part& part : {Part{1, false}, Part{1, true}, Part{2, true}, Part{8, false}}) {
    std::vector<std::uint8_t> expected;
    std::vector<std::uint8_t> found;
    fits = fits && Decode(errors, file, nullptr, part, expected) &&
           Decode(errors, file, &huffman, part, found) && expected == found;
  }
  std::free(encoded);  // NOLINT: libjpeg's malloc
  return fits;
}

}  // namespace

bool HuffmanSeamFits() {
  static const bool fits = Try();
  return fits;
}

}  // namespace penstock::loader
