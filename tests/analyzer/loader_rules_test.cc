// SPDX-License-Identifier: Apache-2.0
//
// Rules about workers, queues and storage. For each there is a run with a finding and one without.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/words/rule_needs.h"
#include "tests/analyzer/finds.h"

namespace penstock::analyzer {
namespace {

using testing::And;
using testing::Change;
using testing::Costs;
using testing::Evidence;
using testing::FindingOf;
using testing::Finds;
using testing::LoaderFact;
using testing::Synthetic;
using testing::WithCosts;

TEST(TooManyWorkersTest, SpeaksOfTwelveWhereThreeDo) {
  Synthetic run;
  run.workers = 12;
  EXPECT_TRUE(Finds("too-many-workers", run));
}

TEST(TooManyWorkersTest, IsSilentOfOneToSpare) {
  Synthetic run;
  run.workers = 3;
  EXPECT_FALSE(Finds("too-many-workers", run));
}

// Each worker process uses `cores` cores with eight threads.
Change Pools(double cores) {
  return [cores](traces::TraceData& data) {
    for (std::uint32_t p = 1; p < data.processes.size(); ++p) {
      for (int i = 0; i < 100; ++i) {  // 5 s: longer than the run
        testing::AddCounter(data, "cpu_ns", p, 1000 + 50.0 * i, cores * 50e6 * i);
        testing::AddCounter(data, "threads", p, 1000 + 50.0 * i, 8);
      }
    }
  };
}

TEST(CpuOversubscribedTest, SpeaksOfPoolsInWorkers) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 4;
  EXPECT_TRUE(Finds("cpu-oversubscribed", run, Pools(1.8)));
}

TEST(CpuOversubscribedTest, IsSilentOfThreadsThatSleep) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.cores = 4;
  EXPECT_FALSE(Finds("cpu-oversubscribed", run, Pools(1.0)));
}

// On full cores a pool cannot use more than its share of CPU time. The pool shows because the
// fetching threads get only a part of that share.
TEST(CpuOversubscribedTest, SpeaksOfPoolsOnFullCores) {
  Synthetic run = WithCosts({1, 30, 5, 1, 0.1, 0.2, 4, 0});
  run.workers = 4;
  run.cores = 4;
  run.cpu_share = 0.3;
  EXPECT_TRUE(Finds("cpu-oversubscribed", run, Pools(0.95)));
  EXPECT_FALSE(Finds("cpu-oversubscribed", run, Pools(0.4)));  // cores are idle: no competition
  run.cpu_share = 0.9;
  EXPECT_FALSE(Finds("cpu-oversubscribed", run, Pools(0.95)));  // one thread does all of it
  run.cpu_share = 0.3;
  run.cores = 8;
  EXPECT_FALSE(Finds("cpu-oversubscribed", run, Pools(0.95)));  // a pool may use the other cores
}

// The loop transforms each batch during `part` of its step.
Change TransformsInLoop(double part) {
  return [part](traces::TraceData& data) {
    for (std::vector<traces::Span>& spans : data.spans) {
      std::vector<traces::Span> all;
      for (const traces::Span& span : spans) {
        all.push_back(span);
        if (span.stage != traces::StageId::kStep) continue;
        traces::Span inside = span;
        inside.stage = traces::StageId::kAugment;
        inside.duration.value =
            static_cast<std::int64_t>(part * static_cast<double>(span.duration.value));
        inside.cpu = inside.duration;
        all.push_back(inside);
      }
      spans = std::move(all);
    }
  };
}

TEST(TransformsInTheLoopTest, SpeaksOfBatchesThatTheLoopAugments) {
  const Synthetic run = WithCosts({1, 8, 2, 0.5, 0.1, 0.2, 40, 0});
  EXPECT_TRUE(Finds("transforms-in-the-loop", run, TransformsInLoop(0.7)));
  EXPECT_FALSE(Finds("compute-bound", run, TransformsInLoop(0.7)));
  EXPECT_TRUE(Finds("compute-bound", run));
}

TEST(TransformsInTheLoopTest, IsSilentWhereTheyAreADevices) {
  const Synthetic run = WithCosts({1, 8, 2, 0.5, 0.1, 0.2, 40, 2});
  EXPECT_FALSE(Finds("transforms-in-the-loop", run, TransformsInLoop(0.7)));
}

TEST(TransformsInTheLoopTest, IsSilentWhereTheWorkersAreTheLimit) {
  const Synthetic run = WithCosts({1, 200, 2, 0.5, 0.1, 0.2, 40, 0});
  EXPECT_FALSE(Finds("transforms-in-the-loop", run, TransformsInLoop(0.7)));
}

