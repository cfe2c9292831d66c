// SPDX-License-Identifier: Apache-2.0
//
// Brings every rate and gain that is told of a run to one base: its recorded rate, of the steady
// part, or of the whole run where start-up counts. Pure.
#pragma once

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/predict.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// What every surface tells of `predicted`: its rate is base_rate() times its speed-up, which is
// that of the whole run where start-up counts, and otherwise that of the steady part, at most what
// the step allows. The interval keeps its relative width. Told twice, it stays the same.
[[nodiscard]] Prediction OnBase(const Diagnosis& diagnosis, const Prediction& predicted);
// The same on the steady part, whatever counts.
[[nodiscard]] Prediction OnSteadyPart(const Diagnosis& diagnosis, const Prediction& predicted);
// The rate on the same base if data cost nothing in `changed`, a variation of `recorded`.
// Requires: diagnosis.loader.
[[nodiscard]] double CeilingOnBase(const Diagnosis& diagnosis, const Pipeline& recorded,
                                   const Pipeline& changed);

// Of Diagnosis::gains; 1: it is not there.
[[nodiscard]] double GainOf(const Diagnosis& diagnosis, Factor factor);

// Sets the ceiling and the gains. `simulated`: those of `loader` come from the simulation of its
// batches. Requires: rates and whole_run are set.
void TellGains(const LoaderDiagnosis& loader, bool simulated, Diagnosis& diagnosis);

}  // namespace penstock::analyzer
