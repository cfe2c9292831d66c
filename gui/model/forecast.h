// SPDX-License-Identifier: Apache-2.0
//
// A predicted change beside the run as it is: both on one base, and whether it may be told as a
// gain. Values; pure.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/diagnosis/diagnosis.h"

namespace penstock::gui {

// A gain is one whose whole interval lies above the run as it is, a loss one whose interval lies
// below. All between is within what the prediction may be wrong by.
enum class Effect : std::uint8_t { kGain, kWithinDoubt, kLoss };

struct Forecast {
  double before = 0;  // Diagnosis::base_rate()
  analyzer::Interval after;
  double speedup = 1;      // after.estimate / before
  bool whole_run = false;  // as Diagnosis has it
  Effect effect = Effect::kWithinDoubt;
};
[[nodiscard]] Forecast ForecastOf(const analyzer::Diagnosis& diagnosis,
                                  const analyzer::Prediction& predicted);

// "1.31x", ">20x".
[[nodiscard]] std::string GainText(double speedup);

}  // namespace penstock::gui
