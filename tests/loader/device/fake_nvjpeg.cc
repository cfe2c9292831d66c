// SPDX-License-Identifier: Apache-2.0
//
// A libnvjpeg that decodes on the CPU, for the emulated device. As strict as the real library: only
// engines decode batches, phases come in their order, a state serves one thread at a time. Like
// many devices it has no engines, unless PENSTOCK_FAKE_NVJPEG_ENGINES is set. Then it takes only
// baseline pictures, and refuses a whole batch if one picture is damaged. For each picture decoded
// in phases it writes a line to the file that PENSTOCK_FAKE_NVJPEG_LOG names: "cpu" or "gpu",
// whichever reads the codes.
#include <atomic>
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
struct DecoderTag {
  int backend = 0;
};
struct PinnedTag {
  nvjpeg::State holder = nullptr;  // the state whose codes are in the memory
};
struct BufferTag {};
struct StateTag {
  JpegDecoder decoder{penstock::loader::DecodeOptions{}};
  int batch = 0;
  // Used by the phases.
  nvjpeg::Decoder made_for = nullptr;
  nvjpeg::Pinned pinned = nullptr;
  nvjpeg::Buffer buffer = nullptr;
  enum class Phase { kNone, kRead, kSent } phase = Phase::kNone;
  JpegDecoder::Decoded image{};
  std::atomic<bool> in_use{false};
};
struct StreamTag {
  std::span<const std::byte> file;  // empty: only the headers were parsed
  int width = 0;
  int height = 0;
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

void Log(const char* what) {
  const char* path = std::getenv("PENSTOCK_FAKE_NVJPEG_LOG");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", what);
    std::fclose(file);
  }
}

// Notices if two threads use one state at a time.
class Use {
 public:
  explicit Use(nvjpeg::State state) : state_(state), alone_(!state->in_use.exchange(true)) {}
  ~Use() {
    if (alone_) state_->in_use = false;
  }
  [[nodiscard]] bool alone() const { return alone_; }

 private:
  nvjpeg::State state_;
  bool alone_;
};

void Put(const JpegDecoder::Decoded& decoded, const nvjpeg::Image& image) {
  for (int y = 0; y < decoded.view.height; ++y) {
    std::memcpy(image.channel[0] + static_cast<std::size_t>(y) * image.pitch[0],
                decoded.view.pixels + y * decoded.view.stride,
                3 * static_cast<std::size_t>(decoded.view.width));
  }
}

int Parse(const unsigned char* data, std::size_t length, nvjpeg::Parsed parsed) {
  JpegDecoder decoder{penstock::loader::DecodeOptions{}};
  const auto info = decoder.ReadHeader(Bytes(data, length));
  if (!info) return nvjpeg::kBadJpeg;
  parsed->file = {};
  parsed->width = info->width;
  parsed->height = info->height;
  parsed->progressive = info->progressive;
  return nvjpeg::kSuccess;
}

}  // namespace

