// SPDX-License-Identifier: Apache-2.0
//
// JPEG files to pixels in the device's memory, by nvJPEG, which is opened at run time and stays
// open. A JpegBatches belongs to the thread that queues the work of a device.
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
  kGpuHybrid,  // as kHybrid, but the codes of large baseline pictures are the GPU's work too
  kHybrid,     // Huffman codes by the CPU, the rest by the GPU
};

// "auto", "hardware", "gpu-hybrid" or "hybrid". Errors: kUsage.
[[nodiscard]] Result<JpegBackend> ParseJpegBackend(std::string_view text);
[[nodiscard]] std::string_view JpegBackendName(JpegBackend backend);

struct JpegOptions {
  JpegBackend backend = JpegBackend::kAuto;
  std::string path;  // of the library; empty: libnvjpeg.so.13, .12, .11 where the loader looks
  bool interpolate_chroma = true;
  int cpu_threads = 1;  // for the CPU's part of a batch: Huffman codes
};

// One picture of a batch.
struct JpegPicture {
  std::span<const std::byte> file;  // in memory of the CPU, until the batch has been waited for
  Box region;                       // in full-resolution coordinates, inside of the picture
  std::uint8_t* pixels = nullptr;   // on the device: [region.height][pitch], R G B
  std::size_t pitch = 0;
};

class JpegBatches {
 public:
  // `device` outlives the result. Errors: kEnvironment: no library, one that is too old, or a
  // backend that the device lacks.
  [[nodiscard]] static Result<std::unique_ptr<JpegBatches>> Make(const JpegOptions& options,
                                                                 Device& device);
  virtual ~JpegBatches() = default;

  [[nodiscard]] virtual JpegBackend backend() const = 0;  // never kAuto
  [[nodiscard]] virtual unsigned engines() const = 0;     // of the hardware; 0: none, or not known
  // Whether the backend takes this picture. Costs a parse of its headers.
  [[nodiscard]] virtual bool Takes(const JpegPicture& picture) = 0;
  // Queues the decoding of all pictures behind what `stream` has. Errors: kInput if nvJPEG refuses
  // some of them: `refused` then has their indices in order, or is empty if it does not say which;
  // none of the pixels is of use. kEnvironment: the device, or arguments that nvJPEG does not know.
  [[nodiscard]] virtual Result<void> Decode(std::span<const JpegPicture> pictures, Stream& stream,
                                            std::vector<std::size_t>& refused) = 0;
  // What the GPU did for the last batch, in order and without overlap, from the device's anchor on.
  // Empty where the work is the stream's own: then its marks tell. Requires: Decode() has
  // succeeded, and a mark of the stream behind it has been waited for.
  [[nodiscard]] virtual std::vector<std::pair<TimeNs, TimeNs>> Stretches() { return {}; }
};

}  // namespace penstock::cuda
