// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/attribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analyzer/simulate/simulate.h"
#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// If no factor gains 5 %, the run is balanced (docs/diagnosis.md 3.9). 5 % is also kineto's and
// xprof's threshold of note.
constexpr double kLeastGain = 1.05;
// docs/diagnosis.md 3.9 compares the time saved by removing variance with the best stage's saving.
// With a heavy tail or few credits it is over 80 % of that saving; in runs that a stage limits by
// its mean time, it is under 15 %. The limit of 60 % between them is ours.
constexpr double kPrefetchShare = 0.6;

constexpr std::array kFactors = {
    Factor::kRead,     Factor::kDecode, Factor::kAugment, Factor::kTokenize, Factor::kCollate,
    Factor::kTransfer, Factor::kH2d,    Factor::kCompute, Factor::kStartup,  Factor::kPrefetch};

void ScaleSample(SampleCost& cost, float scale) {
  for (float* part : {&cost.read, &cost.read_cpu, &cost.decode, &cost.decode_cpu, &cost.augment,
                      &cost.augment_cpu, &cost.tokenize, &cost.tokenize_cpu}) {
    *part *= scale;
  }
}

float WallOf(const SampleCost& cost) {
  return cost.read + cost.decode + cost.augment + cost.tokenize;
}

// Lets workers exist from the beginning, and makes their first batch (or sample) cost as much as
// any other.
void FreeStartup(Pipeline& pipeline) {
  for (EpochDemand& epoch : pipeline.epochs) {
    const bool charged = std::any_of(epoch.worker_start.begin(), epoch.worker_start.end(),
                                     [](double start) { return start > 0; });
    std::fill(epoch.worker_start.begin(), epoch.worker_start.end(), 0.0);
    epoch.one_more = epoch.stop = 0;
    epoch.warm_up = Demand{};
    const auto workers = static_cast<std::size_t>(std::max(1, pipeline.workers));
    if (!charged) continue;
    // A first batch that takes more than twice the median is not slow by chance: its worker imports
    // modules or opens the dataset.
    if (pipeline.sample_tasks) {
      std::vector<double> walls;
      for (const SampleCost& cost : epoch.samples)
        walls.push_back(static_cast<double>(WallOf(cost)));
      const auto median = static_cast<float>(Median(std::move(walls)));
      for (std::size_t k = 0; k < workers && 2 * workers <= epoch.samples.size(); ++k) {
        const float wall = WallOf(epoch.samples[k]);
        if (wall > 2 * median) ScaleSample(epoch.samples[k], median / wall);
      }
      continue;
    }
    if (epoch.batches.size() < 2 * workers) continue;
    std::vector<double> services;
    for (const Demand& demand : epoch.batches) services.push_back(demand.service());
    const double median = Median(std::move(services));
    for (std::size_t j = 0; j < workers; ++j) {
      const double service = epoch.batches[j].service();
      if (service > 2 * median) ScaleParts(epoch.batches[j], median / service);
    }
  }
}

void Even(std::vector<SampleCost>& samples) {
  for (float SampleCost::*part :
       {&SampleCost::read, &SampleCost::read_cpu, &SampleCost::decode, &SampleCost::decode_cpu,
        &SampleCost::augment, &SampleCost::augment_cpu, &SampleCost::tokenize,
        &SampleCost::tokenize_cpu}) {
    double sum = 0;
    for (const SampleCost& cost : samples) sum += static_cast<double>(cost.*part);
    const auto mean =
        static_cast<float>(sum / std::max<double>(1, static_cast<double>(samples.size())));
    for (SampleCost& cost : samples) cost.*part = mean;
  }
}

void EvenBatches(std::vector<Demand>& batches, std::uint32_t loader) {
  const auto its = [loader](const Demand& demand) { return demand.loader == loader; };
  const auto n = static_cast<double>(std::count_if(batches.begin(), batches.end(), its));
  Demand mean;
  for (const Demand& demand : batches) {
    if (!its(demand)) continue;
    for (const auto part : kDemandParts) {
      (mean.*part).wall += (demand.*part).wall / n;
      (mean.*part).cpu += (demand.*part).cpu / n;
    }
    mean.put += demand.put / n;
  }
  for (Demand& demand : batches) {
    if (!its(demand)) continue;
    for (const auto part : kDemandParts) demand.*part = mean.*part;
    demand.put = mean.put;
  }
}

// Gives every batch of a loader the mean cost, makes credit ample, and makes all workers equally
// fast. Warm-up stays.
void FreePrefetch(Pipeline& pipeline) {
  constexpr int kAmple = 8;  // batches of equal cost never need a greater depth
  pipeline.slower.clear();
  pipeline.prefetch = std::max(pipeline.prefetch, kAmple);
  for (LoaderSetup& other : pipeline.beside) {
    other.slower.clear();
    other.prefetch = std::max(other.prefetch, kAmple);
  }
  for (EpochDemand& epoch : pipeline.epochs) {
    Even(epoch.samples);
    for (std::uint32_t loader = 0; loader <= pipeline.beside.size(); ++loader) {
      EvenBatches(epoch.batches, loader);
    }
  }
}

// Whether the run tokenizes text. If it does not, the factor kTokenize is not listed.
bool Tokenizes(const Pipeline& pipeline) {
  return std::any_of(pipeline.epochs.begin(), pipeline.epochs.end(), [](const EpochDemand& epoch) {
    return std::any_of(epoch.batches.begin(), epoch.batches.end(),
                       [](const Demand& demand) { return demand.tokenize.wall > 0; });
  });
}

