// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/warm_up.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/measure/starts.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/simulate/simulate.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;

// In every epoch with new workers, the first batch of each worker takes `beyond` ms more.
Synthetic Cold(int workers, double beyond) {
  Synthetic run;
  run.workers = workers;
  run.batches = 48;
  run.epochs = 3;
  run.cores = 64;
  run.costs = [workers, beyond](int, int index) {
    Costs costs;
    costs.step = 1;
    if (index < workers) costs.decode += beyond;
    return costs;
  };
  return run;
}

LoaderDiagnosis DiagnosisOf(const Synthetic& run) {
  return *Diagnose(*testing::SyntheticTrace(run)).loader;
}

TEST(WarmUpTest, IsTakenOffTheFirstBatches) {
  const LoaderDiagnosis loader = DiagnosisOf(Cold(4, 20));
  for (const EpochDemand& epoch : loader.pipeline.epochs) {
    EXPECT_NEAR(epoch.warm_up.decode.wall, 20e-3, 1e-5);
    EXPECT_NEAR(epoch.warm_up.service(), 20e-3, 1e-5);
    for (const Demand& demand : epoch.batches) EXPECT_NEAR(demand.decode.wall, 4e-3, 1e-5);
  }
  EXPECT_LT(std::abs(loader.replay.error()), 0.02);
}

