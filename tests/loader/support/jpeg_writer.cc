// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/support/jpeg_writer.h"

#include <algorithm>
#include <cstdio>  // jpeglib.h needs size_t and FILE
#include <cstdlib>

#include <jpeglib.h>

namespace penstock::loader::test {
namespace {

// The default error manager prints and exits; for a test an abort is better.
void AbortOnError(j_common_ptr common) {
  (*common->err->output_message)(common);
  std::abort();
}

void WriteOrientation(j_compress_ptr cinfo, int orientation, bool big_endian) {
  std::vector<std::uint8_t> out = {'E', 'x', 'i', 'f', 0, 0};
  const auto number = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian ? bytes - 1 - i : i);
      out.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  };
  out.insert(out.end(), 2, big_endian ? 'M' : 'I');
  number(42, 2);
  number(8, 4);       // IFD0 follows
  number(2, 2);       // entries
  number(0x0100, 2);  // image width: a reader must skip it
  number(4, 2);
  number(1, 4);
  number(640, 4);
  number(0x0112, 2);  // orientation, one short
  number(3, 2);
  number(1, 4);
  number(static_cast<std::uint32_t>(orientation), 2);
  number(0, 2);
  number(0, 4);  // no further IFD
  jpeg_write_marker(cinfo, JPEG_APP0 + 1, out.data(), static_cast<unsigned>(out.size()));
}

std::vector<std::uint8_t> ToCmyk(std::span<const std::uint8_t> rgb, bool inverted) {
  std::vector<std::uint8_t> out;
  out.reserve(rgb.size() / 3 * 4);
  for (std::size_t i = 0; i + 2 < rgb.size(); i += 3) {
    const int white = std::max({rgb[i], rgb[i + 1], rgb[i + 2], std::uint8_t{1}});
    for (std::size_t c = 0; c < 3; ++c) {
      const int ink = 255 - rgb[i + c] * 255 / white;
      out.push_back(static_cast<std::uint8_t>(inverted ? 255 - ink : ink));
    }
    out.push_back(static_cast<std::uint8_t>(inverted ? white : 255 - white));
  }
  return out;
}

struct Colours {
  J_COLOR_SPACE input, file;
  int channels;
  bool adobe;
};
Colours ColoursOf(JpegColour colour) {
  switch (colour) {
    case JpegColour::kYcc:
      return {JCS_RGB, JCS_YCbCr, 3, false};
    case JpegColour::kRgb:
      return {JCS_RGB, JCS_RGB, 3, true};
    case JpegColour::kGrey:
      return {JCS_RGB, JCS_GRAYSCALE, 3, false};
    case JpegColour::kCmyk:
      return {JCS_CMYK, JCS_CMYK, 4, false};
    case JpegColour::kAdobeCmyk:
      return {JCS_CMYK, JCS_CMYK, 4, true};
    case JpegColour::kAdobeYcck:
      return {JCS_CMYK, JCS_YCCK, 4, true};
  }
  std::abort();
}

void Configure(j_compress_ptr cinfo, const JpegSpec& spec, const Colours& colours) {
  cinfo->image_width = static_cast<JDIMENSION>(spec.width);
  cinfo->image_height = static_cast<JDIMENSION>(spec.height);
  cinfo->input_components = colours.channels;
  cinfo->in_color_space = colours.input;
  jpeg_set_defaults(cinfo);
  jpeg_set_colorspace(cinfo, colours.file);
  if (!colours.adobe) {
    cinfo->write_Adobe_marker = FALSE;
  }
  jpeg_set_quality(cinfo, spec.quality, TRUE);
  for (int i = 0; i < cinfo->num_components; ++i) {
    cinfo->comp_info[i].h_samp_factor = cinfo->comp_info[i].v_samp_factor = 1;
  }
  for (int i = 0; i < cinfo->num_components; i += 3) {  // 0: luma or cyan, 3: black
    cinfo->comp_info[i].h_samp_factor = spec.sampling_x;
    cinfo->comp_info[i].v_samp_factor = spec.sampling_y;
  }
  cinfo->optimize_coding = spec.optimize ? TRUE : FALSE;
  cinfo->restart_in_rows = spec.restart_rows;
  cinfo->restart_interval = static_cast<unsigned>(spec.restart_blocks);
  if (spec.progressive) {
    jpeg_simple_progression(cinfo);
  }
}

}  // namespace

