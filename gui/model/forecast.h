// SPDX-License-Identifier: Apache-2.0
//
// Compares a predicted change with the run as it is, on one base, and decides whether it counts as
// a gain. Values; pure.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/diagnosis/diagnosis.h"
#include "gui/model/palette.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// A change is a gain if its whole confidence interval lies above the rate of the run, and a loss if
// all of it lies below. Anything between is within the error of the prediction.
enum class Effect : std::uint8_t { kGain, kWithinDoubt, kLoss };

[[nodiscard]] Effect EffectOf(double before, const analyzer::Interval& after);
// The colour of a figure with this effect, wherever it is shown.
[[nodiscard]] Rgb ColourOf(const Palette& palette, Effect effect);

struct Forecast {
  double before = 0;  // Diagnosis::base_rate()
  analyzer::Interval after;
  double speedup = 1;      // after.estimate / before
  bool whole_run = false;  // as in Diagnosis
  bool at_most = false;    // an upper bound, which is never taken for a gain
  Effect effect = Effect::kWithinDoubt;
};
[[nodiscard]] Forecast ForecastOf(const analyzer::Diagnosis& diagnosis,
                                  const analyzer::Prediction& predicted);

// "1.31x", ">20x".
[[nodiscard]] std::string GainText(double speedup);
// The same of a lower bound: "≥ 1.31x", ">20x".
[[nodiscard]] std::string LeastGainText(double speedup);
// The same of an upper bound: "≤ 1.31x", ">20x".
[[nodiscard]] std::string MostGainText(double speedup);
// The same, "at most" where it is an upper bound.
[[nodiscard]] std::string GainText(const Forecast& forecast, Language language);
// "380 to 420 (90 %)"; "" for a rate without an interval, such as that of a whole run.
[[nodiscard]] std::string IntervalText(const analyzer::Interval& rate, Language language);

}  // namespace penstock::gui