double Ratio(double base, double ideal) {
  if (!(base > 0)) return 1;
  // If everything is free, the ratio is a large number instead of infinity.
  return std::clamp(base / std::max(ideal, base * 1e-3), 1.0, kMostHeadroom);
}

}  // namespace

double Attribution::SpeedupOf(Factor factor) const {
  for (const Gain& gain : gains) {
    if (gain.factor == factor) return gain.speedup;
  }
  return 1;
}

Factor Attribution::AsGood(Factor factor) const {
  return analyzer::AsGood(gains, headroom, factor);
}

Factor AsGood(const std::vector<Gain>& gains, double headroom, Factor factor) {
  constexpr double kAlike = 0.02;  // as the tolerance of the plan
  const auto its = [factor](const Gain& gain) { return gain.factor == factor; };
  const auto found = std::find_if(gains.begin(), gains.end(), its);
  const double gain = found == gains.end() ? 0 : found->speedup - 1;
  // No gain exceeds the headroom, so gains that reach it are not told apart.
  if (!IsPart(factor) || !(gain > 0) || gain + 1 >= 0.999 * headroom) return Factor::kNone;
  for (const Gain& other : gains) {
    if (!IsPart(other.factor) || other.factor == factor) continue;
    if (other.speedup - 1 >= (1 - kAlike) * gain) return other.factor;
  }
  return Factor::kNone;
}

Pipeline Idealise(const Pipeline& pipeline, Factor factor) {
  Pipeline ideal = pipeline;
  if (factor == Factor::kStartup) {
    FreeStartup(ideal);
  } else if (factor == Factor::kPrefetch) {
    FreePrefetch(ideal);
  } else {
    ScaleFactor(ideal, factor, 0, FirstBatches::kKept);
    if (factor == Factor::kAugment) ScaleLoopTransforms(ideal, 0);
  }
  return ideal;
}

Pipeline WithoutData(const Pipeline& pipeline) {
  Pipeline free = Idealise(Idealise(pipeline, Factor::kTransfer), Factor::kStartup);
  ScaleLoopTransforms(free, 0);
  free.worker_cpu = 0;
  free.slower.clear();
  for (LoaderSetup& other : free.beside) {
    other.worker_cpu = 0;
    other.slower.clear();
  }
  for (EpochDemand& epoch : free.epochs) {
    for (Demand& demand : epoch.batches) {
      for (const auto part : kDemandParts) demand.*part = Work{};
    }
    std::fill(epoch.samples.begin(), epoch.samples.end(), SampleCost{});
  }
  return free;
}

namespace {

double TimeOf(const Pipeline& pipeline, RunPart part) {
  return part == RunPart::kWholeRun ? Simulate(pipeline).time : SimulateSteady(pipeline).time;
}

}  // namespace

Attribution Attribute(const Pipeline& pipeline, RunPart part) {
  Attribution result;
  const double base = TimeOf(pipeline, part);
  if (!(base > 0)) return result;
  for (const Factor factor : kFactors) {
    // Without workers there is no handover, and nothing is fetched ahead.
    const bool handover = factor == Factor::kTransfer || factor == Factor::kPrefetch;
    if (handover && pipeline.workers == 0) continue;
    if (part == RunPart::kSteady && factor == Factor::kStartup) continue;
    if (factor == Factor::kTokenize && !Tokenizes(pipeline)) continue;
    result.gains.push_back({factor, Ratio(base, TimeOf(Idealise(pipeline, factor), part))});
  }
  std::stable_sort(result.gains.begin(), result.gains.end(),
                   [](const Gain& a, const Gain& b) { return a.speedup > b.speedup; });
  result.headroom = Ratio(base, TimeOf(WithoutData(pipeline), part));

  const double compute = result.SpeedupOf(Factor::kCompute);
  const bool data_first = result.headroom >= compute;
  const auto saved = [](double speedup) { return 1 - 1 / speedup; };
  Gain best;
  for (const Gain& gain : result.gains) {
    if (gain.factor == Factor::kCompute && data_first && pipeline.workers == 0) continue;
    if (gain.factor != Factor::kCompute && gain.factor != Factor::kH2d && !data_first) continue;
    if (gain.speedup > best.speedup) best = gain;
  }
  const double prefetch = result.SpeedupOf(Factor::kPrefetch);
  if (data_first && prefetch >= kLeastGain &&
      saved(prefetch) >= kPrefetchShare * saved(best.speedup)) {
    best = {Factor::kPrefetch, prefetch};
  }
  if (best.speedup < kLeastGain) best = Gain{};
  result.bottleneck = best.factor;

  double second = 1;
  for (const Gain& gain : result.gains) {
    if (gain.factor == best.factor) continue;
    result.runner_up = gain.factor;
    second = gain.speedup;
    break;
  }
  if (best.factor == Factor::kNone) {
    result.margin = std::clamp((kLeastGain - second) / (kLeastGain - 1), 0.0, 1.0);
  } else {
    const double lead = saved(best.speedup) - saved(second);
    result.margin = std::clamp(lead / saved(best.speedup), 0.0, 1.0);
  }
  return result;
}

}  // namespace penstock::analyzer
