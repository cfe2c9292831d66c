// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which nvJPEG decodes. Private to cuda/.
#pragma once

#include <memory>

#include "cuda/jpeg.h"
#include "cuda/nvjpeg_library.h"

namespace penstock::cuda {

// Whole batches by the JPEG engines: the one backend that takes batches with regions. Errors:
// kEnvironment: the device has none.
[[nodiscard]] Result<std::unique_ptr<JpegBatches>> MakeJpegEngines(const nvjpeg::Library& library,
                                                                   const JpegOptions& options);

// Pictures one by one in phases, the CPU's by several threads, the GPU's on streams of their own.
// `options.backend`: kGpuHybrid or kHybrid. Errors: kEnvironment.
[[nodiscard]] Result<std::unique_ptr<JpegBatches>> MakeJpegPhases(const nvjpeg::Library& library,
                                                                  const JpegOptions& options,
                                                                  Device& device);

}  // namespace penstock::cuda
