// SPDX-License-Identifier: Apache-2.0
//
// A libnvjpeg that decodes on the CPU, for the emulated device: baseline pictures alone, as the
// hardware; without JPEG engines, as many devices; and a batch with a damaged picture is refused as
// a whole. Counts what it is asked for in a file that PENSTOCK_FAKE_NVJPEG_LOG names.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "cuda/nvjpeg_api.h"
#include "loader/decode/jpeg_decoder.h"

namespace nvjpeg = penstock::cuda::nvjpeg;
using penstock::loader::JpegDecoder;

namespace penstock::cuda::nvjpeg {

struct HandleTag {
  int backend = 0;
};
struct StateTag {
  JpegDecoder decoder{penstock::loader::DecodeOptions{}};
  int batch = 0;
};
struct StreamTag {
  bool progressive = false;
};
struct ParamsTag {
  int format = 0;
  penstock::loader::Region region;
};

}  // namespace penstock::cuda::nvjpeg

namespace {

std::span<const std::byte> Bytes(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

void Log(const char* what, int number) {
  const char* path = std::getenv("PENSTOCK_FAKE_NVJPEG_LOG");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s %d\n", what, number);
    std::fclose(file);
  }
}

}  // namespace

extern "C" {

int nvjpegCreateEx(int backend, void* /*device*/, void* /*pinned*/, unsigned flags,
                   nvjpeg::Handle* handle) {
  if (flags != 0) return nvjpeg::kInvalidParameter;  // an older library
  if (backend == nvjpeg::kHardware) return nvjpeg::kArchMismatch;
  *handle = new nvjpeg::HandleTag{backend};
  return nvjpeg::kSuccess;
}

int nvjpegDestroy(nvjpeg::Handle handle) {
  delete handle;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStateCreate(nvjpeg::Handle /*handle*/, nvjpeg::State* state) {
  *state = new nvjpeg::StateTag;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStateDestroy(nvjpeg::State state) {
  delete state;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStreamCreate(nvjpeg::Handle /*handle*/, nvjpeg::Parsed* parsed) {
  *parsed = new nvjpeg::StreamTag;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStreamDestroy(nvjpeg::Parsed parsed) {
  delete parsed;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStreamParse(nvjpeg::Handle /*handle*/, const unsigned char* data, std::size_t length,
                          int /*metadata*/, int /*stream*/, nvjpeg::Parsed parsed) {
  JpegDecoder decoder{penstock::loader::DecodeOptions{}};
  const auto info = decoder.ReadHeader(Bytes(data, length));
  if (!info) return nvjpeg::kBadJpeg;
  parsed->progressive = info->progressive;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeParamsCreate(nvjpeg::Handle /*handle*/, nvjpeg::Params* params) {
  *params = new nvjpeg::ParamsTag;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeParamsDestroy(nvjpeg::Params params) {
  delete params;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeParamsSetOutputFormat(nvjpeg::Params params, int format) {
  params->format = format;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeParamsSetROI(nvjpeg::Params params, int x, int y, int width, int height) {
  if (x < 0 || y < 0 || width < 1 || height < 1) return nvjpeg::kInvalidParameter;
  params->region = {x, y, width, height};
  return nvjpeg::kSuccess;
}

int nvjpegDecodeBatchedSupportedEx(nvjpeg::Handle /*handle*/, nvjpeg::Parsed parsed,
                                   nvjpeg::Params /*params*/, int* not_supported) {
  *not_supported = parsed->progressive ? 1 : 0;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeBatchedInitialize(nvjpeg::Handle /*handle*/, nvjpeg::State state, int batch,
                                  int cpu_threads, int format) {
  if (batch < 1 || cpu_threads < 1 || format != nvjpeg::kOutputRgbInterleaved) {
    return nvjpeg::kInvalidParameter;
  }
  state->batch = batch;
  return nvjpeg::kSuccess;
}

// After a refusal a batch must be begun anew.
static int Refuse(nvjpeg::State state) {
  state->batch = 0;
  return nvjpeg::kBadJpeg;
}

int nvjpegDecodeBatchedEx(nvjpeg::Handle handle, nvjpeg::State state,
                          const unsigned char* const* data, const std::size_t* lengths,
                          nvjpeg::Image* images, nvjpeg::Params* params,
                          nvjpeg::CudaStream /*stream*/) {
  Log(handle->backend == nvjpeg::kGpuHybrid ? "gpu-hybrid" : "hybrid", state->batch);
  if (state->batch == 0) return nvjpeg::kNotInitialized;
  for (int i = 0; i < state->batch; ++i) {
    if (params[i]->format != nvjpeg::kOutputRgbInterleaved) return nvjpeg::kInvalidParameter;
    if (!state->decoder.ReadHeader(Bytes(data[i], lengths[i]))) return Refuse(state);
    const auto decoded = state->decoder.Decode(params[i]->region, {});
    if (!decoded) return Refuse(state);
    for (int y = 0; y < decoded->view.height; ++y) {
      std::memcpy(images[i].channel[0] + static_cast<std::size_t>(y) * images[i].pitch[0],
                  decoded->view.pixels + y * decoded->view.stride,
                  3 * static_cast<std::size_t>(decoded->view.width));
    }
  }
  return nvjpeg::kSuccess;
}

}  // extern "C"
