// SPDX-License-Identifier: Apache-2.0
//
// What the handover costs, and what fresh memory costs when workers make the batches.
#include "analyzer/measure/handover.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/measure/fetch_times.h"
#include "analyzer/predict/predict.h"
#include "analyzer/predict/scenario.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_memory.h"

namespace penstock::analyzer {
namespace {

using testing::Always;
using testing::MakeSynthetic;
using testing::Synthetic;

constexpr std::int64_t kMs = 1'000'000;

// Batch `i` of a loop that asks every 20 ms for a batch. Units: milliseconds. The fetch lasts from
// `made_from` to `made_to`, relative to the moment when the loop asks for this batch. Both are
// negative, since the batch is ready by then.
Batch Taken(int i, double get, double handing, std::int64_t made_from, std::int64_t made_to) {
  Batch batch;
  const std::int64_t at = (100 + 20 * i) * kMs;
  batch.worker_process = 1;
  batch.fetch_start = at + made_from * kMs;
  batch.fetch_end = at + made_to * kMs;
  batch.put_start = batch.fetch_end;
  batch.put_end = batch.fetch_end + kMs / 10;
  batch.wait_start = at;
  batch.get_start = at + kMs / 10;
  batch.got = batch.get_start + static_cast<std::int64_t>(get * kMs);
  batch.get.wall = get * 1e-3;
  batch.delivered = batch.got + static_cast<std::int64_t>(handing * kMs);
  batch.step_end = at + 20 * kMs;
  return batch;
}

// The worker begins a batch 40 ms or 34 ms before the loop asks for it, in turn. In the first case
// it works while the loop takes another batch, in the second between two such moments.
LoaderRun Loop(int batches, double get_of_idle, double get_of_busy, double handing_of_busy) {
  LoaderRun run;
  run.config.num_workers = 1;
  run.samples_per_batch = 4;
  for (int i = 0; i < batches; ++i) {
    const bool busy = i % 2 == 0;  // meanwhile the worker makes batch i + 2
    run.batches.push_back(Taken(i, busy ? get_of_busy : get_of_idle, busy ? handing_of_busy : 0.1,
                                busy ? -40 : -34, busy ? -30 : -24));
  }
  return run;
}

TEST(FetchTimesTest, TellsWhoFetchedWhen) {
  const LoaderRun run = Loop(4, 1, 1, 0.1);
  const FetchTimes fetches(run);
  EXPECT_EQ(fetches.Fetching(60 * kMs + 1), 1u);  // batch 0: 60 to 70 ms
  EXPECT_EQ(fetches.Fetching(71 * kMs), 0u);
  EXPECT_EQ(fetches.Fetching(59 * kMs), 0u);
  EXPECT_TRUE(fetches.WasFetching(1, 62 * kMs, 68 * kMs));
  EXPECT_TRUE(fetches.WasFetching(1, 64 * kMs, 74 * kMs));   // 6 of 10 ms
  EXPECT_FALSE(fetches.WasFetching(1, 66 * kMs, 76 * kMs));  // 4 of 10 ms
  EXPECT_FALSE(fetches.WasFetching(2, 62 * kMs, 68 * kMs));
}

TEST(HandoverTest, AWorkerThatMakesABatchAnswersLater) {
  const Handover handover = MeasureHandover(Loop(60, 0.5, 4.5, 0.1), 8, 0);
  EXPECT_FALSE(handover.streamed);
  EXPECT_NEAR(handover.asking, 4e-3, 1e-5);
  // No batch is made while the last two are taken.
  for (std::size_t i = 0; i < 58; ++i) EXPECT_NEAR(handover.get[i], 0.5e-3, 1e-6);
  EXPECT_FALSE(handover.preempted);
}

TEST(HandoverTest, TheLoopLosesItsCoreWhereNoneIsIdle) {
  const Handover handover = MeasureHandover(Loop(60, 0.5, 0.5, 2.1), 1, 0);
  ASSERT_TRUE(handover.preempted);
  EXPECT_NEAR(*handover.preempted, 2e-3, 1e-5);
  EXPECT_NEAR(handover.next, 0.2e-3, 1e-5);
  for (std::size_t i = 0; i < 58; ++i) EXPECT_NEAR(handover.next_of[i], 0.2e-3, 1e-5);
  // With a core to spare, the loop never loses its core.
  EXPECT_FALSE(MeasureHandover(Loop(60, 0.5, 0.5, 2.1), 2, 0).preempted);
}

// The loop waits for batch 2k. Meanwhile it gets batch 2k + 1, which takes 10 ms. The worker puts
// batch 2k 5 ms after this get began. The loop gets batch 2k when the get of batch 2k + 1 is done.
TEST(HandoverTest, AGetThatIsGoingOnIsNoLatency) {
  LoaderRun run;
  run.config.num_workers = 2;
  for (int k = 0; k < 20; ++k) {
    const std::int64_t at = (100 + 50 * k) * kMs;
    Batch due;
    due.worker_process = 1;
    due.fetch_start = at - 15 * kMs;
    due.fetch_end = due.put_start = at + 4 * kMs;
    due.put_end = at + 5 * kMs;
    due.wait_start = at - kMs;
    due.get_start = at + 10 * kMs;
    due.got = at + 11 * kMs;
    due.get.wall = 1e-3;
    due.delivered = due.got + kMs / 10;
    due.step_end = due.delivered + 5 * kMs;
    Batch next = due;
    next.worker_process = 2;
    next.fetch_end = next.put_start = at - 2 * kMs;
    next.put_end = at - kMs;
    next.get_start = at;
    next.got = at + 10 * kMs;
    next.get.wall = 10e-3;
    next.wait_start = due.step_end;
    next.delivered = next.wait_start + kMs / 50;
    next.step_end = at + 49 * kMs;
    run.batches.push_back(due);
    run.batches.push_back(next);
  }
  const Handover handover = MeasureHandover(run, 8, 0);
  EXPECT_NEAR(handover.next, 0.02e-3, 1e-6);
  EXPECT_NEAR(handover.latency, 0.08e-3, 1e-6);
}

traces::TraceData Decoding(int workers) {
  Synthetic run;
  run.workers = workers;
  run.costs = Always({.read = 0.1, .decode = 4, .augment = 1.5, .collate = 0.5, .step = 1});
  run.decoder = "PIL.load";
  traces::TraceData data = MakeSynthetic(run);
  data.facts["host.fault_ns"] = "1000";
  data.processes[0].facts["loader.0.batch_types"] = "uint8:602112";
  return data;
}

// The first touch of a page costs 1 us, the whole fault 2 us. A batch has 147 pages, a sample has
// 36.75, and the sample's picture of 600,000 bytes has 146.5.
TEST(FreshMemoryTest, IsEstimatedWithoutWorkers) {
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(Decoding(0)));
  ASSERT_TRUE(diagnosis.loader);
  const FreshMemory& fresh = diagnosis.loader->facts.fresh;
  EXPECT_NEAR(fresh.batch, 0.13e-3 + 147 * 2e-6, 1e-6);
  EXPECT_NEAR(fresh.sample, (36.75 + 146.5 / 2) * 2e-6, 1e-6);
  EXPECT_NEAR(fresh.doubt, 0.85 * fresh.sample, 1e-6);
}

// PyTorch's own memory is mapped anew either for each sample or almost never. In the second run a
// third of each sample lies in NumPy's memory.
TEST(FreshMemoryTest, IsHalfOfASampleInPyTorchsMemory) {
  traces::TraceData data = Decoding(0);
  data.processes[0].facts["loader.0.sample_memory"] = "torch:150528 other:0";
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(data));
  ASSERT_TRUE(diagnosis.loader);
  const FreshMemory& fresh = diagnosis.loader->facts.fresh;
  EXPECT_NEAR(fresh.sample, 36.75 / 2 * 2e-6, 1e-9);
  EXPECT_NEAR(fresh.doubt, fresh.sample, 1e-9);
  data.processes[0].facts["loader.0.sample_memory"] = "torch:100352 other:50176";
  const Diagnosis mixed = Diagnose(*traces::MakeTrace(data));
  ASSERT_TRUE(mixed.loader);
  const double of_others = (36.75 + 146.5 / 2) / 3;
  EXPECT_NEAR(mixed.loader->facts.fresh.sample, (36.75 / 3 + of_others) * 2e-6, 1e-7);
  data.processes[0].facts["loader.0.sample_memory"] = "torch:x";
  const Diagnosis garbled = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(garbled.loader);
  EXPECT_NEAR(garbled.loader->facts.fresh.sample, (36.75 + 146.5 / 2) * 2e-6, 1e-6);
}

