// SPDX-License-Identifier: Apache-2.0
//
// What a run would gain from changes other than the loader's own settings: those of
// predict/changes.h that need no figure from the user. Values; pure.
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

// The changes that the trace tells enough about and that gain 1 %, the largest gain first. Moves to
// a GPU only if the trace shows one. Empty if nothing can be suggested, or if several loaders are
// drained together.
// Cost: some three simulations for each of six changes.
[[nodiscard]] std::vector<TriedChange> TryChanges(const LoaderDiagnosis& loader);

}  // namespace penstock::analyzer
