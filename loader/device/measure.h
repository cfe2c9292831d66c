// SPDX-License-Identifier: Apache-2.0
//
// What a device takes for the stages that can move to it, by its own stamps. One thread.
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

// How something is measured: intervals between two stamps of the device, each of them of several
// launches that follow one another, so that neither the CPU's queueing nor the stamps count.
struct Timing {
  unsigned repeats = 9;        // intervals, whose median counts
  unsigned launches = 20;      // of an interval
  TimeNs warmup{100'000'000};  // of work before them: an idle H200 stands at 345 MHz, not at 1980
};

// The usual one; for an emulated device, whose speed means nothing, the least that has a result.
[[nodiscard]] Timing TimingFor(const cuda::DeviceInfo& device);

struct DeviceTime {
  TimeNs batch{};            // of one launch: an interval by its launches
  std::uint64_t bytes = 0;   // that are moved for a batch: read and written once each
  double megapixels = 0;     // of the pictures of a batch, before cropping
  std::size_t pictures = 0;  // of a batch

  [[nodiscard]] double ms_per_megapixel() const {
    return megapixels > 0 ? Seconds(batch) * 1e3 / megapixels : 0;
  }
  [[nodiscard]] double bytes_per_s() const {
    return batch.value > 0 ? static_cast<double>(bytes) / Seconds(batch) : 0;
  }
};

// Kernels of `program` on `batch` pictures of that size, each with random numbers of its own, that
// lie in the device's memory, as does what the kernels are told: neither copy counts.
// Requires: batch, repeats, launches >= 1. Errors: kEnvironment, those of PlanPasses.
[[nodiscard]] Result<DeviceTime> MeasureProgram(cuda::Device& device, const AugmentProgram& program,
                                                Size picture, std::size_t batch,
                                                const Timing& timing);

// Pinned memory to the device. `bytes` per copy. Requires, Errors: as above.
[[nodiscard]] Result<DeviceTime> MeasureCopy(cuda::Device& device, std::size_t bytes,
                                             const Timing& timing);

// Whole pictures by nvJPEG, those that it takes: at least one. With what the CPU has to do of it:
// one batch an interval, whatever timing.launches. Errors: kInput where it takes none.
[[nodiscard]] Result<DeviceTime> MeasureDecode(cuda::Device& device, cuda::JpegBatches& jpeg,
                                               std::span<const std::vector<std::byte>> files,
                                               const Timing& timing);

}  // namespace penstock::loader
