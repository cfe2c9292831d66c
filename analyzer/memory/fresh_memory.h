// SPDX-License-Identifier: Apache-2.0
//
// How much more CPU time it takes to make batches in a worker process than in the training process.
// In a worker the shared memory of each batch is new, and the allocator gives the samples' memory
// back to the kernel after each batch. In the training process the allocator keeps that memory.
// Pure. Units: seconds of CPU.
#pragma once

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct FreshMemory {
  double batch = 0;   // for each batch: its shared memory
  double sample = 0;  // for each sample: memory that the allocator maps anew
  double doubt = 0;   // how far `sample` may be off
};

// Zeros if the trace lacks the fact host.fault_ns, or the sizes.
//
// Estimator: from the minor faults of workers, if they were recorded. Otherwise from the pages of a
//            sample, if it is large enough for glibc to map it (128 KiB), and half of those of its
//            decoded picture. A picture larger than a batch does not count: it is mapped anew in
//            the training process too. Each fault costs twice the first touch of a page, because
//            the page is also given back, and caches lose it.
// Source:    mallopt(3); ours: eight kinds of samples, with no worker and with one. With one,
//            collating took 0.43 ns per byte longer (at 880 ns for a first touch), and a sample
//            took 519, 360, 126, 149, 170, 219, 32 and 4 faults more. The estimates from the runs
//            without workers were 513, 363, 363, 118, 143, 118, 74 and 4.
[[nodiscard]] FreshMemory MeasureFreshMemory(const traces::Trace& trace, const RunModel& model,
                                             const LoaderRun& run, const Material& material,
                                             const MemoryModel& memory);

}  // namespace penstock::analyzer
