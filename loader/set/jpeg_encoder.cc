// SPDX-License-Identifier: Apache-2.0
#include "loader/set/jpeg_encoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

namespace penstock::loader {
namespace {

struct Errors {
  jpeg_error_mgr base;  // first: libjpeg knows only this part
  std::jmp_buf out;
  char message[JMSG_LENGTH_MAX];
};

extern "C" [[noreturn]] void LeaveEncoder(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  errors->base.format_message(info, errors->message);
  std::longjmp(errors->out, 1);
}

extern "C" void IgnoreEncoderMessage(j_common_ptr, int) {}

// An error jumps back to setjmp, past the end of the scopes in between. So nothing in here has a
// destructor.
bool Compress(jpeg_compress_struct& info, Errors& errors, const ImageView& image, int quality,
              Subsampling subsampling) {
  if (setjmp(errors.out) != 0) {
    jpeg_abort_compress(&info);
    return false;
  }
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.comp_info[0].h_samp_factor = subsampling == Subsampling::k444 ? 1 : 2;
  info.comp_info[0].v_samp_factor = subsampling == Subsampling::k420 ? 2 : 1;
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    const std::uint8_t* row =
        image.pixels + static_cast<std::ptrdiff_t>(info.next_scanline) * image.stride;
    JSAMPROW rows[1] = {const_cast<JSAMPROW>(row)};  // libjpeg does not write to it
    jpeg_write_scanlines(&info, rows, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

// At least as many bytes as any baseline JPEG of this size takes, by TurboJPEG's formula (tjBufSize
// for 4:4:4).
std::size_t Bound(const ImageView& image) {
  const auto padded = [](int side) { return (static_cast<std::size_t>(side) + 15) / 16 * 16; };
  return padded(image.width) * padded(image.height) * 6 + 2048;
}

}  // namespace

struct JpegEncoder::State {
  jpeg_compress_struct info{};
  Errors errors{};
  std::unique_ptr<unsigned char[]> buffer;
  std::size_t capacity = 0;
};

JpegEncoder::JpegEncoder() : state_(std::make_unique<State>()) {
  state_->info.err = jpeg_std_error(&state_->errors.base);
  state_->errors.base.error_exit = LeaveEncoder;
  state_->errors.base.emit_message = IgnoreEncoderMessage;
  jpeg_create_compress(&state_->info);
}

JpegEncoder::~JpegEncoder() {
  jpeg_destroy_compress(&state_->info);
}

Result<std::span<const std::byte>> JpegEncoder::Encode(const ImageView& image, int quality,
                                                       Subsampling subsampling) {
  State& state = *state_;
  const std::size_t bound = Bound(image);
  if (bound > state.capacity) {
    state.buffer.reset(new unsigned char[bound]);  // not zeroed, since most of it is never touched
    state.capacity = bound;
  }
  unsigned char* data = state.buffer.get();
  unsigned long size = state.capacity;
  jpeg_mem_dest(&state.info, &data, &size);
  if (!Compress(state.info, state.errors, image, quality, subsampling)) {
    return Fail(ErrorKind::kInput, std::string("cannot be encoded: ") + state.errors.message);
  }
  if (data != state.buffer.get()) {  // libjpeg has allocated a larger buffer
    state.buffer.reset(new unsigned char[size]);
    state.capacity = size;
    std::copy_n(data, size, state.buffer.get());
    std::free(data);
  }
  return std::as_bytes(std::span(state.buffer.get(), size));
}

}  // namespace penstock::loader
