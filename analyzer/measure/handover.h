// SPDX-License-Identifier: Apache-2.0
//
// What lies between a worker's hands and the program's, seen from outside. Pure. Units: seconds.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct Handover {
  double next = 0;          // in next() for a batch that was there already, besides getting
  double latency = 0;       // from put to delivery when the consumer was waiting, less get and next
  double overhead = 0;      // of a worker between two batches (or samples) that it had to make
  bool threaded = false;    // another thread takes batches from the queue (pinning)
  bool streamed = false;    // messages are larger than the pipe: read while they are written
  std::vector<double> put;  // by batch
  std::vector<double> get;  // by batch: unpickling
  double asking = 0;        // besides, of a batch whose worker makes another one meanwhile
  std::optional<double> preempted;  // that the loop lost its core for when it woke a worker
  std::vector<double> next_of;      // by batch: as seen where it was there already, else `next`
  double put_share = 1;             // of `put`, what computes
  double get_share = 1;             // likewise of `get`
};

// `crowding`: of the time that these short pieces of work took longer than when nothing disturbed
// them, the part that was waiting for a core; 0 while cores are idle, 1 where none ever is.
//
// `cores`: that the run may use.
//
// Estimator: undisturbed is the fastest tenth. Of a put its CPU time, where that was recorded. What
//            is not waiting for a core is waiting for the other side: the pipe, or the worker's
//            interpreter, which hands over a file descriptor. The latter takes its time only while
//            that worker makes another batch: `asking` is how much longer such gets took than
//            those from idle workers. Likewise `next` is that of batches which were handed out
//            while fewer workers were busy than there are cores, and `preempted` how much longer
//            it took otherwise; nullopt where one of the two was seen fewer than eight times.
[[nodiscard]] Handover MeasureHandover(const LoaderRun& run, double cores, double crowding);

}  // namespace penstock::analyzer
