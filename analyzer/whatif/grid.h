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

// What is asked. Empty lists: the recorded value; where nothing at all is asked for, a grid that
// suits the machine.
struct GridRequest {
  std::vector<int> workers;
  std::vector<int> prefetch;
  int batch = 0;               // 0: as recorded
  std::optional<double> step;  // seconds
  std::optional<bool> pin;
  std::optional<bool> persistent;
  std::optional<double> step_cores;  // that the step keeps busy
  std::vector<std::pair<Factor, double>> scale;
  Changes changes;
  DeviceCosts device_costs;  // of what changes move to the GPU
  double fixed_rate = 0;     // samples a second of the program with one batch for ever; 0: unknown
  double budget_ram = 0;     // bytes; 0: that of the machine
};

struct Configuration {
  int workers = 0;
  int prefetch = 0;
  int batch = 0;
  Prediction predicted;
  Factor bottleneck = Factor::kNone;
  bool recorded = false;  // the setting of the recording, nothing else changed
  bool fits = true;       // memory and /dev/shm have room for it
};

// A configuration whose rate would break a law, or for whose workers the dataset has no shards.
struct LeftOut {
  int workers = 0;
  int prefetch = 0;
  int batch = 0;
  Statement why;
};

struct Grid {
  std::vector<Configuration> configurations;  // one per combination, workers outermost
  std::vector<LeftOut> left_out;              // combinations that are not among them
  Replay replay;
  Statement unit;    // of the rates
  Statements notes;  // what was assumed
  // How fast the program would be if data cost nothing, in samples per second: measured with
  // --fixed-batch where that was given, else simulated.
  double ceiling = 0;
  bool ceiling_measured = false;
  Changes changes;  // in all configurations
};

// Errors: kInput if there is no loader, its batches were made out of sight, fewer than 16 are left
// when the queues have filled, or the simulation does not explain the run: "not enough: needs ...";
// no configuration is left; those of ApplyChanges(). Cost: some 1 ms a configuration.
[[nodiscard]] Predicted<Grid> PredictGrid(const Diagnosis& diagnosis, const GridRequest& request);

// A factor by the name that reports use; nullopt for startup, prefetch and what is unknown.
[[nodiscard]] std::optional<Factor> FactorOf(std::string_view name);

}  // namespace penstock::analyzer
