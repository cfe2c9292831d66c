// SPDX-License-Identifier: Apache-2.0
//
// Starting the kernels: the interface between the code of the host's compiler and that of nvcc.
#pragma once

#include "cuda/passes.h"

namespace penstock::cuda {

// Queues one launch. `passes` and `memories` name memory of the device; `stream` is a cudaStream_t.
// Returns a cudaError_t.
[[nodiscard]] int StartLaunch(const Launch& launch, const Pass* passes, const Memories& memories,
                              void* stream);

// Whether this program has code for the current device. Returns a cudaError_t.
[[nodiscard]] int FindKernels();

}  // namespace penstock::cuda
