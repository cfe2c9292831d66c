// SPDX-License-Identifier: Apache-2.0
//
// Decodes JPEG files to pixels in the device's memory with nvJPEG, which is opened at run time and
// stays open. A JpegBatches belongs to the thread that queues the work of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "traces/base/result.h"

namespace penstock::cuda {

enum class JpegBackend : std::uint8_t {
  kAuto,       // hardware where the device has engines, else GPU-hybrid
  kHardware,   // the JPEG engines: baseline files of one scan
  kGpuHybrid,  // as kHybrid, but the GPU also reads the codes of large baseline pictures
  kHybrid,     // Huffman codes by the CPU, the rest by the GPU
};

// "auto", "hardware", "gpu-hybrid" or "hybrid". Errors: kUsage.
[[nodiscard]] Result<JpegBackend> ParseJpegBackend(std::string_view text);
[[nodiscard]] std::string_view JpegBackendName(JpegBackend backend);

struct JpegOptions {
  JpegBackend backend = JpegBackend::kAuto;
  std::string path;  // of the library; empty: libnvjpeg.so.13, .12 or .11 from the usual places
  bool interpolate_chroma = true;
  int cpu_threads = 1;  // for the CPU's part of a batch: Huffman codes
};

// One picture of a batch.
struct JpegPicture {
  std::span<const std::byte> file;  // in the CPU's memory, unchanged until the batch is done
  Box region;                       // in full-resolution coordinates, inside of the picture
  std::uint8_t* pixels = nullptr;   // on the device: [region.height][pitch], R G B
  std::size_t pitch = 0;
};

class JpegBatches {
 public:
  // Requires: `device` outlives the result. Errors: kEnvironment if the library is missing or too
  // old, or the device lacks the backend.
  [[nodiscard]] static Result<std::unique_ptr<JpegBatches>> Make(const JpegOptions& options,
                                                                 Device& device);
  virtual ~JpegBatches() = default;

  [[nodiscard]] virtual JpegBackend backend() const = 0;  // never kAuto
  [[nodiscard]] virtual unsigned engines() const = 0;     // JPEG engines; 0: none, or not known
  // Whether the backend accepts this picture. Cost: parsing its headers.
  [[nodiscard]] virtual bool Takes(const JpegPicture& picture) = 0;
  // Queues the decoding of all pictures after the work of `stream`.
  // Errors: kInput if nvJPEG refuses pictures. Then no pixels are valid, and `refused` has the
  // indices of these pictures in order. It is empty if nvJPEG does not say which of several
  // pictures it refuses. kEnvironment for trouble with the device, or for arguments that nvJPEG
  // does not know.
  [[nodiscard]] virtual Result<void> Decode(std::span<const JpegPicture> pictures, Stream& stream,
                                            std::vector<std::size_t>& refused) = 0;
  // Intervals in which the GPU worked on the last batch, in order, without overlap and relative to
  // the device's anchor. Empty if the work is in the stream itself; then the stream's marks give
  // the times. Requires: Decode() has succeeded, and a later mark of the stream was waited for.
  [[nodiscard]] virtual std::vector<std::pair<TimeNs, TimeNs>> Stretches() { return {}; }
};

}  // namespace penstock::cuda
