// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of handing a batch over from its worker to the training loop, as far as spans
// and events show it. Pure. Units: seconds.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/run_model.h"

namespace penstock::analyzer {

struct Handover {
  double next = 0;          // in next() for a batch that was ready, without its get
  double latency = 0;       // from put to delivery if the loop waited, without next and its gets
  double overhead = 0;      // of a worker between two batches (or samples) whose indices it has
  bool threaded = false;    // another thread than the loop's takes batches from the queue (pinning)
  bool streamed = false;    // messages exceed the pipe: they are read while they are written
  std::vector<double> put;  // by batch
  std::vector<double> get;  // by batch: unpickling
  double asking = 0;        // extra time of a get while the worker makes another batch
  std::optional<double> preempted;  // time without a core after the loop wakes a worker
  // By batch: its own `next`, without waiting for a core, if it was ready and a core was free; else
  // `next`.
  std::vector<double> next_of;
  double put_share = 1;  // share of `put` that computes
  double get_share = 1;  // share of `get` that computes
};

// `cores`: the number of cores that the run may use. Extra time is the time by which a short piece
// of this work takes longer than an undisturbed piece. `crowding`: the part of extra time that was
// waiting for a core, from 0 (cores are idle) to 1 (no core is ever idle).
//
// Estimator: an undisturbed piece takes as long as the 10th percentile; an undisturbed put takes
//            its CPU time, if that was recorded. The rest of the extra time is waiting for the
//            other side: for the pipe, or for the interpreter of the worker, which sends a file
//            descriptor. The interpreter costs time only while the worker makes another batch.
//            `asking` is how much longer such gets took than gets from idle workers. `next` comes
//            from batches that were delivered while fewer workers fetched than there are cores. If
//            there are fewer than eight such batches, `next` is the 10th percentile of all.
//            `preempted` is how much longer than `next` the other batches took; nullopt if there
//            are fewer than eight.
[[nodiscard]] Handover MeasureHandover(const LoaderRun& run, double cores, double crowding);

}  // namespace penstock::analyzer
