// SPDX-License-Identifier: Apache-2.0
//
// How long predictions take: 500 configurations of a run of 1,000 batches, as in penstock whatif,
// and one run of the simulator. Input: 1,000 batches of 32 samples on 16 cores with 4 workers.
// Decoding is lognormal with a sigma of 0.5 (real pictures: 0.4 to 0.7). Workers are processes in
// one case, and in the other case threads that share batches sample by sample.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/grid.h"

namespace penstock::analyzer {
namespace {

constexpr int kBatches = 1000;
constexpr int kSamples = 32;
constexpr int kWorkers = 50;
constexpr int kDepths = 10;

Diagnosis Recorded(bool sample_tasks) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> decode(0, 0.5);
  Diagnosis diagnosis;
  diagnosis.run.loaders.emplace_back();
  LoaderRun& run = diagnosis.run.loaders.front();
  run.samples_per_batch = kSamples;
  run.samples_known = true;
  run.config.num_workers = 4;
  run.config.sample_tasks = sample_tasks;
  LoaderDiagnosis loader;
  Pipeline& pipeline = loader.pipeline;
  pipeline.workers = 4;
  pipeline.prefetch = sample_tasks ? 5 : 2;
  pipeline.sample_tasks = sample_tasks;
  pipeline.cores = 16;
  pipeline.overhead = sample_tasks ? 2e-6 : 0.3e-3;
  pipeline.step_load = 0.5;
  EpochDemand epoch;
  for (int i = 0; i < kBatches; ++i) {
    Demand demand;
    demand.first_sample = epoch.samples.size();
    demand.tasks = sample_tasks ? kSamples : 0;
    for (int k = 0; k < kSamples; ++k) {
      const double cost = 4e-3 * decode(random);
      demand.read.wall += 0.5e-3;
      demand.decode.wall += cost;
      demand.decode.cpu += 0.95 * cost;
      SampleCost sample;
      sample.read = 0.5e-3F;
      sample.decode = static_cast<float>(cost);
      sample.decode_cpu = 0.95F * sample.decode;
      if (sample_tasks) epoch.samples.push_back(sample);
    }
    demand.collate = {1e-3, 1e-3};
    demand.get = 0.3e-3;
    demand.next = 0.1e-3;
    demand.step = 20e-3;
    demand.samples = kSamples;
    epoch.batches.push_back(demand);
  }
  pipeline.epochs.push_back(std::move(epoch));
  loader.fetched = 1;
  loader.steady.steady = true;
  loader.steady.batches = kBatches;
  loader.replay.measured = loader.replay.simulated = 1;
  loader.facts.batch_size = kSamples;
  loader.facts.batch_bytes = 19e6;
  diagnosis.loader = std::move(loader);
  return diagnosis;
}

// Checks that the rates are possible with the costs, since wrong rates may be fast to compute.
void Check(const Grid& grid) {
  double least = 1e300;
  double most = 0;
  for (const Configuration& one : grid.configurations) {
    least = std::min(least, one.predicted.rate.estimate);
    most = std::max(most, one.predicted.rate.estimate);
  }
  if (grid.configurations.size() == std::size_t{kWorkers} * kDepths && least > 100 &&
      most < kSamples / 20e-3 && most > 2 * least) {
    return;
  }
  std::fprintf(stderr, "analyzer_whatif_bench: rates of %g to %g samples/s\n", least, most);
  std::exit(1);
}

void FiveHundredConfigurations(benchmark::State& state, bool sample_tasks) {
  const Diagnosis diagnosis = Recorded(sample_tasks);
  GridRequest request;
  for (int w = 1; w <= kWorkers; ++w) request.workers.push_back(w);
  for (int p = 1; p <= kDepths; ++p) request.prefetch.push_back(p);
  for (auto _ : state) {
    const auto grid = PredictGrid(diagnosis, request);
    if (!grid) {
      state.SkipWithError(grid.error().error().message.c_str());
      break;
    }
    Check(*grid);
  }
  state.counters["configurations/s"] =
      benchmark::Counter(kWorkers * kDepths, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(FiveHundredConfigurations, processes, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FiveHundredConfigurations, threads, true)->Unit(benchmark::kMillisecond);

void OneRun(benchmark::State& state, bool sample_tasks) {
  const Diagnosis diagnosis = Recorded(sample_tasks);
  Pipeline pipeline = diagnosis.loader->pipeline;
  pipeline.workers = static_cast<int>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Simulate(pipeline).time);
  state.counters["batches/s"] =
      benchmark::Counter(kBatches, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(OneRun, processes, false)->Arg(4)->Arg(32)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(OneRun, threads, true)->Arg(4)->Arg(32)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace penstock::analyzer

BENCHMARK_MAIN();
