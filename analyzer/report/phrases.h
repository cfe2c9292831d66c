// SPDX-License-Identifier: Apache-2.0
//
// What the reports for people say in the same words, on a terminal and on a page. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"

namespace penstock::analyzer {

// Whether the loop's waiting was timed: by two batches of an epoch at least.
[[nodiscard]] inline bool WaitKnown(const Diagnosis& diagnosis) {
  return diagnosis.loader && diagnosis.loader->steady.batches > 0;
}
// Whether gains are worth printing: a loader whose recording suffices, or shares of thread time.
[[nodiscard]] inline bool Predicts(const Diagnosis& diagnosis) {
  return !diagnosis.loader || diagnosis.needs.empty();
}
// Of rates: "samples/s", or "batches/s" where the samples of a batch are not known.
[[nodiscard]] std::string UnitText(const Diagnosis& diagnosis);
// "val.py:90: 2 workers, batch 1, 400 batches, after the first; the loop waited 5.9 s of 6.2 s with
// it": one of each other loader of the process.
[[nodiscard]] std::vector<std::string> OtherLoaderTexts(const Diagnosis& diagnosis);
// "412 samples/s (398..427), 6.4 batches/s, steady over 60 of 64 batches; whole run 389"
[[nodiscard]] std::string ThroughputText(const Diagnosis& diagnosis);
// "pytorch, 2 workers, prefetch 2, batch 64; workers busy 98 %, idle 1 %"; "" without a loader.
[[nodiscard]] std::string LoaderText(const Diagnosis& diagnosis);
// "412 samples/s (398..427), 1.31x over the whole run": the rate is the steady one
[[nodiscard]] std::string PredictionText(const Prediction& prediction, std::string_view unit);
// "confidence 27 %; the simulation repeats the run with an error of -0.4 %"
[[nodiscard]] std::string SurenessText(const Diagnosis& diagnosis);
// Why nothing is suggested. Requires: diagnosis.loader, and its suggestion does not change
// anything.
[[nodiscard]] Statement Keep(const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
