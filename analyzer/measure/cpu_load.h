// SPDX-License-Identifier: Apache-2.0
//
// How busy the cores were, and with whom they had to be shared. Pure.
#pragma once

#include <functional>
#include <optional>

#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {

// How busy the cores were while the loader ran steadily.
struct CpuLoad {
  double cores = 1;      // usable: by affinity and quota; of all recorded ranks of the host
  double own_cores = 1;  // of one rank: its equal part, or what it had of the others'
  // Wall over CPU time of decoding, which has nothing to wait for but a core; 0: not known.
  double squeeze = 0;
  bool crowded = false;  // squeezed although the recorded processes left cores free
  double others = 0;     // threads of other programs that would explain it
  double helpers = 0;    // of `used`: by processes that help the main loader
  bool helped = false;   // it is much of `used`
  double used = 0;       // CPU seconds per second of all traced processes of our host
  // By the kernel's account, where it was recorded: of what workers wait (wall minus CPU) in reads
  // and in the other parts of batches, that for a core; and of all the time that batches take.
  bool delays_known = false;
  double delayed_reads = 0;
  double delayed_rest = 0;
  double core_wait = 0;
  bool known = false;
  bool from_counters = false;  // else from spans: a lower bound

  [[nodiscard]] double saturation() const { return cores > 0 ? used / cores : 0; }
};

// Waiting for a core is in proportion to computing; waiting for a clock or a device is not. So the
// samples' decoding times tell them apart: its slope over their CPU times is the squeeze, if they
// differ enough for a slope. Else all of the wall time counts, up to twenty times the CPU time.
[[nodiscard]] CpuLoad MeasureCpuLoad(const RunModel& model, const LoaderRun& run,
                                     const SteadyState& steady);

// CPU seconds per second of the processes of `role` (nullopt: all) within the windows of all
// epochs: not the imports of workers that start. nullopt: not recorded.
[[nodiscard]] std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                                 std::optional<wire::ProcessRole> role);
// Likewise of the processes that `counts` names.
[[nodiscard]] std::optional<double> CpuInWindows(const RunModel& model, const SteadyState& steady,
                                                 const std::function<bool(ProcessId)>& counts);
// Likewise of the processes in which workers of `run` were seen.
[[nodiscard]] std::optional<double> WorkersCpuInWindows(const RunModel& model, const LoaderRun& run,
                                                        const SteadyState& steady);

}  // namespace penstock::analyzer