// The spans of the fifth batch are lost, so it gets the costs of the fourth batch. That is the
// first batch of a worker, so these costs include a warm-up.
TEST(WarmUpTest, IsTakenOffCopiesOfTheFirstBatches) {
  traces::TraceData data = testing::MakeSynthetic(Cold(4, 20));
  for (std::size_t thread = 1; thread < data.spans.size(); ++thread) {
    std::erase_if(data.spans[thread], [](const traces::Span& span) {
      return span.batch.valid() && span.batch.index == 4 && span.stage != traces::StageId::kPut;
    });
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  for (const EpochDemand& epoch : diagnosis.loader->pipeline.epochs) {
    EXPECT_NEAR(epoch.warm_up.decode.wall, 20e-3, 1e-5);
    for (const Demand& demand : epoch.batches) EXPECT_NEAR(demand.decode.wall, 4e-3, 1e-5);
  }
}

TEST(WarmUpTest, BelongsToWorkersThatStart) {
  const LoaderDiagnosis loader = DiagnosisOf(Cold(4, 100));
  Setting setting;
  setting.workers = 4;
  setting.persistent = true;
  const Pipeline stay = Apply(loader.pipeline, setting, loader.facts);
  EXPECT_GT(stay.epochs[0].warm_up.service(), 0.09);
  EXPECT_EQ(stay.epochs[1].warm_up.service(), 0);
  const double saved = Simulate(loader.pipeline).time - Simulate(stay).time;
  EXPECT_NEAR(saved, 2 * 0.1, 0.05);
  EXPECT_NEAR(Simulate(Idealise(loader.pipeline, Factor::kStartup)).time,
              Simulate(loader.pipeline).time - 3 * 0.1, 0.05);
}

TEST(WarmUpTest, CountsAsStartUpInWhicheverStageItFalls) {
  const LoaderDiagnosis loader = DiagnosisOf(Cold(4, 200));
  EXPECT_EQ(loader.attribution.bottleneck, Factor::kStartup);
  const Pipeline free = Idealise(loader.pipeline, Factor::kDecode);
  EXPECT_NEAR(free.epochs[0].warm_up.service(), 0.2, 1e-3);
}

// Four workers take 50 ms each to end, in each of three epochs.
TEST(WarmUpTest, WorkersTakeTimeToEndToo) {
  Synthetic run = Cold(4, 0);
  run.worker_stop = 50;
  const LoaderDiagnosis loader = DiagnosisOf(run);
  for (const EpochDemand& epoch : loader.pipeline.epochs) EXPECT_NEAR(epoch.stop, 50e-3, 1e-3);
  Setting setting;
  setting.prefetch = 2;
  const auto time = [&](int workers, bool stay) {
    setting.workers = workers;
    setting.persistent = stay;
    Pipeline found = Apply(loader.pipeline, setting, loader.facts);
    const double whole = Simulate(found).time;
    for (EpochDemand& epoch : found.epochs) epoch.stop = 0;
    return whole - Simulate(found).time;
  };
  EXPECT_NEAR(time(4, false), 3 * 4 * 50e-3, 0.01);
  EXPECT_NEAR(time(2, false), 3 * 2 * 50e-3, 0.01);
  EXPECT_EQ(time(4, true), 0);
  EXPECT_EQ(time(0, false), 0);
  EXPECT_EQ(Idealise(loader.pipeline, Factor::kStartup).epochs[0].stop, 0);
}

// Twelve workers that share one core pay for the warm-up twelve times, two workers pay twice.
TEST(WarmUpTest, GrowsWithTheWorkers) {
  LoaderDiagnosis loader = DiagnosisOf(Cold(12, 100));
  for (EpochDemand& epoch : loader.pipeline.epochs) epoch.warm_up.decode.cpu = 100e-3;
  loader.pipeline.cores = 1;
  Setting setting;
  setting.prefetch = 2;
  const auto time = [&](int workers) {
    setting.workers = workers;
    return Simulate(Apply(loader.pipeline, setting, loader.facts)).time;
  };
  EXPECT_GT(time(12), time(2) + 3 * 0.9);
}

TEST(WarmUpTest, IsPaidOnceWithoutWorkers) {
  const LoaderDiagnosis loader = DiagnosisOf(Cold(4, 100));
  Setting setting;
  setting.workers = 0;
  const Pipeline serial = Apply(loader.pipeline, setting, loader.facts);
  Pipeline warm = serial;
  for (EpochDemand& epoch : warm.epochs) epoch.warm_up = Demand{};
  EXPECT_NEAR(Simulate(serial).time - Simulate(warm).time, 0.1, 1e-3);
}

TEST(WarmUpTest, ChanceIsNotTakenForIt) {
  Synthetic run = Cold(2, 0);
  std::mt19937 random(7);
  std::lognormal_distribution<double> draw(0, 1);
  std::vector<double> decode(static_cast<std::size_t>(run.batches * run.epochs));
  for (double& value : decode) value = 4 * draw(random);
  decode[0] = 6;  // by chance, 1.5 times the median
  decode[1] = 7;
  run.persistent = true;
  run.costs = [decode](int epoch, int index) {
    Costs costs;
    costs.decode = decode[static_cast<std::size_t>(48 * epoch + index)];
    return costs;
  };
  for (const EpochDemand& epoch : DiagnosisOf(run).pipeline.epochs) {
    EXPECT_EQ(epoch.warm_up.service(), 0);
  }
}

// A recording that begins in the middle of an epoch did not see the warm-up.
TEST(WarmUpTest, IsNotLookedForInTheMiddle) {
  Synthetic run = Cold(4, 20);
  traces::TraceData data = testing::MakeSynthetic(run);
  for (auto& spans : data.spans) {
    std::erase_if(spans, [](const traces::Span& span) { return span.batch.index < 4; });
  }
  std::erase_if(data.events, [](const traces::Event& event) { return event.batch.index < 4; });
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  for (const EpochDemand& epoch : diagnosis.loader->pipeline.epochs) {
    EXPECT_EQ(epoch.warm_up.service(), 0);
  }
}

// The epoch of a rank covers only a part of the dataset.
TEST(StartTest, CountsForTheRecordedPartOfTheProcesssOwnEpoch) {
  LoaderRun run;
  run.config.batch_size = 10;
  run.config.dataset_length = 2000;
  Epoch cut;
  cut.count = 25;
  EXPECT_DOUBLE_EQ(Amortised(run, cut, 0), 25 / 200.0);
  EXPECT_DOUBLE_EQ(Amortised(run, cut, 50), 0.5);  // whole epochs of this process had 50 batches
  run.config.epoch_batches = 100;
  EXPECT_DOUBLE_EQ(Amortised(run, cut, 0), 0.25);
  run.config.epoch_batches = 0;
  run.config.dataset_length = -1;
  EXPECT_DOUBLE_EQ(Amortised(run, cut, 0), 0);
  cut.ended = true;
  EXPECT_DOUBLE_EQ(Amortised(run, cut, 0), 1);
}

}  // namespace
}  // namespace penstock::analyzer
