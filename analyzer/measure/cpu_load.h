// SPDX-License-Identifier: Apache-2.0
//
// How busy the cores were, and which programs shared them. Pure.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// Further threads of workers compute for the batches if their CPU time exceeds this share of the
// fetches' CPU time. Source: ours.
inline constexpr double kLeastOfThreads = 0.1;

// The least share of a batch's time waiting for a core that is told.
inline constexpr double kToldCoreWait = 0.05;

// How busy the cores were while the loader ran steadily.
struct CpuLoad {
  double cores = 1;      // usable by all recorded ranks of the host: by affinity and quota
  double own_cores = 1;  // usable by one rank: its equal part, or more if it used more
  // Slowdown of decoding: its wall time, without other waiting than for a core, divided by its CPU
  // time; 0: not known.
  double decode_slowdown = 0;
  bool crowded = false;   // slowed down although the recorded processes left cores free
  double others = 0;      // threads of other programs that would explain the slowdown
  double helpers = 0;     // part of `used`: processes that help the main loader
  bool helped = false;    // `helpers` is a fifth of `used` or more
  bool threaded = false;  // further threads of worker processes compute for the batches
  double used = 0;        // CPU seconds per second, all traced processes of our host
  // The kernel's account of waiting for cores, if it was recorded. Each value is the share that was
  // waiting for a core. It is a share of the workers' waiting (wall minus CPU time) in reads, of
  // their waiting in the other parts of batches, or of the whole time of batches.
  bool delays_known = false;
  double delayed_reads = 0;
  double delayed_rest = 0;
  double core_wait = 0;
  bool known = false;          // `used` is known
  bool from_counters = false;  // `used` is from counters; else from spans, a lower bound

  // The part of the cores that was used. `used` and `cores` have errors of some percent.
  [[nodiscard]] double saturation() const { return cores > 0 ? std::min(1.0, used / cores) : 0; }
};

// The slowdown of decoding is the slope of the samples' decode times over their CPU times. Waiting
// for a core grows with the CPU time, and waiting for a clock or a device does not. If the samples
// differ too little for a slope, all waiting in decoding counts as waiting for a core. Decoding
// that takes more than twenty times its CPU time tells nothing.
[[nodiscard]] CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

// CPU seconds per second of the processes of `role` (nullopt: all) within the steady windows.
// Imports of starting workers lie outside these windows and do not count. nullopt: not recorded.
[[nodiscard]] std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                                 std::optional<wire::ProcessRole> role);
// The same for the processes that `counts` accepts.
[[nodiscard]] std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                                 const std::function<bool(ProcessId)>& counts);
// The same for the worker processes of `run`. nullopt also if its workers are threads of the
// training process.
[[nodiscard]] std::optional<double> WorkersCpuInWindows(const RunModel& model, const LoaderRun& run,
                                                        const SteadyState& steady);

// Whether worker processes of `run` had more than three threads: the worker itself, the thread of
// its queue and one that a library leaves idle. True if at least a tenth of the samples of the
// counter "threads" in the steady windows show more. False if the counter was not recorded, or if
// the workers are threads of the training process.
[[nodiscard]] bool HaveFurtherThreads(const RunModel& model, const LoaderRun& run,
                                      const SteadyState& steady);

}  // namespace penstock::analyzer
