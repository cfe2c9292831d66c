// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/even_samples.h"

#include <algorithm>
#include <array>

namespace penstock::analyzer {
namespace {

// In the order of SamplePart.
constexpr std::array<Work Demand::*, 4> kParts = {&Demand::read, &Demand::decode, &Demand::augment,
                                                  &Demand::tokenize};

struct CostPart {
  float SampleCost::*wall;
  float SampleCost::*cpu;
};
constexpr std::array<CostPart, 4> kCostParts = {
    CostPart{&SampleCost::read, &SampleCost::read_cpu},
    CostPart{&SampleCost::decode, &SampleCost::decode_cpu},
    CostPart{&SampleCost::augment, &SampleCost::augment_cpu},
    CostPart{&SampleCost::tokenize, &SampleCost::tokenize_cpu}};

// The fraction of each part's time that is left if `excess` is subtracted. It is subtracted from
// the part `first`. If that part is too short, the rest is subtracted from the other parts in
// proportion.
std::array<double, 4> Left(const std::array<double, 4>& times, std::size_t first, double excess) {
  std::array<double, 4> left = {1, 1, 1, 1};
  double others = 0;
  for (std::size_t i = 0; i < times.size(); ++i) others += i == first ? 0 : times[i];
  const double of_first = std::min(excess, times[first]);
  if (times[first] > 0) left[first] = 1 - of_first / times[first];
  if (!(others > 0)) return left;
  const double scale = std::max(0.0, 1 - (excess - of_first) / others);
  for (std::size_t i = 0; i < times.size(); ++i) left[i] = i == first ? left[i] : scale;
  return left;
}

void EvenBatch(Demand& demand, std::size_t first, double excess) {
  std::array<double, 4> times{};
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = (demand.*kParts[i]).wall;
  const std::array<double, 4> left = Left(times, first, excess);
  for (std::size_t i = 0; i < times.size(); ++i) {
    (demand.*kParts[i]).wall *= left[i];
    (demand.*kParts[i]).cpu *= left[i];
  }
}

// Seconds of a sample as SampleTail counts them.
double TotalOf(const SampleCost& cost, double for_cores) {
  const double all = cost.read + cost.decode + cost.augment + cost.tokenize;
  const double cpu = cost.read_cpu + cost.decode_cpu + cost.augment_cpu + cost.tokenize_cpu;
  if (!(cpu > 0)) return all;  // not recorded
  const double waiting = std::max(0.0F, cost.decode - cost.decode_cpu) +
                         std::max(0.0F, cost.augment - cost.augment_cpu) +
                         std::max(0.0F, cost.tokenize - cost.tokenize_cpu);
  return all - for_cores * waiting;
}

void EvenSample(SampleCost& cost, std::size_t first, double excess) {
  std::array<double, 4> times{};
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = cost.*kCostParts[i].wall;
  const std::array<double, 4> left = Left(times, first, excess);
  for (std::size_t i = 0; i < times.size(); ++i) {
    cost.*kCostParts[i].wall *= static_cast<float>(left[i]);
    cost.*kCostParts[i].cpu *= static_cast<float>(left[i]);
  }
}

}  // namespace

EvenSamples EvenSamplesOf(const LoaderRun& run, const SampleTail& tail) {
  EvenSamples even{{}, tail.part, tail.median, tail.least, tail.for_cores};
  double mean = 0;
  for (const auto& [batch, excess] : tail.excess) mean += excess;
  mean /= static_cast<double>(std::max<std::size_t>(1, tail.excess.size()));
  for (const Batch& batch : run.batches) {
    const auto own = tail.excess.find(SampleTail::KeyOf(batch.key));
    even.excess.push_back(own != tail.excess.end() ? own->second : mean);
  }
  return even;
}

Pipeline WithEvenSamples(Pipeline pipeline, const EvenSamples& even) {
  const auto first = static_cast<std::size_t>(even.part);
  for (EpochDemand& epoch : pipeline.epochs) {
    for (Demand& demand : epoch.batches) {
      if (demand.loader != 0 || demand.source >= even.excess.size()) continue;
      EvenBatch(demand, first, even.excess[demand.source]);
    }
    for (SampleCost& cost : epoch.samples) {
      const double total = TotalOf(cost, even.for_cores);
      if (total > even.least) EvenSample(cost, first, total - even.median);
    }
  }
  return pipeline;
}

}  // namespace penstock::analyzer
