// SPDX-License-Identifier: Apache-2.0
#include "gui/model/forecast.h"

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/format.h"

namespace penstock::gui {

Effect EffectOf(double before, const analyzer::Interval& after) {
  if (before > 0 && after.low > before) return Effect::kGain;
  return before > 0 && after.high < before ? Effect::kLoss : Effect::kWithinDoubt;
}

Rgb ColourOf(const Palette& palette, Effect effect) {
  return effect == Effect::kGain   ? palette.good
         : effect == Effect::kLoss ? palette.bad
                                   : palette.text;
}

Forecast ForecastOf(const analyzer::Diagnosis& diagnosis, const analyzer::Prediction& predicted) {
  const analyzer::Prediction told = analyzer::OnBase(diagnosis, predicted);
  Forecast forecast;
  forecast.before = diagnosis.base_rate();
  forecast.after = told.rate;
  forecast.speedup = told.speedup;
  forecast.whole_run = diagnosis.whole_run;
  forecast.at_most = told.at_most;
  if (!told.at_most) forecast.effect = EffectOf(forecast.before, forecast.after);
  return forecast;
}

std::string GainText(double speedup) {
  return analyzer::TimesText(speedup) + "x";
}

std::string LeastGainText(double speedup) {
  return (speedup > analyzer::kMostTimes ? "" : "≥ ") + GainText(speedup);
}

std::string MostGainText(double speedup) {
  return (speedup > analyzer::kMostTimes ? "" : "≤ ") + GainText(speedup);
}

std::string GainText(const Forecast& forecast, Language language) {
  const std::string gain = GainText(forecast.speedup);
  return forecast.at_most ? Filled(Text::kAtMost, language, gain) : gain;
}

std::string IntervalText(const analyzer::Interval& rate, Language language) {
  const std::string low = analyzer::ShortNumber(rate.low);
  const std::string high = analyzer::ShortNumber(rate.high);
  if (rate.high <= rate.low || low == high) return "";
  return Filled(Text::kInterval, language, low, high);
}

}  // namespace penstock::gui
