// SPDX-License-Identifier: Apache-2.0
//
// The stages that a device does, and statistics of its work. Values.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/device.h"
#include "cuda/jpeg.h"
#include "traces/base/units.h"

namespace penstock::loader {

struct DeviceOptions {
  // nullptr: batches stay on the CPU. Else they are copied to the device, which must outlive the
  // pipeline. Stages that are not placed there run on the CPU and write to pinned memory.
  cuda::Device* device = nullptr;
  bool augment = false;
  bool decode = false;  // needs augment, since decoded pixels do not come back
  // Share of the samples that the device decodes; workers decode the others. The choice is drawn
  // from the key of each sample, so that the sample's pixels are the same in every run.
  double decode_share = 1;
  cuda::JpegOptions jpeg;
  bool fetch = false;  // copy the finished batch back, for use on the CPU
};

struct DeviceStats {
  cuda::DeviceInfo device;
  std::string jpeg_backend;  // empty: the device decodes nothing
  unsigned jpeg_engines = 0;
  std::uint64_t batches = 0;
  std::uint64_t copied_bytes = 0;  // to the device, without files that nvJPEG copies itself
  TimeNs copy{};                   // copy, decode, augment, fetch: on the device, sums over batches
  TimeNs decode{};
  TimeNs augment{};
  TimeNs fetch{};
  TimeNs waited{};                   // time in which the device's thread waited for the device
  std::uint64_t decoded = 0;         // pictures decoded by the device
  std::uint64_t refused = 0;         // pictures that nvJPEG refused, decoded by the CPU
  std::uint64_t decoded_pixels = 0;  // of whole pictures, before cropping
  std::uint64_t region_pixels = 0;   // of the regions that were decoded
  std::uint64_t moved_bytes = 0;     // read and written by the augmentation's kernels
  std::uint64_t pinned_bytes = 0;    // without nvJPEG's own
  std::uint64_t device_bytes = 0;    // without nvJPEG's own
};

}  // namespace penstock::loader