TEST(FreshMemoryTest, IsMeasuredWithThem) {
  traces::TraceData data = Decoding(1);
  for (double at = 1000; at < 2200; at += 20) {  // 300 faults per sample, a batch every 6.2 ms
    testing::AddCounter(data, "minor_faults", 1, at, 4 * 300 / 6.2 * (at - 1000));
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(diagnosis.loader);
  const FreshMemory& fresh = diagnosis.loader->facts.fresh;
  EXPECT_NEAR(fresh.batch, 0.13e-3 + 147 * 2e-6, 1e-6);
  EXPECT_NEAR(fresh.sample, (300 - 20 - 36.75) * 2e-6, 20e-6);
}

TEST(FreshMemoryTest, FirstWorkersPayForItAndTheLastSaveIt) {
  const Diagnosis none = Diagnose(*traces::MakeTrace(Decoding(0)));
  const LoaderDiagnosis& loader = *none.loader;
  Setting one;
  one.workers = 1;
  const Pipeline with = Apply(loader.pipeline, one, loader.facts);
  LoaderFacts unknown = loader.facts;
  unknown.fresh = {};
  const Pipeline without = Apply(loader.pipeline, one, unknown);
  const Demand& more = with.epochs.front().batches.front();
  const Demand& less = without.epochs.front().batches.front();
  EXPECT_NEAR(more.service() - less.service(),
              loader.facts.fresh.batch + 4 * loader.facts.fresh.sample, 1e-9);
  EXPECT_GT(with.doubt, 0);
  EXPECT_EQ(without.doubt, 0);
  const Interval sure = PredictSteady(SteadyPart(without), loader.replay).value();
  const Interval unsure = PredictSteady(SteadyPart(with), loader.replay).value();
  EXPECT_GT(1 - unsure.low / unsure.estimate, 1 - sure.low / sure.estimate);
  // From workers back to none.
  LoaderFacts facts = loader.facts;
  Setting zero;
  const Pipeline back = Apply(with, zero, facts);
  EXPECT_LT(back.epochs.front().batches.front().service(), more.service());
}

// In the step, 100 of the 147 pages of a batch are mapped, at 2 us each.
TEST(FreshMemoryTest, TheLoopMapsABatchFromAWorkerInItsStep) {
  traces::TraceData data = Decoding(1);
  for (double at = 1000; at < 2200; at += 20) {
    testing::AddCounter(data, "minor_faults", 0, at, 100 / 6.2 * (at - 1000));
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(diagnosis.loader);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  EXPECT_NEAR(loader.facts.fresh.touch, 200e-6, 20e-6);
  Setting zero;
  const Pipeline none = Apply(loader.pipeline, zero, loader.facts);
  const double before = loader.pipeline.epochs.front().batches[20].step;
  EXPECT_NEAR(none.epochs.front().batches[20].step, before - loader.facts.fresh.touch, 1e-6);
}

// /dev/shm stays empty, but batches of workers would pass through it.
TEST(FreshMemoryTest, ARunWithoutWorkersDoesNotTellThatBatchesArePickled) {
  Synthetic run;
  run.workers = 0;
  run.sample_bytes = 4'000'000;  // 16 MB a batch
  traces::TraceData data = MakeSynthetic(run);
  testing::AddShm(data, 0, 4096, 4096);
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  const LoaderDiagnosis& loader = *diagnosis.loader;
  ASSERT_TRUE(loader.memory.shared.measured);
  EXPECT_FALSE(loader.memory.shared.unused);
  Setting one;
  one.workers = 1;
  const Pipeline with = Apply(loader.pipeline, one, loader.facts);
  EXPECT_NEAR(with.epochs.front().batches.front().get, 0.8e-3, 1e-9);
  EXPECT_GT(SharedMemoryOf(loader.pipeline, one, loader.facts), 16e6);
}

TEST(FreshMemoryTest, ALoopThatSleepsReadsNoBatch) {
  const Diagnosis sleeps = Diagnose(*traces::MakeTrace(Decoding(0)));
  EXPECT_EQ(sleeps.loader->facts.fresh.touch, 0);
  traces::TraceData data = Decoding(0);
  for (double at = 900; at < 4000; at += 20) {
    testing::AddCounter(data, "cpu_ns", 0, at, 1e6 * (at - 900));
  }
  const Diagnosis computes = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_NEAR(computes.loader->facts.fresh.touch, 147 * 2e-6, 1e-6);
}

// Without workers, a batch takes 9 ms and a step 8 ms. Each of the six tensors of a batch is a file
// descriptor for which the training process has to ask the worker.
TEST(HandoverTest, WorkersAreAskedForTheDescriptorsOfABatch) {
  Synthetic run;
  run.workers = 0;
  run.cores = 16;
  run.costs = Always(testing::Costs{0, 0, 8, 1, 0, 0, 8, 0});
  const auto predicted = [&](int descriptors, double cpu_share) {
    run.cpu_share = cpu_share;
    const auto trace = testing::SyntheticTrace(run);
    LoaderDiagnosis loader = *Diagnose(*trace).loader;
    loader.facts.descriptors = descriptors;
    Setting setting;
    setting.workers = 1;
    return Predict(loader.pipeline, Apply(loader.pipeline, setting, loader.facts), loader.replay)
        .rate;
  };
  const auto width = [](const Interval& rate) { return (rate.high - rate.low) / rate.estimate; };
  EXPECT_LT(predicted(6, 1).estimate, 0.85 * predicted(1, 1).estimate);
  EXPECT_GT(width(predicted(6, 1)), 2 * width(predicted(0, 1)));
  // A sample that waits leaves the interpreter to the thread that sends the descriptors.
  EXPECT_LT(width(predicted(6, 0)), 0.9 * width(predicted(6, 1)));
}

}  // namespace
}  // namespace penstock::analyzer
