// SPDX-License-Identifier: Apache-2.0
//
// How the kernels are started; all that is between the host's compiler and nvcc.
#pragma once

#include "cuda/passes.h"

namespace penstock::cuda {

// Queues one launch. `passes` and `memories` name memory of the device; `stream` is a cudaStream_t.
// Returns a cudaError_t.
[[nodiscard]] int StartLaunch(const Launch& launch, const Pass* passes, const Memories& memories,
                              void* stream);

// A cudaError_t: whether there is code for the current device in this program.
[[nodiscard]] int FindKernels();

}  // namespace penstock::cuda
