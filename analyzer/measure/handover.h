// SPDX-License-Identifier: Apache-2.0
//
// The cost of handing a batch over, from the worker that finished it to the training loop, as far
// as spans and events show it. Pure. Units: seconds.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct Handover {
  double next = 0;          // in next() for a batch that was ready, without its get
  double latency = 0;       // from put to delivery if the loop waited, without next and its gets
  double overhead = 0;      // of a worker between two batches (or samples) with known indices
  bool threaded = false;    // another thread takes batches from the queue (pinning)
  bool streamed = false;    // messages exceed the pipe: they are read while they are written
  std::vector<double> put;  // by batch
  std::vector<double> get;  // by batch: unpickling
  double asking = 0;        // extra time of a get while the worker makes another batch
  std::optional<double> preempted;  // time without a core after the loop wakes a worker
  // By batch: as seen if it was ready and a core was free, else `next`.
  std::vector<double> next_of;
  double put_share = 1;  // share of `put` that computes
  double get_share = 1;  // share of `get` that computes
};

// `cores`: the number of cores that the run may use. `crowding`: the part of extra time that was
// waiting for a core, from 0 (cores are idle) to 1 (no core is ever idle). Extra time is the time
// by which a short piece of this work takes longer than an undisturbed one.
//
// Estimator: an undisturbed piece is as short as the fastest tenth; for a put it is its CPU time,
//            if that was recorded. What is not waiting for a core is waiting for the other side:
//            for the pipe, or for the interpreter of the worker, which sends a file descriptor. The
//            interpreter costs time only while the worker makes another batch; `asking` is how much
//            longer such gets took than those from idle workers. `next` comes
//            from batches that were handed out while fewer workers were busy than there are cores
//            (from the fastest tenth of all, if there are fewer than eight of these). `preempted`
//            is how much longer it took otherwise; nullopt if that was seen fewer than eight times.
[[nodiscard]] Handover MeasureHandover(const LoaderRun& run, double cores, double crowding);

}  // namespace penstock::analyzer