extern "C" {

int nvjpegCreateEx(int backend, void* /*device*/, void* /*pinned*/, unsigned flags,
                   nvjpeg::Handle* handle) {
  if (flags != 0) return nvjpeg::kInvalidParameter;  // an older library
  if (backend == nvjpeg::kHardware && std::getenv("PENSTOCK_FAKE_NVJPEG_ENGINES") == nullptr) {
    return nvjpeg::kArchMismatch;
  }
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
  const int status = Parse(data, length, parsed);
  if (status == nvjpeg::kSuccess) parsed->file = Bytes(data, length);
  return status;
}

int nvjpegJpegStreamParseHeader(nvjpeg::Handle /*handle*/, const unsigned char* data,
                                std::size_t length, nvjpeg::Parsed parsed) {
  return Parse(data, length, parsed);
}

int nvjpegJpegStreamGetJpegEncoding(nvjpeg::Parsed parsed, int* encoding) {
  *encoding = parsed->progressive ? 0xC2 : nvjpeg::kEncodingBaseline;
  return nvjpeg::kSuccess;
}

int nvjpegJpegStreamGetFrameDimensions(nvjpeg::Parsed parsed, unsigned* width, unsigned* height) {
  *width = static_cast<unsigned>(parsed->width);
  *height = static_cast<unsigned>(parsed->height);
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

// Says yes without engines too, as the real library does.
int nvjpegDecodeBatchedSupportedEx(nvjpeg::Handle handle, nvjpeg::Parsed parsed,
                                   nvjpeg::Params /*params*/, int* not_supported) {
  *not_supported = handle->backend == nvjpeg::kHardware && parsed->progressive ? 1 : 0;
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
  if (handle->backend != nvjpeg::kHardware) return nvjpeg::kImplementationNotSupported;
  if (state->batch == 0) return nvjpeg::kNotInitialized;
  for (int i = 0; i < state->batch; ++i) {
    if (params[i]->format != nvjpeg::kOutputRgbInterleaved) return nvjpeg::kInvalidParameter;
    if (!state->decoder.ReadHeader(Bytes(data[i], lengths[i]))) return Refuse(state);
    const auto decoded = state->decoder.Decode(params[i]->region, {});
    if (!decoded) return Refuse(state);
    Put(*decoded, images[i]);
  }
  return nvjpeg::kSuccess;
}

int nvjpegGetHardwareDecoderInfo(nvjpeg::Handle handle, unsigned* engines, unsigned* cores) {
  *engines = handle->backend == nvjpeg::kHardware ? 2 : 0;
  *cores = *engines;
  return nvjpeg::kSuccess;
}

int nvjpegDecoderCreate(nvjpeg::Handle handle, int backend, nvjpeg::Decoder* decoder) {
  if (handle->backend != nvjpeg::kDefault) return nvjpeg::kInvalidParameter;
  *decoder = new nvjpeg::DecoderTag{backend};
  return nvjpeg::kSuccess;
}

int nvjpegDecoderDestroy(nvjpeg::Decoder decoder) {
  delete decoder;
  return nvjpeg::kSuccess;
}

int nvjpegDecoderStateCreate(nvjpeg::Handle /*handle*/, nvjpeg::Decoder decoder,
                             nvjpeg::State* state) {
  *state = new nvjpeg::StateTag;
  (*state)->made_for = decoder;
  return nvjpeg::kSuccess;
}

// Like the real library, says yes also to progressive pictures with codes for the GPU, although it
// cannot decode them.
int nvjpegDecoderJpegSupported(nvjpeg::Decoder /*decoder*/, nvjpeg::Parsed parsed,
                               nvjpeg::Params /*params*/, int* not_supported) {
  *not_supported = parsed->file.empty() ? 1 : 0;
  return nvjpeg::kSuccess;
}

int nvjpegBufferPinnedCreate(nvjpeg::Handle /*handle*/, void* /*allocator*/,
                             nvjpeg::Pinned* pinned) {
  *pinned = new nvjpeg::PinnedTag;
  return nvjpeg::kSuccess;
}

int nvjpegBufferPinnedDestroy(nvjpeg::Pinned pinned) {
  delete pinned;
  return nvjpeg::kSuccess;
}

int nvjpegBufferDeviceCreate(nvjpeg::Handle /*handle*/, void* /*allocator*/,
                             nvjpeg::Buffer* buffer) {
  *buffer = new nvjpeg::BufferTag;
  return nvjpeg::kSuccess;
}

int nvjpegBufferDeviceDestroy(nvjpeg::Buffer buffer) {
  delete buffer;
  return nvjpeg::kSuccess;
}

int nvjpegStateAttachPinnedBuffer(nvjpeg::State state, nvjpeg::Pinned pinned) {
  state->pinned = pinned;
  return nvjpeg::kSuccess;
}

int nvjpegStateAttachDeviceBuffer(nvjpeg::State state, nvjpeg::Buffer buffer) {
  state->buffer = buffer;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeJpegHost(nvjpeg::Handle /*handle*/, nvjpeg::Decoder decoder, nvjpeg::State state,
                         nvjpeg::Params params, nvjpeg::Parsed parsed) {
  const Use use(state);
  if (!use.alone()) return nvjpeg::kInternalError;
  if (state->made_for != decoder || state->pinned == nullptr || parsed->file.empty() ||
      params->format != nvjpeg::kOutputRgbInterleaved) {
    return nvjpeg::kInvalidParameter;
  }
  const bool gpu = decoder->backend == nvjpeg::kGpuHybrid;
  if (gpu && parsed->progressive) return nvjpeg::kNotSupported;
  state->phase = nvjpeg::StateTag::Phase::kNone;
  if (!state->decoder.ReadHeader(parsed->file)) return nvjpeg::kBadJpeg;
  const auto decoded = state->decoder.Decode(params->region, {});
  if (!decoded) return nvjpeg::kBadJpeg;
  Log(gpu ? "gpu" : "cpu");
  state->image = *decoded;
  state->pinned->holder = state;
  state->phase = nvjpeg::StateTag::Phase::kRead;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeJpegTransferToDevice(nvjpeg::Handle /*handle*/, nvjpeg::Decoder /*decoder*/,
                                     nvjpeg::State state, nvjpeg::Parsed /*parsed*/,
                                     nvjpeg::CudaStream /*stream*/) {
  const Use use(state);
  if (!use.alone()) return nvjpeg::kInternalError;
  if (state->phase != nvjpeg::StateTag::Phase::kRead || state->buffer == nullptr ||
      state->pinned->holder != state) {
    return nvjpeg::kInvalidParameter;
  }
  state->phase = nvjpeg::StateTag::Phase::kSent;
  return nvjpeg::kSuccess;
}

int nvjpegDecodeJpegDevice(nvjpeg::Handle /*handle*/, nvjpeg::Decoder /*decoder*/,
                           nvjpeg::State state, nvjpeg::Image* image,
                           nvjpeg::CudaStream /*stream*/) {
  const Use use(state);
  if (!use.alone()) return nvjpeg::kInternalError;
  if (state->phase != nvjpeg::StateTag::Phase::kSent) return nvjpeg::kInvalidParameter;
  Put(state->image, *image);
  state->phase = nvjpeg::StateTag::Phase::kNone;
  return nvjpeg::kSuccess;
}

}  // extern "C"
