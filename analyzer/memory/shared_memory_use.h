// SPDX-License-Identifier: Apache-2.0
//
// What the batches on their way take of /dev/shm. Values; pure.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// /dev/shm while the loader ran.
struct SharedMemoryUse {
  double size = 0;       // bytes, of several ranks one's part; 0: not known
  double before = 0;     // in use without the loader, by anybody on our host
  double most = 0;       // in use, likewise
  int most_batches = 0;  // made and not yet given back, at once
  bool measured = false;
  bool unused = false;  // measured, and batches do not pass through it
};

// How many batches were on their way is told by their spans; what they took, by the counter
// shm_used_bytes, which other programs add to.
[[nodiscard]] SharedMemoryUse MeasureSharedMemory(const RunModel& model, const LoaderRun& run);

}  // namespace penstock::analyzer
