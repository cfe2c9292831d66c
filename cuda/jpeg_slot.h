// SPDX-License-Identifier: Apache-2.0
//
// What nvJPEG needs to decode one picture in phases: the CPU's with the file, then the GPU's on a
// stream of the slot's own. Private to cuda/. One thread at a time; a picture that is begun while
// the GPU is at the last one waits for that.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/jpeg.h"
#include "cuda/nvjpeg_library.h"

namespace penstock::cuda {

class JpegSlot {
 public:
  // The mark of stream() behind the last picture, after the one before the GPU's part of it.
  static constexpr unsigned kDecoded = 1;

  // `handle`, `library` and `device` outlive this. Errors: kEnvironment, also that the device lacks
  // the backend.
  [[nodiscard]] static Result<JpegSlot> Make(const nvjpeg::Library& library, nvjpeg::Handle handle,
                                             JpegBackend backend, Device& device);

  // Parses the picture's headers. Returns whether a decoder takes it.
  [[nodiscard]] bool Takes(const JpegPicture& picture);
  // Reads the codes with the CPU, or leaves them to the GPU; queues the rest and marks its end.
  // Errors: kInput: the file; kEnvironment.
  [[nodiscard]] Result<void> Decode(const JpegPicture& picture);
  [[nodiscard]] Stream& stream() { return *stream_; }
  // When the GPU was at the pictures decoded since the last call, from the device's anchor on.
  // Waits for the last of them.
  [[nodiscard]] std::vector<std::pair<TimeNs, TimeNs>> TakeStretches();

 private:
  static constexpr unsigned kBegun = 0;

  // Codes by the CPU, and by the GPU.
  struct Way {
    nvjpeg::Owned<nvjpeg::DecoderTag> decoder{nullptr, nullptr};
    nvjpeg::Owned<nvjpeg::StateTag> state{nullptr, nullptr};
  };

  JpegSlot(const nvjpeg::Library& library, nvjpeg::Handle handle)
      : library_(&library), handle_(handle) {}
  [[nodiscard]] Result<void> Begin(JpegBackend backend, Device& device);
  [[nodiscard]] Result<Way> MakeWay(int backend) const;
  [[nodiscard]] Result<void> Finish();  // the picture that is in flight
  [[nodiscard]] Result<void> Parse(const JpegPicture& picture);
  // Requires: Parse(). nullptr: neither takes it.
  [[nodiscard]] const Way* Choose() const;
  [[nodiscard]] bool Supports(const Way& way) const;
  [[nodiscard]] bool IsForGpuCodes() const;

  const nvjpeg::Library* library_;
  nvjpeg::Handle handle_;
  nvjpeg::Owned<nvjpeg::StreamTag> parsed_{nullptr, nullptr};
  nvjpeg::Owned<nvjpeg::ParamsTag> params_{nullptr, nullptr};
  nvjpeg::Owned<nvjpeg::PinnedTag> pinned_{nullptr, nullptr};
  nvjpeg::Owned<nvjpeg::BufferTag> buffer_{nullptr, nullptr};
  Way cpu_codes_;
  Way gpu_codes_;  // empty where the backend has none
  bool in_flight_ = false;
  std::vector<std::pair<TimeNs, TimeNs>> stretches_;
  std::unique_ptr<Stream> stream_;  // the last member: ended first, when the GPU uses all of these
};

}  // namespace penstock::cuda
