// SPDX-License-Identifier: Apache-2.0
//
// Predicts combinations of levers and loader arguments on the whole recording. Not thread-safe.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/plan/levers.h"
#include "analyzer/plan/search.h"
#include "analyzer/predict/predict.h"

namespace penstock::analyzer {

class CombinationPredictor {
 public:
  // Keeps references to its arguments. Requires: diagnosis.loader.
  CombinationPredictor(const Diagnosis& diagnosis, const Levers& levers, const PlanSpace& space);

  // The loader model with the combination applied; nullopt: its levers exclude each other.
  [[nodiscard]] std::optional<Pipeline> Changed(const Combination& one) const;
  // The prediction, on the base of the diagnosis (diagnosis/base.h). Results are kept.
  // Cost: some 10 simulations of the recording, for a combination that is new.
  [[nodiscard]] Prediction Predict(const Combination& one);

 private:
  void Widen(const Combination& one, const Pipeline& changed, Prediction& predicted) const;

  const Diagnosis& diagnosis_;
  const LoaderDiagnosis& loader_;
  const Levers& levers_;
  const PlanSpace& space_;
  std::vector<std::pair<Combination, Prediction>> predicted_;
};

}  // namespace penstock::analyzer
