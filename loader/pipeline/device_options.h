// SPDX-License-Identifier: Apache-2.0
//
// Which stages are a device's, and what came of it. Values.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/device.h"
#include "cuda/jpeg.h"
#include "traces/base/units.h"

namespace penstock::loader {

struct DeviceOptions {
  // nullptr: batches stay on the CPU. Else they are copied to the device, which must outlive the
  // pipeline; what is not placed there is done on the CPU, into pinned memory.
  cuda::Device* device = nullptr;
  bool augment = false;
  bool decode = false;  // needs augment: decoded pixels do not come back
  // Share of the samples that the device decodes; workers decode the others. Drawn from the key of
  // each sample, so that its pixels stay the same from run to run.
  double decode_share = 1;
  cuda::JpegOptions jpeg;
  bool fetch = false;  // the finished batch is copied back, for whoever looks at it on the CPU
};

struct DeviceStats {
  cuda::DeviceInfo device;
  std::string jpeg_backend;  // empty: nothing is decoded there
  unsigned jpeg_engines = 0;
  std::uint64_t batches = 0;
  std::uint64_t copied_bytes = 0;  // to the device, without files that nvJPEG fetches by itself
  TimeNs copy{};                   // on the device, as those that follow: sums over batches
  TimeNs decode{};
  TimeNs augment{};
  TimeNs fetch{};
  TimeNs waited{};                   // of the thread that feeds the device, for work to finish
  std::uint64_t decoded = 0;         // pictures, by the device
  std::uint64_t refused = 0;         // pictures that nvJPEG does not take, decoded by the CPU
  std::uint64_t decoded_pixels = 0;  // of whole pictures, before cropping
  std::uint64_t region_pixels = 0;   // of what was decoded of them
  std::uint64_t moved_bytes = 0;     // by the kernels of the augmentation
  std::uint64_t pinned_bytes = 0;    // without nvJPEG's own
  std::uint64_t device_bytes = 0;    // likewise
};

}  // namespace penstock::loader
