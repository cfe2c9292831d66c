// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg_slot.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace penstock::cuda {
namespace {

using nvjpeg::Check;
using nvjpeg::CheckOfFile;

// From this many pixels on, a GPU reads a picture's Huffman codes faster than a core does. The
// number is the default of nvImageCodec and DALI (hybrid_huffman_threshold).
constexpr std::uint64_t kGpuCodesFrom = 1'000'000;

}  // namespace

Result<JpegSlot> JpegSlot::Make(const nvjpeg::Library& library, nvjpeg::Handle handle,
                                JpegBackend backend, Device& device) {
  JpegSlot slot(library, handle);
  PENSTOCK_TRY(slot.Begin(backend, device));
  return slot;
}

Result<JpegSlot::Way> JpegSlot::MakeWay(int backend) const {
  const nvjpeg::Api& api = library_->api();
  nvjpeg::Decoder decoder = nullptr;
  if (const int status = api.DecoderCreate(handle_, backend, &decoder);
      status != nvjpeg::kSuccess) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("nvJPEG: this device has no {} decoding: {} ({})",
                            backend == nvjpeg::kGpuHybrid ? "gpu-hybrid" : "hybrid",
                            nvjpeg::StatusName(status), status));
  }
  Way way;
  way.decoder = {decoder, api.DecoderDestroy};
  nvjpeg::State state = nullptr;
  PENSTOCK_TRY(Check(api.DecoderStateCreate(handle_, decoder, &state), "state"));
  way.state = {state, api.JpegStateDestroy};
  return way;
}

Result<void> JpegSlot::Begin(JpegBackend backend, Device& device) {
  const nvjpeg::Api& api = library_->api();
  auto parsed = library_->MakeParsed(handle_);
  PENSTOCK_TRY(parsed);
  parsed_ = std::move(*parsed);
  auto params = library_->MakeParams(handle_);
  PENSTOCK_TRY(params);
  params_ = std::move(*params);
  nvjpeg::Pinned pinned = nullptr;
  if (Result<void> made = Check(api.BufferPinnedCreate(handle_, nullptr, &pinned), "pinned memory");
      !made) {
    return made;
  }
  pinned_ = {pinned, api.BufferPinnedDestroy};
  nvjpeg::Buffer buffer = nullptr;
  if (Result<void> made = Check(api.BufferDeviceCreate(handle_, nullptr, &buffer), "memory");
      !made) {
    return made;
  }
  buffer_ = {buffer, api.BufferDeviceDestroy};
  auto cpu_codes = MakeWay(nvjpeg::kHybrid);
  PENSTOCK_TRY(cpu_codes);
  cpu_codes_ = std::move(*cpu_codes);
  if (backend == JpegBackend::kGpuHybrid) {
    auto gpu_codes = MakeWay(nvjpeg::kGpuHybrid);
    PENSTOCK_TRY(gpu_codes);
    gpu_codes_ = std::move(*gpu_codes);
  }
  auto stream = device.MakeStream();
  PENSTOCK_TRY(stream);
  stream_ = std::move(*stream);
  return {};
}

Result<void> JpegSlot::Finish() {
  if (!std::exchange(in_flight_, false)) return {};
  if (Result<void> waited = stream_->Wait(kDecoded); !waited) return waited;
  const Result<TimeNs> begun = stream_->SinceAnchor(kBegun);
  const Result<TimeNs> ended = stream_->SinceAnchor(kDecoded);
  if (begun && ended) stretches_.emplace_back(*begun, *ended);
  return {};
}

std::vector<std::pair<TimeNs, TimeNs>> JpegSlot::TakeStretches() {
  if (!Finish()) stretches_.clear();
  return std::exchange(stretches_, {});
}

Result<void> JpegSlot::Parse(const JpegPicture& picture) {
  // The last picture may still use the slot's memory.
  if (Result<void> finished = Finish(); !finished) return finished;
  const nvjpeg::Api& api = library_->api();
  const Box& region = picture.region;
  if (Result<void> set = Check(
          api.DecodeParamsSetROI(params_.get(), region.x, region.y, region.width, region.height),
          "region");
      !set) {
    return set;
  }
  return CheckOfFile(api.JpegStreamParse(handle_, nvjpeg::DataOf(picture.file), picture.file.size(),
                                         0, 0, parsed_.get()),
                     "headers");
}

bool JpegSlot::Supports(const Way& way) const {
  int unsupported = 1;
  return library_->api().DecoderJpegSupported(way.decoder.get(), parsed_.get(), params_.get(),
                                              &unsupported) == nvjpeg::kSuccess &&
         unsupported == 0;
}

// True only for large baseline pictures. nvJPEG's decoder for codes on the GPU claims to accept
// other encodings too, but does not decode them.
bool JpegSlot::IsForGpuCodes() const {
  const nvjpeg::Api& api = library_->api();
  int encoding = 0;
  unsigned width = 0;
  unsigned height = 0;
  return gpu_codes_.decoder != nullptr &&
         api.JpegStreamGetJpegEncoding(parsed_.get(), &encoding) == nvjpeg::kSuccess &&
         encoding == nvjpeg::kEncodingBaseline &&
         api.JpegStreamGetFrameDimensions(parsed_.get(), &width, &height) == nvjpeg::kSuccess &&
         std::uint64_t{width} * height >= kGpuCodesFrom;
}

const JpegSlot::Way* JpegSlot::Choose() const {
  if (IsForGpuCodes() && Supports(gpu_codes_)) return &gpu_codes_;
  return Supports(cpu_codes_) ? &cpu_codes_ : nullptr;
}

bool JpegSlot::Takes(const JpegPicture& picture) {
  return Parse(picture) && Choose() != nullptr;
}

Result<void> JpegSlot::Decode(const JpegPicture& picture) {
  const nvjpeg::Api& api = library_->api();
  if (Result<void> parsed = Parse(picture); !parsed) return parsed;
  const Way* way = Choose();
  if (way == nullptr) return CheckOfFile(nvjpeg::kNotSupported, "kind of picture");
  nvjpeg::Decoder decoder = way->decoder.get();
  nvjpeg::State state = way->state.get();
  if (Result<void> attached =
          Check(api.StateAttachPinnedBuffer(state, pinned_.get()), "pinned memory");
      !attached) {
    return attached;
  }
  if (Result<void> attached = Check(api.StateAttachDeviceBuffer(state, buffer_.get()), "memory");
      !attached) {
    return attached;
  }
  if (Result<void> read =
          CheckOfFile(api.DecodeJpegHost(handle_, decoder, state, params_.get(), parsed_.get()),
                      "the CPU's part of decoding");
      !read) {
    return read;
  }
  if (Result<void> marked = stream_->Mark(kBegun); !marked) return marked;
  nvjpeg::Image image{};
  image.channel[0] = picture.pixels;
  image.pitch[0] = picture.pitch;
  int status =
      api.DecodeJpegTransferToDevice(handle_, decoder, state, parsed_.get(), stream_->native());
  if (status == nvjpeg::kSuccess) {
    status = api.DecodeJpegDevice(handle_, decoder, state, &image, stream_->native());
  }
  // Set after a failure too, since part of the picture's work may be queued.
  in_flight_ = true;
  if (Result<void> marked = stream_->Mark(kDecoded); !marked) return marked;
  return CheckOfFile(status, "the GPU's part of decoding");
}

}  // namespace penstock::cuda
