// SPDX-License-Identifier: Apache-2.0
//
// What making batches in a worker process costs beyond making them in the training process: the
// shared memory of each batch is new, and the allocator gives the samples' memory back to the
// kernel after each batch, which in the training process it keeps. Pure. Units: seconds of CPU.
#pragma once

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct FreshMemory {
  double batch = 0;   // for each batch: its shared memory
  double sample = 0;  // for each sample: what the allocator maps anew
  double doubt = 0;   // by which `sample` may be wrong
};

// Zeros: the trace does not hold fact host.fault_ns, or the sizes.
//
// Estimator: of workers that were recorded, their minor faults; else the pages of a sample if it is
//            one of glibc's mapped blocks (128 KiB), and half of those of its decoded picture.
//            A picture larger than a batch is mapped anew in the training process too. Each fault
//            takes twice the first touch of a page: it is given back, and the caches lose.
// Source:    mallopt(3); ours, eight kinds of samples with no worker and with one: collating took
//            0.43 ns a byte longer (880 ns a first touch), faults a sample 519, 360, 126, 149, 170,
//            219, 32 and 4 more, estimated from no worker 513, 363, 363, 118, 143, 118, 74 and 4.
[[nodiscard]] FreshMemory MeasureFreshMemory(const traces::Trace& trace, const RunModel& model,
                                             const LoaderRun& run, const Material& material,
                                             const MemoryModel& memory);

}  // namespace penstock::analyzer
