// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/setting_predictor.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "analyzer/predict/predict.h"
#include "analyzer/predict/suggest.h"
#include "analyzer/simulate/simulate.h"
#include "traces/base/parallel.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kMostThreads = 16;
// Fewer settings than this for each thread are not worth a thread (ours).
constexpr std::size_t kLeastPerThread = 4;

}  // namespace

SettingPredictor::SettingPredictor(const Pipeline& recorded, Changed changed, const Replay& replay,
                                   const Budget& budget)
    : recorded_(recorded),
      changed_(std::move(changed)),
      replay_(replay),
      budget_(budget),
      steady_(SteadyPart(changed_.pipeline)),
      naming_(NamingPart(steady_)),
      recurs_(StartRecurs(recorded)),
      recorded_time_(recurs_ ? TimeOf(recorded) : 0),
      recorded_rate_(SimulateSteady(SteadyPart(recorded)).rate() * replay.correction()) {}

std::vector<Predicted<Configuration>> SettingPredictor::Predict(
    const std::vector<Setting>& settings) const {
  std::vector<Predicted<Configuration>> found(settings.size());
  const std::size_t most =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  const std::size_t threads = std::clamp<std::size_t>(settings.size() / kLeastPerThread, 1, most);
  InParallel(settings.size(), static_cast<unsigned>(threads),
             [&](std::size_t i) { found[i] = PredictOne(settings[i]); });
  return found;
}

Pipeline SettingPredictor::AsAsked(Setting setting) const {
  setting.workers = recorded_.workers;
  setting.prefetch = recorded_.prefetch;
  return Apply(changed_.pipeline, setting, changed_.facts);
}

Predicted<Configuration> SettingPredictor::PredictOne(const Setting& setting) const {
  const Predicted<Interval> rate = PredictSteady(Apply(steady_, setting, changed_.facts), replay_);
  PENSTOCK_TRY(rate);
  Configuration one;
  one.workers = setting.workers;
  one.predicted.rate = *rate;
  const double memory =
      static_cast<double>(RamOf(recorded_, setting, changed_.facts)) + changed_.memory;
  one.predicted.ram = static_cast<std::uint64_t>(memory);
  one.bottleneck = BottleneckUnder(naming_, setting, changed_.facts);
  const double shared = SharedMemoryOf(recorded_, setting, changed_.facts);
  one.fits = !(budget_.ram > 0 && memory > budget_.ram) &&
             !(budget_.shared_memory > 0 && shared > budget_.shared_memory);
  SetSpeedup(setting, one);
  return one;
}

void SettingPredictor::SetSpeedup(const Setting& setting, Configuration& one) const {
  Prediction& predicted = one.predicted;
  if (recorded_rate_ > 0) {
    predicted.steady = predicted.speedup = predicted.rate.estimate / recorded_rate_;
  }
  if (!recurs_) return;
  const double time = TimeOf(Apply(changed_.pipeline, setting, changed_.facts));
  if (time > 0) predicted.speedup = recorded_time_ / time;
}

}  // namespace penstock::analyzer
