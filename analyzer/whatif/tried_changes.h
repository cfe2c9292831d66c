// SPDX-License-Identifier: Apache-2.0
//
// The gains of changes other than the loader's own settings: changes of predict/changes.h that need
// no figure from the user. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

struct TriedChange {
  std::string option;  // option of penstock whatif: "--ram-cache"
  Prediction predicted;
  Statements notes;  // what was assumed
};

// The changes that gain at least 1 % and surely gain (Prediction::SurelyGains()), as far as the
// trace tells enough to predict them, the largest gain first. Moves to a GPU only if the trace
// shows one. Empty if nothing can be suggested, or if the loop uses several loaders together.
//
// Cost: four simulations for each of six changes.
[[nodiscard]] std::vector<TriedChange> TryChanges(const LoaderDiagnosis& loader);

}  // namespace penstock::analyzer
