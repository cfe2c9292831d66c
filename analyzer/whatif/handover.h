// SPDX-License-Identifier: Apache-2.0
//
// What lies between a worker's hands and the program's, seen from outside. Pure. Units: seconds.
#pragma once

#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct Handover {
  double next = 0;          // in next() for a batch that was there already, besides getting
  double latency = 0;       // from put to delivery when the consumer was waiting, less get and next
  double overhead = 0;      // of a worker between two batches (or samples) that it had to make
  bool threaded = false;    // another thread takes batches from the queue (pinning)
  std::vector<double> get;  // by batch: unpickling
  std::vector<double> next_of;  // by batch: as seen where it was there already, else `next`
};

[[nodiscard]] Handover MeasureHandover(const LoaderRun& run);

}  // namespace penstock::analyzer
