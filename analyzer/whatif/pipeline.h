// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader as a max-plus recurrence over the observed batches, and its replay under changed
// assumptions. Values; pure functions; no clock, no randomness. Units: seconds everywhere.
//
// With S_j the service of batch j in its worker, m_j its serial cost in the consumer, G_j the step,
// W workers and P batches of credit each (PyTorch's dataloader.py; diagnosis.md 3.3):
//
//   start_j = max(f_{j-W} + d, y_{j-PW})     a worker is free, and an index was sent on delivery
//   f_j     = max(start_j + S_j, b_j)        b: the cores as one server of speed C
//   y_j     = max(c_{j-1}, f_j + latency) + m_j
//   c_j     = y_j + G_j
//
// W = 0: c_j = c_{j-1} + S_j + G_j. The CPU server makes contention visible: it serves `cpu` of
// all batches and of the consumer at C seconds per second; waiting for I/O costs it nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/batch.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

struct Demand {
  Work read, decode, augment, collate, other;  // wall without contention
  double put = 0;                              // in the worker, before its next batch
  double latency = 0;  // from the worker's hands to where the consumer can take it
  double station = 0;  // in the thread that receives and pins, in order
  double serial = 0;   // in next(), besides waiting
  double step = 0;     // between two batches, without h2d
  double h2d = 0;
  double samples = 1;

  [[nodiscard]] double service() const {
    return read.wall + decode.wall + augment.wall + collate.wall + other.wall;
  }
  [[nodiscard]] double cpu() const {
    return read.cpu + decode.cpu + augment.cpu + collate.cpu + other.cpu;
  }
};

struct EpochDemand {
  std::vector<Demand> batches;
  std::vector<double> worker_start;  // by worker: when it took its first index; amortised
  std::size_t warm = 0;              // batches outside the steady window
};

struct Pipeline {
  int workers = 0;
  int prefetch = 2;
  double cores = 1;
  double overhead = 0;         // d: between two batches of a worker
  double step_cpu = 0;         // CPU of one step
  double transfer_cpu = 0;     // CPU of get and pin of one batch
  double worker_cpu = 0;       // CPU of a worker outside fetch, per batch
  double worker_start = 0.05;  // start-up of one more worker than was seen
  bool crowded = false;  // `cores` is what other programs left: other settings get other shares
  std::vector<EpochDemand> epochs;

  [[nodiscard]] std::size_t batches() const;
};

struct Outcome {
  double time = 0;  // all epochs, start-up included
  double samples = 0;
  double steady_time = 0;  // as SteadyState::time
  double steady_samples = 0;
  double steady_wait = 0;

  [[nodiscard]] double rate() const { return steady_time > 0 ? steady_samples / steady_time : 0; }
  [[nodiscard]] double total_rate() const { return time > 0 ? samples / time : 0; }
};

// Requires: prefetch >= 1, cores > 0, all demands >= 0 and finite.
// Cost:     O(batches).
[[nodiscard]] Outcome Simulate(const Pipeline& pipeline);

// How busy the cores were while the loader ran steadily.
struct CpuLoad {
  double cores = 1;  // usable: by affinity and quota
  // Wall over CPU time of decoding, which has nothing to wait for but a core; 0: not known.
  double squeeze = 0;
  bool crowded = false;  // squeezed although the recorded processes left cores free
  double used = 0;       // CPU seconds per second of all traced processes
  bool known = false;
  bool from_counters = false;  // else from spans: a lower bound

  [[nodiscard]] double saturation() const { return cores > 0 ? used / cores : 0; }
};
[[nodiscard]] CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

// The recorded configuration of `run`, with the services that were seen.
[[nodiscard]] Pipeline BuildPipeline(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

}  // namespace penstock::analyzer
