// SPDX-License-Identifier: Apache-2.0
//
// How much of /dev/shm the batches in flight take. Values; pure.
#pragma once

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

// The use of /dev/shm while the loader ran.
struct SharedMemoryUse {
  double size = 0;        // bytes; the part of one rank if there are several; 0: not known
  double before = 0;      // bytes in use without the loader, by all programs on our host
  double most = 0;        // greatest number of bytes in use while the loader ran, by all programs
  int most_batches = 0;   // greatest number of batches made and not yet given back
  bool measured = false;  // the counter has enough samples for `most`
  bool unused = false;    // measured, and batches of workers do not pass through /dev/shm
};

// Spans tell how many batches were in flight. The counter shm_used_bytes tells how much was in use
// by all programs.
[[nodiscard]] SharedMemoryUse MeasureSharedMemory(const RunModel& model, const LoaderRun& run);

}  // namespace penstock::analyzer
