// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/contention.h"

#include <algorithm>

#include "analyzer/simulate/simulate.h"

namespace penstock::analyzer {

void ScaleWaiting(Pipeline& pipeline, double share) {
  if (share == 1) return;
  const auto scale = [share](Demand& demand) {
    for (const auto part : kDemandParts) {
      Work& work = demand.*part;
      if (work.wall > work.cpu) work.wall = work.cpu + share * (work.wall - work.cpu);
    }
  };
  for (EpochDemand& epoch : pipeline.epochs) {
    std::for_each(epoch.batches.begin(), epoch.batches.end(), scale);
    scale(epoch.warm_up);
  }
  for (Work& work : pipeline.slower) work.wall = work.cpu + share * (work.wall - work.cpu);
}

double GenuineWaiting(const Pipeline& pipeline, std::span<const double> making) {
  if (pipeline.workers <= 0 || pipeline.sample_tasks) return 1;
  const MakingReplay replay(pipeline, making);
  const auto with = [&](double share) {
    return replay.Simulated([=](Pipeline& part) { ScaleWaiting(part, share); });
  };
  constexpr double kNear = 1.01;
  if (!(replay.recorded() > 0) || with(1) <= kNear * replay.recorded()) return 1;
  double low = 0;
  double high = 1;
  for (int step = 0; step < 7; ++step) {
    const double middle = 0.5 * (low + high);
    (with(middle) > replay.recorded() ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

MakingReplay::MakingReplay(const Pipeline& pipeline, std::span<const double> making) {
  constexpr std::size_t kBatches = 1024;
  // The first counted batch comes late, for example, if the rate of the run changed for good.
  std::size_t first = 0;
  for (const EpochDemand& epoch : pipeline.epochs) {
    const auto counted = std::find_if(epoch.batches.begin(), epoch.batches.end(),
                                      [](const Demand& demand) { return demand.counted; });
    first += static_cast<std::size_t>(counted - epoch.batches.begin());
    if (counted != epoch.batches.end()) break;
  }
  const bool late = first > kBatches / 2 && first < pipeline.batches();
  part_ = Shortened(late ? Without(pipeline, first) : pipeline, kBatches, kBatches);
  std::size_t i = part_.skipped;
  for (const EpochDemand& epoch : part_.epochs) {
    for (const Demand& demand : epoch.batches) {
      if (i < making.size() && demand.counted) recorded_ += making[i];
      ++i;
    }
  }
}

double MakingReplay::Simulated(const std::function<void(Pipeline&)>& change) const {
  Pipeline part = part_;
  change(part);
  return Simulate(part).making;
}

}  // namespace penstock::analyzer
