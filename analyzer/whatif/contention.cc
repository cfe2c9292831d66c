// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/contention.h"

#include <algorithm>

#include "analyzer/whatif/simulate.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kBatches = 1024;

double MakingWith(Pipeline pipeline, double share) {
  ScaleWaiting(pipeline, share);
  return Simulate(pipeline).making;
}

double Recorded(const Pipeline& part, std::span<const double> making) {
  double recorded = 0;
  std::size_t i = 0;
  for (const EpochDemand& epoch : part.epochs) {
    for (const Demand& demand : epoch.batches) {
      if (i < making.size() && demand.counted) recorded += making[i];
      ++i;
    }
  }
  return recorded;
}

}  // namespace

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
  const Pipeline part = Shortened(pipeline, kBatches, kBatches);
  const double recorded = Recorded(part, making);
  constexpr double kNear = 1.01;
  if (!(recorded > 0) || MakingWith(part, 1) <= kNear * recorded) return 1;
  double low = 0;
  double high = 1;
  for (int step = 0; step < 7; ++step) {
    const double middle = 0.5 * (low + high);
    (MakingWith(part, middle) > recorded ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

Making CompareMaking(const Pipeline& pipeline, std::span<const double> making) {
  const Pipeline part = Shortened(pipeline, kBatches, kBatches);
  return {Recorded(part, making), Simulate(part).making};
}

}  // namespace penstock::analyzer
