// SPDX-License-Identifier: Apache-2.0
//
// Measures what it costs workers to map memory anew for each sample, because an allocator gave the
// memory back to the kernel after the previous sample. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/memory/memory_growth.h"
#include "analyzer/model/material.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// The costs on this machine, from the facts host.fault_ns and host.page_bytes.
struct FaultCost {
  double seconds = 0;  // CPU time of the first touch of a page
  double page = 4096;  // bytes
};
// nullopt: not recorded.
[[nodiscard]] std::optional<FaultCost> FaultCostOf(const traces::Trace& trace);

struct PageFaults {
  double per_sample = 0;      // minor faults of worker processes
  double needed = 0;          // part of them that no allocator avoids: for the shared memory of new
                              // batches, for growth, and a few for everything else
  double cpu_share = 0;       // avoidable share of the CPU time of all parts but reading. A fault
                              // counts as one first touch: what was measured for an avoided fault
                              // (0.85 to 1.25 us at 1.1 us for a touch). FreshMemory predicts what
                              // a fault adds in a worker and counts two, also for giving back
  std::uint64_t batches = 0;  // number of batches in which faults were counted

  [[nodiscard]] double avoidable() const { return per_sample > needed ? per_sample - needed : 0; }
};

// nullopt: there are no worker processes, no worker has the counter minor_faults for eight batches
// after its first one, or files were mapped, which causes faults too.
[[nodiscard]] std::optional<PageFaults> MeasurePageFaults(const RunModel& model,
                                                          const LoaderRun& run,
                                                          const Material& material,
                                                          const MemoryModel& memory,
                                                          const FaultCost& cost);

}  // namespace penstock::analyzer
