// SPDX-License-Identifier: Apache-2.0
#include "gui/model/forecast.h"

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/format.h"

namespace penstock::gui {

Forecast ForecastOf(const analyzer::Diagnosis& diagnosis, const analyzer::Prediction& predicted) {
  const analyzer::Prediction told = analyzer::OnBase(diagnosis, predicted);
  Forecast forecast;
  forecast.before = diagnosis.base_rate();
  forecast.after = told.rate;
  forecast.speedup = told.speedup;
  forecast.whole_run = diagnosis.whole_run;
  if (forecast.before <= 0) return forecast;
  if (forecast.after.low > forecast.before) forecast.effect = Effect::kGain;
  if (forecast.after.high < forecast.before) forecast.effect = Effect::kLoss;
  return forecast;
}

std::string GainText(double speedup) {
  return analyzer::TimesText(speedup) + "x";
}

}  // namespace penstock::gui
