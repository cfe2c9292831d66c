// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which nvJPEG decodes. Private to cuda/.
#pragma once

#include <memory>

#include "cuda/jpeg.h"
#include "cuda/nvjpeg_library.h"

namespace penstock::cuda {

// Decodes whole batches with the JPEG engines, the only backend that accepts batches with regions.
// Errors: kEnvironment if the device has no engines.
[[nodiscard]] Result<std::unique_ptr<JpegBatches>> MakeJpegEngines(const nvjpeg::Library& library,
                                                                   const JpegOptions& options);

// Decodes pictures one by one in two phases: several threads do the CPU's part, and the GPU's part
// runs in streams of these threads. `options.backend`: kGpuHybrid or kHybrid. Errors: kEnvironment.
[[nodiscard]] Result<std::unique_ptr<JpegBatches>> MakeJpegPhases(const nvjpeg::Library& library,
                                                                  const JpegOptions& options,
                                                                  Device& device);

}  // namespace penstock::cuda
