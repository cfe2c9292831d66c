// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/base.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

// The speed-up of the run's steady part for each factor, if that factor cost nothing. No part of
// the data path gains more than the whole data path. The steady part has no start-up, so the gain
// of start-up is taken from the whole run. Empty if no steady part was simulated.
std::vector<Gain> SteadyGains(const LoaderDiagnosis& loader, double headroom) {
  std::vector<Gain> gains = Attribute(SteadyPart(loader.pipeline), RunPart::kSteady).gains;
  if (gains.empty()) return gains;
  for (Gain& gain : gains) {
    const bool data = gain.factor != Factor::kCompute && gain.factor != Factor::kH2d;
    if (data) gain.speedup = std::min(gain.speedup, headroom);
  }
  for (const Gain& gain : loader.attribution.gains) {
    if (gain.factor == Factor::kStartup) gains.push_back(gain);
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& a, const Gain& b) { return a.speedup > b.speedup; });
  return gains;
}

Prediction ToldOn(double base, double speedup, const Prediction& predicted) {
  const double rate = predicted.rate.estimate;
  if (!(base > 0) || !(rate > 0)) return predicted;
  const double scale = base * speedup / rate;
  Prediction told = predicted;
  told.speedup = speedup;
  told.rate = {base * speedup, predicted.rate.low * scale, predicted.rate.high * scale};
  return told;
}

}  // namespace

bool Diagnosis::ceiling_is_least() const {
  const Imbalance& imbalance = ranks.imbalance;
  if (!loader || !ranks.several() || !imbalance.together) return false;
  const RankPlace* ours = run.ranks.Find(run.loader().config.consumer);
  const bool last = imbalance.fixed && ours != nullptr && ours->rank == imbalance.slowest;
  return !last && imbalance.cost_share() >= Imbalance::kOfNote;
}

double GainOf(const Diagnosis& diagnosis, Factor factor) {
  for (const Gain& gain : diagnosis.gains) {
    if (gain.factor == factor) return gain.speedup;
  }
  return 1;
}

Prediction OnSteadyPart(const Diagnosis& diagnosis, const Prediction& predicted) {
  const double base = diagnosis.samples_rate;
  const bool known = base > 0 && predicted.most > 0;
  return ToldOn(base, known ? std::min(predicted.steady, predicted.most / base) : predicted.steady,
                predicted);
}

Prediction OnBase(const Diagnosis& diagnosis, const Prediction& predicted) {
  if (!diagnosis.loader) return predicted;
  return diagnosis.whole_run ? ToldOn(diagnosis.whole_rate, predicted.speedup, predicted)
                             : OnSteadyPart(diagnosis, predicted);
}

double CeilingOnBase(const Diagnosis& diagnosis, const Pipeline& recorded,
                     const Pipeline& changed) {
  if (!diagnosis.whole_run) return CeilingRate(changed, diagnosis.loader->replay);
  const double before = TimeOf(recorded);
  const double after = TimeOf(WithoutData(changed));
  const bool all_data = !(after * kMostHeadroom > before);
  return diagnosis.base_rate() * (all_data ? kMostHeadroom : before / after);
}

void TellGains(const LoaderDiagnosis& loader, bool simulated, Diagnosis& diagnosis) {
  diagnosis.ceiling = diagnosis.base_rate() * loader.attribution.headroom;
  diagnosis.gains = loader.attribution.gains;
  if (diagnosis.whole_run || !simulated) return;
  diagnosis.ceiling = CeilingRate(loader.pipeline, loader.replay);
  std::vector<Gain> gains = SteadyGains(loader, diagnosis.headroom());
  if (!gains.empty()) diagnosis.gains = std::move(gains);
}

}  // namespace penstock::analyzer
