// SPDX-License-Identifier: Apache-2.0
//
// Predicted throughput over a grid of settings. Values; pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/changes.h"
#include "traces/base/result.h"

namespace penstock::analyzer {

// The request. An empty list stands for the recorded value. If the request asks for nothing, empty
// lists stand for a grid that suits the machine.
struct GridRequest {
  std::vector<int> workers;
  std::vector<int> prefetch;
  int batch = 0;               // 0: as recorded
  std::optional<double> step;  // seconds
  std::optional<bool> pin;
  std::optional<bool> persistent;
  std::optional<double> step_cores;  // cores that the step keeps busy
  std::vector<std::pair<Factor, double>> scale;
  Changes changes;
  std::vector<double> cores;  // of other machines; each one replaces changes.cores in turn
  DeviceCosts device_costs;   // for stages that changes move to the GPU
  double fixed_rate = 0;      // samples per second with --fixed-batch; 0: not known
  double budget_ram = 0;      // bytes; 0: that of the machine
  bool options = true;        // notes name options of `penstock whatif`
};

struct Configuration {
  int workers = 0;
  int prefetch = 0;
  int batch = 0;
  double cores = 0;  // of another machine; 0: as recorded
  Prediction predicted;
  Factor bottleneck = Factor::kNone;
  bool recorded = false;  // the recorded setting, with nothing else changed
  bool fits = true;       // memory and /dev/shm have room for it
};

// A configuration without a prediction: its rate would break a law, or it has more workers than the
// dataset has shards.
struct LeftOut {
  int workers = 0;
  int prefetch = 0;
  int batch = 0;
  double cores = 0;
  Statement why;
};

struct Grid {
  std::vector<Configuration> configurations;  // one per combination, cores outermost, then workers
  std::vector<LeftOut> left_out;              // combinations missing in `configurations`
  Replay replay;
  Statement unit;          // of the rates
  Statements notes;        // the assumptions
  double recorded = 0;     // the rate of the recording that all rates here refer to
  bool whole_run = false;  // `recorded` is the rate of the whole run, start-up included; otherwise
                           // of the steady part
  // The rate of the program if data cost nothing, in samples per second: measured, if a rate with
  // --fixed-batch was given and the step is the recorded one; otherwise simulated.
  double ceiling = 0;
  bool ceiling_measured = false;
  bool several_machines = false;  // `ceiling` and `changes` are those of the first machine
  Changes changes;                // in effect in all configurations
};

// Errors: kInput ("not enough: needs ...") if there is no loader, if the fetches of most of its
//         batches were not recorded, if fewer than 16 steady batches are left, or if the simulation
//         does not explain the run. kInput if no configuration is left. Also the errors of
//         ApplyChanges(). If several numbers of cores are asked for, those that fail are left out,
//         unless all fail.
// Cost:   up to 3 ms for each configuration, divided among all cores.
[[nodiscard]] Predicted<Grid> PredictGrid(const Diagnosis& diagnosis, const GridRequest& request);

// A factor by its name in reports; nullopt for startup, prefetch and unknown names.
[[nodiscard]] std::optional<Factor> FactorOf(std::string_view name);

}  // namespace penstock::analyzer
