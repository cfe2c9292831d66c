// SPDX-License-Identifier: Apache-2.0
//
// Measures the time of the stages that can move to a device, by the device's own time stamps. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/device.h"
#include "cuda/jpeg.h"
#include "loader/augment/program.h"
#include "loader/decode/image.h"
#include "traces/base/result.h"
#include "traces/base/units.h"

namespace penstock::loader {

// How a stage is measured: by intervals between two stamps of the device. Each interval has several
// launches, one after the other, so that the CPU's queueing and the stamps do not count.
struct Timing {
  unsigned repeats = 9;        // number of intervals; their median counts
  unsigned launches = 20;      // in an interval
  TimeNs warmup{100'000'000};  // work before them: an idle H200 runs at 345 MHz instead of 1980
};

// The usual timing for a GPU. For an emulated device, whose speed means nothing, the timing that is
// shortest.
[[nodiscard]] Timing TimingFor(const cuda::DeviceInfo& device);

struct DeviceTime {
  TimeNs batch{};            // time of one launch
  std::uint64_t bytes = 0;   // read and written for a batch, each counted once
  double megapixels = 0;     // of the pictures of a batch, before cropping
  std::size_t pictures = 0;  // of a batch

  [[nodiscard]] double ms_per_megapixel() const {
    return megapixels > 0 ? Seconds(batch) * 1e3 / megapixels : 0;
  }
  [[nodiscard]] double bytes_per_s() const {
    return batch.value > 0 ? static_cast<double>(bytes) / Seconds(batch) : 0;
  }
};

// Measures the kernels of `program` on `batch` pictures of that size, each with random numbers of
// its own. The pictures and the kernels' instructions lie in the device's memory, so no copy
// counts.
// Requires: batch, repeats, launches >= 1. Errors: kEnvironment, those of PlanPasses.
[[nodiscard]] Result<DeviceTime> MeasureProgram(cuda::Device& device, const AugmentProgram& program,
                                                Size picture, std::size_t batch,
                                                const Timing& timing);

// Measures copies of `bytes` from pinned memory to the device. Requires, Errors: as above.
[[nodiscard]] Result<DeviceTime> MeasureCopy(cuda::Device& device, std::size_t bytes,
                                             const Timing& timing);

// Measures how nvJPEG decodes whole pictures, leaving out those whose headers it does not accept.
// The CPU's part of the work counts too, so an interval has one batch, whatever timing.launches
// says. Errors: kInput if nvJPEG accepts none, or finds one of them damaged while decoding.
[[nodiscard]] Result<DeviceTime> MeasureDecode(cuda::Device& device, cuda::JpegBatches& jpeg,
                                               std::span<const std::vector<std::byte>> files,
                                               const Timing& timing);

}  // namespace penstock::loader
