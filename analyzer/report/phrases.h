// SPDX-License-Identifier: Apache-2.0
//
// Statements that are the same on a terminal and on a page. Pure.
#pragma once

#include <cmath>

#include "analyzer/report/report.h"

namespace penstock::analyzer {

// Whether the loop's waiting could be timed. This takes two batches of an epoch.
[[nodiscard]] inline bool WaitKnown(const Diagnosis& diagnosis) {
  return diagnosis.loader && diagnosis.loader->steady.batches > 0;
}
// Whether gains are known. With a loader they are if predictions can be made from the recording.
// Without one they are shares of the threads' time.
[[nodiscard]] inline bool Predicts(const Diagnosis& diagnosis) {
  return !diagnosis.loader || diagnosis.needs.empty();
}
// "val.py:90: 2 workers, batch 1, 400 batches, after the first; the loop waited 5.9 s of 6.2 s with
// it": one statement for each other loader of the process, four at most, then "3 more".
[[nodiscard]] Statements OtherLoaders(const Diagnosis& diagnosis);
// `why`, a reason why something is missing from the report; a reference to the verdict if the
// verdict gives this reason.
[[nodiscard]] Statement ReasonOnce(const Diagnosis& diagnosis, const Statement& why);
// "412 samples/s (398..427), 6.4 batches/s, steady over 60 of 64 batches; whole run 389"
[[nodiscard]] Statement ThroughputOf(const Diagnosis& diagnosis);
// "61 % of the loop in the steady part, 63 % over the whole run": the second figure is that of the
// stage table, and left out if it is the same. Requires: WaitKnown().
[[nodiscard]] Statement WaitOf(const Report& report);
// When the rate changed permanently, and which part of the run the steady figures describe; empty
// if the rate did not change.
[[nodiscard]] Statement RateChangeOf(const Diagnosis& diagnosis);
// That the rate still rises or falls at the end of the run; empty if it keeps its level.
[[nodiscard]] Statement RateDriftOf(const Diagnosis& diagnosis);
// "pytorch, 2 workers, prefetch 2, batch 64; workers busy 98 %, idle 1 %"; empty without a loader.
[[nodiscard]] Statement LoaderOf(const Diagnosis& diagnosis);
// "412 samples/s (398..427), 1.31x the steady rate": relative to the base of the diagnosis
[[nodiscard]] Statement PredictionOf(const Prediction& prediction, const Diagnosis& diagnosis);
// Whether the error of a replay is below 0.1 %. Its figure could then be "+0.0 %", but no replay
// repeats a run exactly, so the report says "within 0.1 %" instead.
[[nodiscard]] inline bool RepeatsClosely(double error) {
  return std::abs(error) < 0.001;
}
// Whether the simulation is said to repeat the run. It repeats a few batches always, so this takes
// a steady part, and batches whose making was recorded. A verdict that warns of the error has told
// it already.
[[nodiscard]] bool IsReplayed(const Diagnosis& diagnosis);
// "confidence 27 of 100; the simulation repeats the run with an error of -0.4 %"
[[nodiscard]] Statement ConfidenceOf(const Diagnosis& diagnosis);
// "8 workers, prefetch 4"
[[nodiscard]] Statement SuggestedSetting(const Suggestion& suggestion);
// Why nothing is suggested, and which finding surely gains if one does. Requires: there is a
// loader; its suggestion changes nothing.
[[nodiscard]] Statement Keep(const Report& report);

}  // namespace penstock::analyzer
