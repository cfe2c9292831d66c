// SPDX-License-Identifier: Apache-2.0
//
// Brings every reported rate and gain of a run to one base. The base is the recorded rate: of the
// whole run where start-up counts, otherwise of the steady part. Pure.
#pragma once

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/predict.h"
#include "analyzer/simulate/pipeline.h"

namespace penstock::analyzer {

// What reports and views show of `predicted`: its rate becomes base_rate() times its speed-up.
// Where start-up counts, this is the speed-up of the whole run. Otherwise it is the speed-up of the
// steady part, and the rate is at most Prediction::most. The interval keeps its relative width. A
// second call changes nothing. Nothing changes without a loader, or if the base or the predicted
// rate is not known.
[[nodiscard]] Prediction OnBase(const Diagnosis& diagnosis, const Prediction& predicted);
// Like OnBase(), but the base is always the rate of the steady part, even where start-up counts.
[[nodiscard]] Prediction OnSteadyPart(const Diagnosis& diagnosis, const Prediction& predicted);
// The rate on the base if data cost nothing in `changed`, a variation of `recorded`.
// Requires: diagnosis.loader.
[[nodiscard]] double CeilingOnBase(const Diagnosis& diagnosis, const Pipeline& recorded,
                                   const Pipeline& changed);

// The speed-up of `factor` in Diagnosis::gains; 1 if it is not listed.
[[nodiscard]] double GainOf(const Diagnosis& diagnosis, Factor factor);

// Sets the ceiling and the gains. `simulated`: the gains of `loader` come from the simulation of
// its batches, not from the time of threads. Requires: rates and whole_run are set.
void TellGains(const LoaderDiagnosis& loader, bool simulated, Diagnosis& diagnosis);

}  // namespace penstock::analyzer
