// SPDX-License-Identifier: Apache-2.0
//
// What workers pay for memory that is mapped anew for each sample: an allocator gave it back to the
// kernel after the last one. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// Of the machine: facts host.fault_ns and host.page_bytes.
struct FaultCost {
  double seconds = 0;  // of CPU, for the first touch of a page
  double page = 4096;  // bytes
};
// nullopt: not recorded.
[[nodiscard]] std::optional<FaultCost> FaultCostOf(const traces::Trace& trace);

struct PageFaults {
  double per_sample = 0;  // minor faults of worker processes
  double needed = 0;      // of them: fresh shared memory for the batch, growth, the rest
  double cpu_share = 0;   // of the CPU time of decode, augment and collate: the others' cost
  std::uint64_t batches = 0;

  [[nodiscard]] double avoidable() const { return per_sample > needed ? per_sample - needed : 0; }
};

// nullopt: the counter minor_faults of workers is missing, or spans fewer than eight batches of
// each, or files were mapped, which faults in their pages too.
[[nodiscard]] std::optional<PageFaults> MeasurePageFaults(const RunModel& model,
                                                          const LoaderRun& run,
                                                          const Material& material,
                                                          const MemoryModel& memory,
                                                          const FaultCost& cost);

}  // namespace penstock::analyzer
