// SPDX-License-Identifier: Apache-2.0
//
// Corrections of a loader model. The batch costs of a recording contain costs that the simulator
// adds by itself (turns at the storage, slow workers, waiting for cores). They lack costs that
// spans do not show (threads of other libraries, work of the device). Each correction moves one
// such cost to its place.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/measure/recorded_costs.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// CPU seconds of the steady part, from the spans and from the processes' counters. Counters are
// sampled about ten times a second, so in short epochs they include CPU time from outside the loop.
// The limits in corrections.cc allow for this.
struct CpuAccount {
  double batches = 0;
  double samples = 0;
  double fetch = 0;     // fetches in workers
  double put = 0;       // in workers: the part of the handover that computes
  double transfer = 0;  // in the training process, outside of steps; includes `here`
  double step = 0;      // seconds that the steps in SteadyState::time last
  double here = 0;      // fetches in the training process
  double waited = 0;    // seconds that the thread waited in the fetches of `here`, reads aside
  double fetched = 0;   // seconds that the fetches of `here` lasted
  // CPU seconds of all threads of the training process in its steps, and in next(); nullopt: not
  // recorded.
  std::optional<double> in_steps;
  std::optional<double> in_next;
  std::optional<double> consumer;  // per second; nullopt: not recorded
  std::optional<double> workers;
  bool further_threads = false;  // the workers have them, see HaveFurtherThreads()
};

// The input of corrections. Refers to `recorded`, `load` and `charged`, which must outlive it.
struct CorrectionInput {
  const RecordedRun& recorded;
  const CpuLoad& load;
  std::span<const double> charged;  // by epoch: the share of its start-up that counts, see starts.h
  CpuAccount account;
};
// Requires: the batches of `pipeline` are those of `recorded`, not corrected yet.
[[nodiscard]] CorrectionInput MakeCorrectionInput(const RecordedRun& recorded, const CpuLoad& load,
                                                  std::span<const double> charged,
                                                  const Pipeline& pipeline);

struct Correction {
  std::string_view name;
  bool (*applies)(const CorrectionInput& input, const Pipeline& pipeline);
  void (*apply)(const CorrectionInput& input, Pipeline& pipeline);
};
// The corrections in the order in which they are applied. Each one assumes that all before it are
// done.
[[nodiscard]] std::span<const Correction> Corrections();

// How much a correction changed the batches.
// Units: seconds, sum over all batches; negative: it made them cheaper.
struct CorrectionEffect {
  std::string_view name;
  double making = 0;  // wall time of the batches' parts
  double cpu = 0;     // CPU time of the batches' parts
  double steps = 0;
};
// Applies, in order, each correction that applies. Returns the effects of these.
std::vector<CorrectionEffect> ApplyCorrections(const CorrectionInput& input, Pipeline& pipeline);

// Sets the load of the steps from `outside`, the CPU seconds that the training process computes
// outside of the loader. Steps last `step` of the `time` seconds. If they take hardly any time,
// other work of the process dominates the ratio of CPU time to step time. Then the load counts as
// not known and is at most one core.
void SetStepLoad(double outside, double step, double time, Pipeline& pipeline);

}  // namespace penstock::analyzer
