// SPDX-License-Identifier: Apache-2.0
//
// What changes besides the loader's own settings would gain in a run: those of predict/changes.h
// that need no figure from the user. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::analyzer {

struct TriedChange {
  std::string option;  // of penstock whatif: "--ram-cache"
  Prediction predicted;
  Statements notes;  // what was assumed
};

// Those that the trace says enough about and that gain 1 %, the largest gain first. Moves to a GPU
// only where the trace knows of one. Empty where Missing() says why.
// Cost: two simulations for each of six.
[[nodiscard]] std::vector<TriedChange> TryChanges(const LoaderDiagnosis& loader);

}  // namespace penstock::analyzer
