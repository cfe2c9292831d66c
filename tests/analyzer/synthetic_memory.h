// SPDX-License-Identifier: Apache-2.0
//
// Runs whose workers' memory is known at every moment.
#pragma once

#include <cstdint>
#include <functional>

#include "analyzer/memory/memory_growth.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer::testing {

// A reading of a worker's memory, in bytes.
struct Walk {
  double own = 40e6;      // private_dirty_bytes
  double shared = 900e6;  // anonymous, and shared with the training process
  double cached = 0;      // private pages of files
  double dirty = 0;       // the part of `cached` that is not written back yet
};
using Course = std::function<Walk(double at)>;  // `at`: from 0 (the worker starts) to 1 (it ends)

[[nodiscard]] Walk Copying(double at);
[[nodiscard]] Walk Leaking(double at);

struct Told {
  int walks = 20;
  double available = 0;  // available memory of the machine at all times; 0: not recorded
  double trainer = 0;    // bytes by which the training process grows
  Course last = {};      // of the last worker, if it differs
};

// 2 workers with 400 batches each, in some 3 s.
[[nodiscard]] Synthetic TwoWorkers();

// `run` on a machine with 16 GB. Requires: processes 1 to run.workers are the workers.
[[nodiscard]] traces::TraceData WithMemory(const Synthetic& run, const Course& course,
                                           const Told& told = {});

// Adds the use of /dev/shm: `before`, then `most` while the loader of `process` runs.
void AddShm(traces::TraceData& data, std::uint32_t process, double before, double most);

[[nodiscard]] MemoryModel MemoryOf(traces::TraceData data);

}  // namespace penstock::analyzer::testing
