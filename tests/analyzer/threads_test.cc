// SPDX-License-Identifier: Apache-2.0
//
// Traces of the reference loader, whose threads make single samples: model, replay and verdict.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/report/report.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_threads.h"

namespace penstock::analyzer {
namespace {

using testing::SampleCosts;
using testing::SyntheticThreads;
using testing::ThreadsTrace;

SyntheticThreads Always(SampleCosts costs, double step) {
  SyntheticThreads run;
  run.step = step;
  run.costs = [costs](int) { return costs; };
  return run;
}

TEST(ThreadsTest, KnowsThreadsBatchesAndSamples) {
  SyntheticThreads run;
  run.collate = 1;
  const RunModel model = BuildRunModel(*ThreadsTrace(run));
  ASSERT_TRUE(model.has_loader());
  const LoaderRun& loader = model.loader();
  EXPECT_EQ(loader.config.kind, "penstock");
  EXPECT_TRUE(loader.config.sample_tasks);
  EXPECT_EQ(loader.config.credits(), 4);
  EXPECT_EQ(loader.workers.size(), 4u);
  EXPECT_EQ(loader.samples_per_batch, 8u);
  EXPECT_EQ(loader.samples.size(), 1600u);
  const Batch& batch = loader.batches.at(100);
  EXPECT_TRUE(batch.was_fetched());
  EXPECT_FALSE(batch.whole);
  EXPECT_NEAR(batch.decode.wall, 32e-3, 1e-6);
  EXPECT_NEAR(batch.augment.wall, 16e-3, 1e-6);
  EXPECT_NEAR(batch.read.wall, 4e-3, 1e-6);
  EXPECT_NEAR(batch.collate.wall, 1e-3, 1e-6);
  std::uint64_t finished = 0;
  for (const WorkerRun& worker : loader.workers) finished += worker.batches;
  EXPECT_EQ(finished, 200u);
}

TEST(ThreadsTest, InfersThemWithoutFacts) {
  SyntheticThreads run = Always({0.5, 8, 2}, 2);
  run.facts = false;
  const RunModel model = BuildRunModel(*ThreadsTrace(run));
  EXPECT_TRUE(model.loader().config.sample_tasks);
  EXPECT_EQ(model.loader().config.num_workers, 4);
  EXPECT_EQ(model.loader().samples_per_batch, 8u);
}

struct ThreadCase {
  SampleCosts costs;
  double step;
  const char* name;
};

class ThreadVerdictTest : public ::testing::TestWithParam<std::tuple<ThreadCase, int>> {};

TEST_P(ThreadVerdictTest, NamesTheCauseAndReplaysTheRun) {
  const auto& [which, threads] = GetParam();
  SyntheticThreads run = Always(which.costs, which.step);
  run.threads = threads;
  const Diagnosis diagnosis = Diagnose(*ThreadsTrace(run));
  EXPECT_EQ(FactorName(diagnosis.bottleneck), which.name) << English(diagnosis.summary);
  ASSERT_TRUE(diagnosis.loader);
  EXPECT_LT(std::abs(diagnosis.loader->replay.error()), 0.02) << English(diagnosis.summary);
  EXPECT_GT(diagnosis.confidence, 0.5) << English(diagnosis.summary);
}

INSTANTIATE_TEST_SUITE_P(ThreadsTest, ThreadVerdictTest,
                         ::testing::Combine(::testing::Values(ThreadCase{{8, 2, 1}, 1, "read"},
                                                              ThreadCase{{0.5, 9, 2}, 1, "decode"},
                                                              ThreadCase{{0.5, 2, 9}, 1, "augment"},
                                                              ThreadCase{
                                                                  {0.5, 2, 1}, 90, "compute"}),
                                            ::testing::Values(0, 1, 3, 4)));

TEST(ThreadsTest, ReplaysUnevenSamplesAndEpochs) {
  SyntheticThreads run;
  run.epochs = 3;
  run.batches = 100;
  run.step = 12;
  run.collate = 2;
  std::mt19937_64 random(5);
  std::vector<double> decode(2400);
  std::exponential_distribution<double> draw(1.0 / 4);
  for (double& value : decode) value = draw(random);
  run.costs = [&](int sample) {
    return SampleCosts{0.5, decode[static_cast<std::size_t>(sample)], 1};
  };
  const Diagnosis diagnosis = Diagnose(*ThreadsTrace(run));
  EXPECT_LT(std::abs(diagnosis.loader->replay.error()), 0.02) << English(diagnosis.summary);
}

TEST(ThreadsTest, WaitFractionIsThatOfTheLoop) {
  // 4 threads make 8 samples of 8 ms for a batch. So a batch comes every 16 ms; the step takes 4.
  const Diagnosis diagnosis = Diagnose(*ThreadsTrace(Always({1, 5, 2}, 4)));
  EXPECT_NEAR(diagnosis.wait_fraction, 0.75, 0.02);
  EXPECT_NEAR(diagnosis.samples_rate, 500, 10);
  EXPECT_GT(diagnosis.loader->signals.worker_busy, 0.95);
}

TEST(ThreadsTest, PredictsMoreThreadsAndSuggestsEnough) {
  SyntheticThreads run = Always({1, 5, 2}, 9);
  run.threads = 2;
  const Diagnosis before = Diagnose(*ThreadsTrace(run));
  Setting four;
  four.workers = 4;
  four.prefetch = run.prefetch + 1;
  const LoaderDiagnosis& loader = *before.loader;
  const Prediction predicted =
      Predict(loader.pipeline, Apply(loader.pipeline, four, loader.facts), loader.replay);
  run.threads = 4;
  const double truth = Diagnose(*ThreadsTrace(run)).samples_rate;
  EXPECT_NEAR(predicted.rate.estimate, truth, 0.03 * truth);
  // The samples of a batch take 64 ms, its step 9 ms. Eight threads reach the step's rate within
  // 2 %; seven nearly do.
  EXPECT_GE(loader.suggestion.workers, 7);
  EXPECT_LE(loader.suggestion.workers, 8);
}

// Recorded without threads, the loader is still one whose threads share each batch.
TEST(ThreadsTest, PredictsThreadsWhereTheLoopMadeItsSamples) {
  SyntheticThreads run = Always({1, 5, 2}, 30);
  run.threads = 0;
  const Diagnosis before = Diagnose(*ThreadsTrace(run));
  const LoaderDiagnosis& loader = *before.loader;
  EXPECT_LT(std::abs(loader.replay.error()), 0.02);
  for (const int threads : {1, 2, 4}) {
    Setting setting;
    setting.workers = threads;
    setting.prefetch = run.prefetch + 1;
    const Prediction predicted =
        Predict(loader.pipeline, Apply(loader.pipeline, setting, loader.facts), loader.replay);
    SyntheticThreads other = run;
    other.threads = threads;
    const double truth = Diagnose(*ThreadsTrace(other)).samples_rate;
    EXPECT_NEAR(predicted.rate.estimate, truth, 0.03 * truth) << threads << " threads";
  }
}

// Each sample takes 6.5 ms, of which 2 ms are a transform.
traces::TraceData Transforming(const std::string& transform) {
  SyntheticThreads run;
  run.facts = false;
  traces::TraceData data = testing::MakeThreads(run);
  std::replace(data.strings.begin(), data.strings.end(), std::string("random_resized_crop"),
               transform);
  return data;
}

TEST(ThreadsTest, ConversionsOfThreadsWithoutFetchesAreFound) {
  const auto finding = testing::FindingOf("normalize-on-cpu", Transforming("ToTensor"));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(testing::Evidence(*finding, "share_of_fetch"), 2 / 6.5, 0.01);
  EXPECT_FALSE(testing::FindingOf("normalize-on-cpu", Transforming("crop+flip+normalize")));
}

// Threads that each do one stage make no sample spans, so batches cannot be put together.
TEST(ThreadsTest, StagesWithoutSamplesAreNamedWithLittleConfidence) {
  SyntheticThreads run = Always({1, 5, 2}, 4);
  traces::TraceData data = testing::MakeThreads(run);
  for (auto& spans : data.spans) {
    std::erase_if(spans, [](const auto& span) { return span.stage == traces::StageId::kSample; });
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(diagnosis.bottleneck, Factor::kDecode) << English(diagnosis.summary);
  EXPECT_EQ(diagnosis.loader->suggestion.next_bottleneck, Factor::kDecode);  // it stays as it is
  EXPECT_LT(diagnosis.confidence, 0.3);
  EXPECT_NE(English(diagnosis.summary).find("not seen how the batches were made"),
            std::string::npos)
      << English(diagnosis.summary);
  EXPECT_EQ(English(diagnosis.summary).find("x as fast"), std::string::npos)
      << English(diagnosis.summary);
  EXPECT_NE(English(diagnosis.loader->suggestion.missing).find("--decode-threads"),
            std::string::npos);
}

// A decoder that sleeps does not wait for a core. Examples are a decoder that waits for a device,
// and a test load.
TEST(ThreadsTest, ASleepingDecoderIsNoCrowdedMachine) {
  SyntheticThreads run = Always({1, 5, 2}, 9);
  run.threads = 2;
  run.cpu_share = 0.01;
  run.cores = 2;
  const Diagnosis diagnosis = Diagnose(*ThreadsTrace(run));
  EXPECT_FALSE(diagnosis.loader->cpu.crowded);
  EXPECT_EQ(diagnosis.loader->suggestion.workers, 4);  // twice the cores: no more are considered
  EXPECT_NEAR(diagnosis.loader->suggestion.predicted.speedup, 2, 0.05);
}

// Decoding waits for a core for half of its time. The step computes in the process whose threads
// make the samples, and does not compute for them.
TEST(ThreadsTest, AStepThatComputesHidesNoCrowdedMachine) {
  SyntheticThreads run = Always({0.5, 4, 2}, 4);
  run.cpu_share = 0.5;
  traces::TraceData data = testing::MakeThreads(run);
  for (int i = 0; i <= 300; ++i) {  // a batch each 13 ms; CPU: samples 24 ms, step 4 ms
    testing::AddCounter(data, "cpu_ns", 0, 1000 + 13.0 * i, 28e6 * i);
    testing::AddCounter(data, "threads", 0, 1000 + 13.0 * i, 6);
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_FALSE(diagnosis.loader->cpu.threaded);
  EXPECT_TRUE(diagnosis.loader->cpu.crowded);
}

TEST(ThreadsTest, TheReportShowsThreadsAndShares) {
  const auto trace = ThreadsTrace(Always({1, 5, 2}, 4));
  const Report report = BuildReport(*trace, "x.penstock");
  for (const StageRow& row : report.stages) {
    if (row.name != "decode" && row.name != "read") continue;
    EXPECT_NEAR(row.share, row.name == "read" ? 1.0 / 8 : 5.0 / 8, 0.01);
  }
  const std::string text = ReportText(report, Colour::kOff);
  EXPECT_NE(text.find("penstock, 4 threads, prefetch 4, batch 8"), std::string::npos) << text;
  EXPECT_NE(text.find("--workers"), std::string::npos) << text;
  EXPECT_EQ(text.find("DataLoader("), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::analyzer
