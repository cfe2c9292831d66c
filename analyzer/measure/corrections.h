// SPDX-License-Identifier: Apache-2.0
//
// Corrections of a loader model. The batch costs of a recording hold what the simulator adds by
// itself (turns at the storage, slow workers, waiting for cores), and lack what spans do not show
// (threads of others, what the device does). Each correction moves one such thing to its place.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/measure/cpu_load.h"
#include "analyzer/measure/recorded_costs.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// CPU seconds of the steady part: what the spans hold, and what the processes' counters show.
// Counters are samples some hundred milliseconds apart: with short epochs they bring in what is not
// the loop's, hence the limits in corrections.cc.
struct CpuAccount {
  double batches = 0;
  double samples = 0;
  double fetch = 0;                // in workers
  double put = 0;                  // what computes of it
  double transfer = 0;             // of the training process, outside of steps
  double step = 0;                 // seconds that the steps last
  std::optional<double> consumer;  // per second; nullopt: not recorded
  std::optional<double> workers;
};

// What corrections look at. Refers to all of it while it lives.
struct CorrectionInput {
  const RecordedRun& recorded;
  const CpuLoad& load;
  std::span<const double> charged;  // of the start-up of each epoch
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
// In the order in which they are made: each takes for granted what those before it have moved.
[[nodiscard]] std::span<const Correction> Corrections();

// What a correction that applied did to the batches.
// Units: seconds, of all batches; negative: it was taken off.
struct CorrectionEffect {
  std::string_view name;
  double making = 0;  // wall time of their parts
  double cpu = 0;     // CPU time of their parts
  double steps = 0;
};
std::vector<CorrectionEffect> ApplyCorrections(const CorrectionInput& input, Pipeline& pipeline);

// Sets the load of the steps, which last `step` of `time` seconds, from the CPU seconds that the
// training process computes outside of the loader. The process's other work would be most of the
// ratio where steps hardly take time: their load is not known then, and one core at most.
void SetStepLoad(double outside, double step, double time, Pipeline& pipeline);

}  // namespace penstock::analyzer