std::vector<std::uint8_t> MakePicture(int width, int height, std::uint32_t seed) {
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  std::uint32_t state = seed * 2654435761U + 12345U;
  const int phase = static_cast<int>(seed % 7) * 11;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      state = state * 1664525U + 1013904223U;
      const int noise = static_cast<int>(state >> 28);
      const int edge = ((x + phase) / 13 + y / 9) % 3 == 0 ? 90 : 0;
      out.push_back(static_cast<std::uint8_t>((x * 3 + y + phase + noise) % 166 + edge));
      out.push_back(static_cast<std::uint8_t>((x + y * 2 + noise) % 240 + noise));
      out.push_back(static_cast<std::uint8_t>(255 - ((x * y / 16 + phase) % 150 + edge + noise)));
    }
  }
  return out;
}

std::vector<std::byte> EncodeJpeg(const JpegSpec& spec, std::span<const std::uint8_t> rgb) {
  const Colours colours = ColoursOf(spec.colour);
  std::vector<std::uint8_t> converted;
  if (colours.channels == 4) {
    converted = ToCmyk(rgb, colours.adobe);
    rgb = converted;
  }
  const std::size_t stride =
      static_cast<std::size_t>(spec.width) * static_cast<std::size_t>(colours.channels);
  if (rgb.size() != stride * static_cast<std::size_t>(spec.height)) {
    std::abort();
  }

  jpeg_compress_struct cinfo = {};
  jpeg_error_mgr errors = {};
  cinfo.err = jpeg_std_error(&errors);
  errors.error_exit = AbortOnError;
  jpeg_create_compress(&cinfo);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: the type is libjpeg's
  jpeg_mem_dest(&cinfo, &bytes, &size);
  Configure(&cinfo, spec, colours);
  jpeg_start_compress(&cinfo, TRUE);
  if (spec.orientation != 0) {
    WriteOrientation(&cinfo, spec.orientation, spec.big_endian_exif);
  }
  std::vector<std::uint8_t> row(stride);  // libjpeg's rows are not const
  while (cinfo.next_scanline < cinfo.image_height) {
    const auto from = rgb.subspan(cinfo.next_scanline * stride, stride);
    std::copy(from.begin(), from.end(), row.begin());
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&cinfo, &pointer, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  const auto file = std::as_bytes(std::span(bytes, size));
  std::vector<std::byte> out(file.begin(), file.end());
  std::free(bytes);  // NOLINT: libjpeg's malloc
  return out;
}

std::vector<std::byte> MakeJpeg(const JpegSpec& spec, std::uint32_t seed) {
  return EncodeJpeg(spec, MakePicture(spec.width, spec.height, seed));
}

PlainImage DecodePlain(std::span<const std::byte> file, const PlainOptions& options) {
  jpeg_decompress_struct cinfo = {};
  jpeg_error_mgr errors = {};
  cinfo.err = jpeg_std_error(&errors);
  errors.error_exit = AbortOnError;
  jpeg_create_decompress(&cinfo);
  std::vector<unsigned char> copy(file.size());
  std::transform(file.begin(), file.end(), copy.begin(),
                 [](std::byte b) { return std::to_integer<unsigned char>(b); });
  jpeg_mem_src(&cinfo, copy.data(), copy.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = cinfo.num_components == 4 ? JCS_CMYK : JCS_RGB;
  cinfo.scale_num = 1;
  cinfo.scale_denom = static_cast<unsigned>(options.denominator);
  cinfo.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
  cinfo.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_start_decompress(&cinfo);
  PlainImage out;
  out.width = static_cast<int>(cinfo.output_width);
  out.height = static_cast<int>(cinfo.output_height);
  out.channels = cinfo.output_components;
  const std::size_t stride = cinfo.output_width * static_cast<std::size_t>(cinfo.output_components);
  out.pixels.resize(stride * cinfo.output_height);
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = out.pixels.data() + cinfo.output_scanline * stride;
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  return out;
}

}  // namespace penstock::loader::test