TEST(TransformsInTheLoopTest, AreAugmentationInTheVerdict) {
  traces::TraceData data = testing::MakeSynthetic(WithCosts({1, 8, 2, 0.5, 0.1, 0.2, 40, 0}));
  TransformsInLoop(0.7)(data);
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(diagnosis.bottleneck, Factor::kAugment);
  EXPECT_NEAR(diagnosis.loader->attribution.SpeedupOf(Factor::kCompute), 1 / 0.7, 0.1);
  // Making the dataset's transforms free does not change those of the loop.
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Setting setting;
  setting.workers = loader.pipeline.workers;
  setting.prefetch = loader.pipeline.prefetch;
  setting.scale = {{Factor::kAugment, 0.0}};
  const Pipeline stored = Apply(loader.pipeline, setting, loader.facts);
  EXPECT_NEAR(Predict(loader.pipeline, stored, loader.replay).speedup, 1, 0.05);
}

Synthetic Tail(int every, double slow) {
  Synthetic run;
  run.workers = 4;
  run.costs = [=](int, int index) {
    Costs costs;
    costs.decode = index % every == every - 1 ? slow : 4;
    costs.step = 4;
    return costs;
  };
  return run;
}

TEST(PrefetchTooShallowTest, SpeaksOfJitterWithoutAQueue) {
  Synthetic run = Tail(13, 60);
  run.prefetch = 1;
  EXPECT_TRUE(Finds("prefetch-too-shallow", run));
}

TEST(PrefetchTooShallowTest, IsSilentWhenTheWorkersAreTheLimit) {
  Synthetic run = WithCosts({1, 40, 2, 0.5, 0.1, 0.3, 4, 0});
  EXPECT_FALSE(Finds("prefetch-too-shallow", run));
}

TEST(PrefetchTooShallowTest, IsSilentWhenSharedMemoryHasNoRoom) {
  Synthetic run = Tail(13, 60);
  run.prefetch = 1;
  run.sample_bytes = 2'000'000;
  EXPECT_FALSE(
      Finds("prefetch-too-shallow", run, [](auto& data) { data.facts["shm.size"] = "100000000"; }));
}

TEST(StragglersTest, SpeaksOfBatchesThatHoldUpOthers) {
  EXPECT_TRUE(Finds("stragglers", Tail(17, 120)));
}

TEST(StragglersTest, IsSilentOfEqualBatches) {
  EXPECT_FALSE(Finds("stragglers", Tail(17, 4)));
}

// By chance one of four workers gets most of the slow samples. The process itself is not slow.
TEST(StragglersTest, BlamesNoWorkerForAFewSlowSamples) {
  Synthetic run = Tail(4, 60);
  run.costs = [](int, int index) {
    Costs costs;
    costs.decode = index % 16 == 3 ? 160 : 4;
    costs.step = 4;
    return costs;
  };
  const auto finding = FindingOf("stragglers", testing::MakeSynthetic(run));
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->pids.empty());
}

TEST(StragglersTest, NamesASlowWorker) {
  const auto finding = FindingOf("stragglers", testing::MakeSynthetic(Tail(4, 60)));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->seen).find("worker 3"), std::string::npos) << English(finding->seen);
  EXPECT_EQ(finding->pids.size(), 1U);
}

TEST(TransferCeilingTest, SpeaksOfALoopThatUnpickles) {
  Synthetic run = WithCosts({1, 4, 2, 0.5, 0.1, 6, 2, 0});
  run.workers = 4;
  const auto ceiling = FindingOf("transfer-ceiling", testing::MakeSynthetic(run));
  ASSERT_TRUE(ceiling && ceiling->predicted);
  EXPECT_TRUE(ceiling->predicted->at_most);  // no batch is handed over for nothing
}

TEST(TransferCeilingTest, IsSilentWhenTheStepIsLonger) {
  Synthetic run = WithCosts({1, 4, 2, 0.5, 0.1, 6, 60, 0});
  run.workers = 4;
  EXPECT_FALSE(Finds("transfer-ceiling", run));
}

Synthetic Reads(std::uint64_t bytes) {
  Synthetic run = WithCosts({20, 4, 3, 1, 0.1, 0.2, 4, 0});  // 5 ms a file
  run.file_bytes = bytes;
  return run;
}

TEST(SlowStorageTest, SpeaksOfADiskThatIsSlowerThanAnSsd) {
  EXPECT_TRUE(Finds("slow-storage", Reads(1'500'000)));
}

TEST(SlowStorageTest, IsSilentOfAGigabyteASecond) {
  EXPECT_FALSE(Finds("slow-storage", Reads(5'000'000)));
}

