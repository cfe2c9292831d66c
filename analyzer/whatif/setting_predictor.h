// SPDX-License-Identifier: Apache-2.0
//
// Predicts many settings of one loader with all changes of a grid. Values; Predict() starts threads
// and joins them.
#pragma once

#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/predict/changes.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/simulate/pipeline.h"
#include "analyzer/whatif/grid.h"

namespace penstock::analyzer {

class SettingPredictor {
 public:
  // `recorded`: the pipeline as it was recorded. `changed`: the same with the changes of the grid.
  // `recorded` and `replay` must outlive this object.
  SettingPredictor(const Pipeline& recorded, Changed changed, const Replay& replay,
                   const Budget& budget);

  // The configurations of these settings, in their order; the caller sets prefetch, batch, cores,
  // the ceiling and `recorded`. Speed-ups are those of the steady part and, if the start recurs, of
  // the whole run. Errors of one setting: those of PredictSteady().
  // Cost: some ten simulations for each setting, divided among all cores.
  [[nodiscard]] std::vector<Predicted<Configuration>> Predict(
      const std::vector<Setting>& settings) const;

  // The pipeline with all changes, under the recorded number of workers and depth.
  [[nodiscard]] Pipeline AsAsked(Setting setting) const;

  [[nodiscard]] const Pipeline& steady() const { return steady_; }  // with all changes
  [[nodiscard]] const LoaderFacts& facts() const { return changed_.facts; }

 private:
  [[nodiscard]] Predicted<Configuration> PredictOne(const Setting& setting) const;
  void SetSpeedup(const Setting& setting, Configuration& one) const;

  const Pipeline& recorded_;
  const Changed changed_;
  const Replay& replay_;
  const Budget budget_;
  const Pipeline steady_;
  const Pipeline naming_;  // a short pipeline to name the bottleneck
  const bool recurs_;
  const double recorded_time_;  // seconds; 0 if the start does not recur
  const double recorded_rate_;  // samples per second
};

}  // namespace penstock::analyzer
