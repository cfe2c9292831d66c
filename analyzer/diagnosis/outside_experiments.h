// SPDX-License-Identifier: Apache-2.0
//
// Where the steady part of a run with experiments lies. The plain windows between two experiments
// belong to the experiments, which compare with them (docs/diagnosis.md 3.12). So all figures but
// the measured gains are of the time before the first window and after the last one. Pure.
#pragma once

#include <optional>

#include "analyzer/model/steady.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// "before the experiments"; nullopt if there are none, or if no batch counts.
[[nodiscard]] std::optional<Statement> OutsideExperiments(const LoaderRun& run,
                                                          const SteadyState& steady);

}  // namespace penstock::analyzer