TEST(SlowStorageTest, LeavesSmallFilesToTheirRule) {
  EXPECT_FALSE(Finds("slow-storage", Reads(100'000)));
}

Synthetic Epochs(double first, double later) {
  Synthetic run;
  run.epochs = 3;
  run.batches = 40;
  run.file_bytes = 1'500'000;  // 240 MB in all
  run.costs = [=](int epoch, int) {
    return Costs{epoch == 0 ? first : later, 4, 3, 1, 0.1, 0.2, 4, 0};
  };
  return run;
}

Change Memory(const char* bytes) {
  return [bytes](traces::TraceData& data) { data.facts["memory.total"] = bytes; };
}

TEST(FitsInRamTest, SpeaksWhenEveryEpochReadsSlowly) {
  EXPECT_TRUE(Finds("fits-in-ram", Epochs(20, 20), Memory("64000000000")));
}

TEST(FitsInRamTest, IsSilentWhenMemoryIsSmaller) {
  EXPECT_FALSE(Finds("fits-in-ram", Epochs(20, 20), Memory("400000000")));
}

TEST(FitsInRamTest, IsSilentWhenThePageCacheHasItAlready) {
  EXPECT_FALSE(Finds("fits-in-ram", Epochs(20, 0.2), Memory("64000000000")));
}

// The finding slow-worker-start of a run in which each worker starts `each` ms after the one
// before.
std::optional<Finding> Starting(const std::string& method, double each) {
  Synthetic run = WithCosts({1, 2, 1, 0.1, 0.1, 0.3, 10, 0});  // the loop never waits
  run.workers = 4;
  run.worker_start = each;
  traces::TraceData data = testing::MakeSynthetic(run);
  LoaderFact("start_method", method)(data);
  return FindingOf("slow-worker-start", std::move(data));
}

TEST(SlowWorkerStartTest, SpeaksOfSpawnedWorkers) {
  const auto finding = Starting("spawn", 1500);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Evidence(*finding, "s_per_worker"), 1.5, 0.05);
  EXPECT_NEAR(finding->to - finding->from, 6, 0.1);
  EXPECT_EQ(finding->pids.size(), 4u);
}

TEST(SlowWorkerStartTest, IsSilentOfQuickOnesAndOfForks) {
  EXPECT_FALSE(Starting("spawn", 700));
  EXPECT_FALSE(Starting("fork", 1500));
  EXPECT_FALSE(Starting("", 1500));
}

// An iterable dataset has only one part, so three of four workers have no samples. One worker makes
// all batches, each in 1.5 s.
TEST(SlowWorkerStartTest, IsSilentOfOneWorkerThatMakesAllBatches) {
  Synthetic run = WithCosts({1, 1500, 1, 0.1, 0.1, 0.3, 10, 0});
  run.workers = 4;
  run.worker_start = 10;
  const Change one_part = [](traces::TraceData& data) {
    const auto of_others = [](const auto& record) {
      return record.batch.valid() && record.batch.index % 4 != 0;
    };
    for (auto& spans : data.spans) std::erase_if(spans, of_others);
    std::erase_if(data.events, of_others);
  };
  EXPECT_FALSE(Finds("slow-worker-start", run, And(LoaderFact("start_method", "spawn"), one_part)));
}

// Where no setting can be suggested, a finding must not name one either.
TEST(NoWorkerProcessesTest, NamesNoNumberWhereNoneCanBePredicted) {
  Synthetic run;
  run.workers = 0;
  const auto trace = testing::SyntheticTrace(run);
  Diagnosis diagnosis = Diagnose(*trace);
  const auto action = [&] {
    for (const Finding& finding : RunRules(*trace, diagnosis).findings) {
      if (finding.id == "no-worker-processes") return English(finding.action);
    }
    return std::string("no finding");
  };
  EXPECT_NE(action().find("Set num_workers="), std::string::npos) << action();
  EXPECT_NE(action().find("prefetch_factor="), std::string::npos) << action();
  diagnosis.loader->suggestion.missing = Say<words::kRuleNeedsWorkerMemory>();
  EXPECT_NE(action().find("Set num_workers above 0"), std::string::npos) << action();
  // The reference loader's arguments have other names.
  diagnosis.run.loaders.front().config.sample_tasks = true;
  EXPECT_NE(action().find("Set workers above 0"), std::string::npos) << action();
  diagnosis.loader->suggestion.missing = {};
  EXPECT_NE(action().find("Set workers="), std::string::npos) << action();
  EXPECT_NE(action().find(" and prefetch="), std::string::npos) << action();
}

}  // namespace
}  // namespace penstock::analyzer
