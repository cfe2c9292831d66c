// SPDX-License-Identifier: Apache-2.0
//
// Predicts the gains of changes from predict/changes.h that need no figure from the user. The
// loader's own settings are not among them. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

struct TriedChange {
  std::string option;  // option of penstock whatif, such as "--ram-cache"
  Prediction predicted;
  Statements notes;  // the assumptions
};

// The changes that gain at least 1 % and surely gain (Prediction::SurelyGains()), the largest gain
// first. Leaves out changes for whose prediction the trace lacks something. Tries moves to a GPU
// only if the trace names one. Empty if nothing can be suggested, or if the loop uses several
// loaders together.
//
// Cost: four simulations for each of six changes.
[[nodiscard]] std::vector<TriedChange> TryChanges(const LoaderDiagnosis& loader);

}  // namespace penstock::analyzer
