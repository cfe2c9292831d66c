// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/predict_combination.h"

#include <algorithm>
#include <cmath>

#include "analyzer/diagnosis/base.h"
#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {
namespace {

// A long recording is shortened to this many batches or samples to simulate the limits of a lever.
constexpr std::size_t kLimitBatches = 512;
constexpr std::size_t kLimitTasks = 4096;

}  // namespace

CombinationPredictor::CombinationPredictor(const Diagnosis& diagnosis, const Levers& levers,
                                           const PlanSpace& space)
    : diagnosis_(diagnosis), loader_(*diagnosis.loader), levers_(levers), space_(space) {}

// Widens the confidence interval by the rates at the limits of each part whose time is known only
// within limits.
void CombinationPredictor::Widen(const Combination& one, const Pipeline& changed,
                                 Prediction& predicted) const {
  double below = 1 - predicted.rate.low / predicted.rate.estimate;
  double above = predicted.rate.high / predicted.rate.estimate - 1;
  const Pipeline part = SteadyPart(Shortened(changed, kLimitBatches, kLimitTasks));
  const double rate = SimulateSteady(part).rate();
  if (!(rate > 0)) return;
  for (std::size_t i = 0; i < levers_.all.size(); ++i) {
    const Lever& lever = levers_.all[i];
    if ((one.levers >> i & 1) == 0 || lever.unsure == Factor::kNone) continue;
    const auto share = [&](double scale) {
      Pipeline other = part;
      ScaleFactor(other, lever.unsure, scale, FirstBatches::kScaled);
      return SimulateSteady(other).rate() / rate;
    };
    below = std::hypot(below, std::max(0.0, 1 - share(lever.slow)));
    above = std::hypot(above, std::max(0.0, share(lever.fast) - 1));
  }
  predicted.rate.low = predicted.rate.estimate * std::max(0.0, 1 - below);
  predicted.rate.high = predicted.rate.estimate * (1 + above);
}

std::optional<Pipeline> CombinationPredictor::Changed(const Combination& one) const {
  const auto changed = ApplyLevers(loader_.pipeline, loader_, levers_, one.levers);
  if (!changed) return std::nullopt;  // levers that exclude each other are never combined
  return Apply(changed->pipeline, space_.SettingOf(one), changed->facts);
}

Prediction CombinationPredictor::Predict(const Combination& one) {
  for (const auto& [known, prediction] : predicted_) {
    if (known == one) return prediction;
  }
  Prediction predicted;
  const auto changed = ApplyLevers(loader_.pipeline, loader_, levers_, one.levers);
  if (changed) {
    const Setting setting = space_.SettingOf(one);
    const Pipeline pipeline = Apply(changed->pipeline, setting, changed->facts);
    predicted = analyzer::Predict(loader_.pipeline, pipeline, loader_.replay);
    if (predicted.rate.estimate > 0) Widen(one, pipeline, predicted);
    const double ram =
        changed->memory + static_cast<double>(RamOf(loader_.pipeline, setting, changed->facts));
    predicted.ram = static_cast<std::uint64_t>(std::clamp(ram, 0.0, 1e18));
    predicted = OnBase(diagnosis_, predicted);
  }
  predicted_.emplace_back(one, predicted);
  return predicted;
}

}  // namespace penstock::analyzer
