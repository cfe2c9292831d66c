// SPDX-License-Identifier: Apache-2.0
//
// Runs the bodies of the kernels on the CPU, for tests and for machines without a GPU. The blocks
// of a launch run one after the other. Between two barriers, so do the threads of a block. Correct,
// but slow.
#pragma once

#include <span>

#include "cuda/pass_list.h"
#include "cuda/passes.h"

namespace penstock::cuda {

// Carries out all launches of an arranged list. Requires: `memories` has the memory that the passes
// use, and the sums are zero.
void Emulate(std::span<const Launch> launches, std::span<const Pass> passes,
             const Memories& memories);

}  // namespace penstock::cuda
