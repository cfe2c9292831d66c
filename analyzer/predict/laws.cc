// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/laws.h"

#include <algorithm>

#include "analyzer/words/needs.h"

namespace penstock::analyzer {
namespace {

// CPU seconds of a batch outside of its fetch and the step.
double CpuOfHandover(const LoaderSetup& setup, const Demand& demand, bool tasks) {
  if (tasks) return setup.overhead * static_cast<double>(demand.tasks) + demand.collate.cpu;
  if (setup.workers == 0) return demand.pin + demand.next;
  const double known = setup.feed_share * demand.feed + demand.put + setup.overhead;
  return std::max(known, setup.worker_cpu) + setup.get_share * demand.get + demand.pin +
         demand.next;
}

double LoopTimeOf(const LoaderSetup& setup, const Demand& demand, bool tasks) {
  const double step = demand.step + demand.h2d;
  if (tasks) return step;
  if (setup.workers == 0) return step + demand.service() + demand.pin + demand.next;
  return step + demand.next + (setup.pin_thread ? 0 : demand.get + demand.pin);
}

double WaitOf(double wall, double cpu, double most) {
  return std::clamp(wall - cpu, 0.0, most);
}

}  // namespace

LeastCosts LeastCostsOf(const Pipeline& steady) {
  LeastCosts sum;
  double samples = 0;
  const double device = steady.device_per_sample;
  const bool tasks = steady.sample_tasks && steady.workers > 0;
  for (const EpochDemand& epoch : steady.epochs) {
    for (const Demand& demand : epoch.batches) {
      const LoaderSetup& setup = steady.setup(demand.loader);
      samples += demand.own_samples();
      sum.cpu += CpuOfHandover(setup, demand, tasks) + steady.step_load * demand.step;
      sum.loop += LoopTimeOf(setup, demand, tasks);
      if (tasks) continue;
      sum.cpu += demand.cpu();
      sum.storage += WaitOf(demand.read.wall, demand.read.cpu, device * demand.samples);
    }
    for (std::size_t i = 0; tasks && i < epoch.samples.size(); ++i) {
      const SampleCost& cost = epoch.samples[i];
      sum.cpu += static_cast<double>(cost.read_cpu + cost.decode_cpu + cost.augment_cpu +
                                     cost.tokenize_cpu);
      sum.storage +=
          WaitOf(static_cast<double>(cost.read), static_cast<double>(cost.read_cpu), device);
    }
  }
  if (!(samples > 0)) return {};
  return {sum.cpu / samples, sum.storage / samples, sum.loop / samples};
}

Statement BrokenLaw(const Pipeline& steady, double rate) {
  if (steady.threads_moved) return Say<words::kThreadsMoved>();
  if (steady.processes_moved) return Say<words::kProcessesMoved>();
  const LeastCosts least = LeastCostsOf(steady);
  if (rate * least.cpu > kLawMargin * steady.cores) {
    return Say<words::kBeyondCores>(Give<"rate">(rate), Give<"needed">(rate * least.cpu),
                                    Give<"cores">(steady.cores));
  }
  if (rate * least.storage > kLawMargin) {
    return Say<words::kBeyondStorage>(Give<"rate">(rate), Give<"most">(1 / least.storage));
  }
  if (rate * least.loop > kLawMargin) {
    return Say<words::kBeyondLoop>(Give<"rate">(rate), Give<"most">(1 / least.loop));
  }
  return {};
}

}  // namespace penstock::analyzer
