// SPDX-License-Identifier: Apache-2.0
//
// Finds whether the thread that takes the batches of a loader is the one that trains. Pure.
#pragma once

#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Whether a thread other than the first one of its process takes the batches, and nothing shows
// that it trains: no kernels were recorded, it launched none, and none of its steps that were
// followed called an optimizer or autograd. Such a thread probably hands the batches on to the
// training loop. Only for Python programs that were recorded with the agent, since imported traces
// may number threads in their own way.
[[nodiscard]] bool HandsBatchesOn(const traces::Trace& trace, const LoaderRun& run);

}  // namespace penstock::analyzer
