// SPDX-License-Identifier: Apache-2.0
//
// The objects with which nvJPEG decodes one picture in two phases: first the CPU reads the file,
// then the GPU works in a stream of the slot. Private to cuda/. One thread at a time. Decode() and
// Takes() wait until the GPU has finished the picture before.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/jpeg.h"
#include "cuda/nvjpeg_library.h"

namespace penstock::cuda {

class JpegSlot {
 public:
  // This mark of stream() is set after the GPU's part of each picture, and kBegun before that part.
  static constexpr unsigned kDecoded = 1;

  // Requires: `handle`, `library` and `device` outlive the result. Errors: kEnvironment, also if
  // the device lacks the backend.
  [[nodiscard]] static Result<JpegSlot> Make(const nvjpeg::Library& library, nvjpeg::Handle handle,
                                             JpegBackend backend, Device& device);

  // Parses the picture's headers. Returns whether a decoder accepts it.
  [[nodiscard]] bool Takes(const JpegPicture& picture);
  // Reads the codes on the CPU or leaves them to the GPU, queues the rest and marks its end.
  // Errors: kInput for the file; kEnvironment.
  [[nodiscard]] Result<void> Decode(const JpegPicture& picture);
  [[nodiscard]] Stream& stream() { return *stream_; }
  // Intervals in which the GPU worked on the pictures decoded since the last call, relative to the
  // device's anchor. Waits for the last of them.
  [[nodiscard]] std::vector<std::pair<TimeNs, TimeNs>> TakeStretches();

 private:
  static constexpr unsigned kBegun = 0;

  // One of two ways: codes read by the CPU, or by the GPU.
  struct Way {
    nvjpeg::Owned<nvjpeg::DecoderTag> decoder{nullptr, nullptr};
    nvjpeg::Owned<nvjpeg::StateTag> state{nullptr, nullptr};
  };

  JpegSlot(const nvjpeg::Library& library, nvjpeg::Handle handle)
      : library_(&library), handle_(handle) {}
  [[nodiscard]] Result<void> Begin(JpegBackend backend, Device& device);
  [[nodiscard]] Result<Way> MakeWay(int backend) const;
  [[nodiscard]] Result<void> Finish();  // waits for the picture in flight
  [[nodiscard]] Result<void> Parse(const JpegPicture& picture);
  // The way for the picture; nullptr if neither accepts it. Requires: Parse().
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
  Way gpu_codes_;  // empty if the backend lacks it
  bool in_flight_ = false;
  std::vector<std::pair<TimeNs, TimeNs>> stretches_;
  std::unique_ptr<Stream> stream_;  // last, so ended first: waits for a GPU that uses the others
};

}  // namespace penstock::cuda
