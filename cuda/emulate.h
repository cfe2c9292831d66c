// SPDX-License-Identifier: Apache-2.0
//
// The kernels on the CPU: the same bodies, block by block, the threads of a block one after the
// other between its barriers. For tests and for machines without a GPU; correct, not fast.
#pragma once

#include <span>

#include "cuda/pass_list.h"
#include "cuda/passes.h"

namespace penstock::cuda {

// Carries out all launches of an arranged list. Requires: memories hold what the passes name, the
// sums begin at zero.
void Emulate(std::span<const Launch> launches, std::span<const Pass> passes,
             const Memories& memories);

}  // namespace penstock::cuda
