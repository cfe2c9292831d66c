// SPDX-License-Identifier: Apache-2.0
//
// Estimates how much more CPU time it takes to make batches in a worker process than in the
// training process. In a worker the shared memory of each batch is new, and the allocator gives the
// samples' memory back to the kernel after each batch. Without workers, the allocator of the
// training process keeps that memory. With workers, a batch is new memory for the training process:
// the first step or copy that reads the batch maps each page. Pure. Units: seconds of CPU.
#pragma once

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct FreshMemory {
  double batch = 0;   // for each batch: its shared memory
  double sample = 0;  // for each sample: memory that the allocator maps anew
  double doubt = 0;   // how far `sample` may be off
  double touch = 0;   // for each batch: its first use in the training process
};

// Sets all fields except `touch`, which FirstTouch() computes. All are 0 if the trace lacks the
// fact host.fault_ns or the sizes, or if threads fill batches sample by sample. `sample` is 0 if
// the allocator is not glibc's.
//
// Estimator: `sample` comes from the minor faults of workers; 0 if MeasurePageFaults() has none.
//            Without workers it is the number of pages of a sample plus half of those of its
//            decoded picture. A sample or picture counts if glibc maps a block of its size (128 KiB
//            or more). A picture larger than a batch does not count: it is mapped anew in the
//            training process too. For samples in PyTorch's own memory, half of the sample's pages
//            count, and no picture. Each fault costs twice the first touch of a page, because the
//            page is also given back, and its data leave the caches.
// Source:    mallopt(3); ours: eight kinds of samples, without workers and with one worker. With
//            one worker, collating took 0.43 ns per byte longer (at 880 ns for a first touch), and
//            a sample took 519, 360, 126, 149, 170, 219, 32 and 4 faults more. The estimates from
//            the runs without workers were 513, 363, 363, 118, 143, 118, 74 and 4 faults. For a
//            ninth kind the estimate was 214, but 30 to 70 faults happened: their number depends on
//            which memory lies above the freed memory. Samples of 147 pages in PyTorch's memory
//            took 0 to 45 faults with PyTorch 1.13 (one of ten kinds 108). With PyTorch 2.15, five
//            kinds took 0 to 16 faults and three kinds 159 to 175. A step that convolves a batch of
//            9.6 MB took 10.7 ms of CPU without workers, 17.8 ms with one (2060 faults of 1.7 us),
//            and 15.2 ms with two (1310 faults of 1.2 us).
[[nodiscard]] FreshMemory MeasureFreshMemory(const traces::Trace& trace, const RunModel& model,
                                             const LoaderRun& run, const Material& material,
                                             const MemoryModel& memory);

// Computes FreshMemory::touch. With workers it is the cost of the minor faults of the training
// process in the steady windows, at most one for each page of a batch. Without workers it is the
// cost of one fault for each page of a batch, if `reads_batches`. 0 for pinned batches, whose copy
// in the pin thread is recorded, and for batches that do not pass through shared memory (`shares`).
[[nodiscard]] double FirstTouch(const traces::Trace& trace, const RunModel& model,
                                const LoaderRun& run, const SteadyState& steady, double batch_bytes,
                                bool shares, bool reads_batches);

}  // namespace penstock::analyzer
