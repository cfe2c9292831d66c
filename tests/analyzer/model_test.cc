// SPDX-License-Identifier: Apache-2.0
//
// Loaders, batches and host facts that are built from synthetic traces.
#include <algorithm>
#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/model/run_model.h"
#include "analyzer/model/steady.h"
#include "analyzer/words/verdict.h"
#include "tests/analyzer/synthetic.h"
#include "tests/analyzer/synthetic_ranks.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;
using traces::EventType;

TEST(HostTest, CountsCpuLists) {
  EXPECT_EQ(CountCpuList("0-1,4"), 3);
  EXPECT_EQ(CountCpuList("7"), 1);
  EXPECT_EQ(CountCpuList(""), 0);
  EXPECT_EQ(CountCpuList("x,3-1,2"), 1);
  EXPECT_EQ(CountCpuList("0-3,2-5"), 6);
  EXPECT_EQ(CountCpuList("4,0-7,4"), 8);
  EXPECT_EQ(CpusIn("6,2-3,3-4,0"), (std::vector<int>{0, 2, 3, 4, 6}));
}

TEST(HostTest, NumbersThatNoCpuHasCountAsNothing) {
  for (const char* list : {"2147483647", "0-2147483647", "65536-65540", "3-1", "-5"}) {
    EXPECT_TRUE(CpusIn(list).empty()) << list;
    EXPECT_EQ(CountCpuList(list), 0) << list;
  }
  EXPECT_EQ(CpusIn("0-65535,65536-131071").size(), 65536u);
}

TEST(HostTest, UsableCoresAreTheTighterOfMaskAndQuota) {
  const Facts facts = {{"cpu.cores", "64"}, {"cpu.affinity", "0-7"}, {"cgroup.cpu_quota", "2.5"}};
  EXPECT_DOUBLE_EQ(ReadHost(facts).usable_cores(), 2.5);
}

TEST(HostTest, AQuotaAloneSaysHowManyCoresThereAre) {
  EXPECT_DOUBLE_EQ(ReadHost({{"cgroup.cpu_quota", "8"}}).usable_cores(), 8);
}

TEST(HostTest, ANumberOfCoresThatNoHostHasIsBounded) {
  EXPECT_EQ(ReadHost({{"cpu.cores", "1e300"}}).cores, 65536);
  EXPECT_EQ(ReadHost({{"cpu.cores", "-1e300"}}).cores, 0);
}

TEST(HostTest, MemoryIsTheSmallerOfWhatIsKnown) {
  const auto memory = [](const Facts& facts) { return ReadHost(facts).memory().value; };
  EXPECT_EQ(memory({{"memory.total", "8000"}, {"cgroup.memory_limit", "2000"}}), 2000u);
  EXPECT_EQ(memory({{"memory.total", "8000"}, {"cgroup.memory_limit", "max"}}), 8000u);
  EXPECT_EQ(memory({{"cgroup.memory_limit", "2000"}}), 2000u);
  EXPECT_EQ(memory({}), 0u);
}

TEST(HostTest, AMaskOfTheWorkersNarrowsTheCollectors) {
  Host host = ReadHost({{"cpu.cores", "8"}, {"cpu.affinity", "0-7"}});
  NarrowAffinity(host, {});
  EXPECT_EQ(host.affinity, 8);
  const std::string_view shared[] = {"0", "0,3", "3"};
  NarrowAffinity(host, shared);
  EXPECT_EQ(host.affinity, 2);
  const std::string_view wide[] = {"0-7"};
  NarrowAffinity(host, wide);
  EXPECT_EQ(host.affinity, 2);
}

TEST(RunModelTest, UsableCoresAreThoseOfTheWorkers) {
  Synthetic run;
  run.workers = 2;
  run.cores = 8;
  traces::TraceData data = testing::MakeSynthetic(run);
  for (traces::ProcessInfo& process : data.processes) {
    process.facts["process.affinity"] = process.role == wire::kRoleWorker ? "5" : "0-7";
  }
  EXPECT_DOUBLE_EQ(BuildRunModel(*traces::MakeTrace(std::move(data))).host.usable_cores(), 1);
}

TEST(RunModelTest, KnowsTheLoaderByItsFacts) {
  Synthetic run;
  run.workers = 3;
  run.prefetch = 4;
  run.epochs = 2;
  run.batches = 30;
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  ASSERT_TRUE(model.has_loader());
  const LoaderRun& loader = model.loader();
  EXPECT_EQ(loader.config.kind, "pytorch");
  EXPECT_EQ(loader.config.num_workers, 3);
  EXPECT_EQ(loader.config.prefetch_factor, 4);
  EXPECT_EQ(loader.batches.size(), 60u);
  EXPECT_EQ(loader.epochs.size(), 2u);
  EXPECT_EQ(loader.workers.size(), 6u);  // each epoch has new workers
  EXPECT_EQ(loader.samples_per_batch, 4u);
}

TEST(RunModelTest, FollowsABatchThroughBothProcesses) {
  Synthetic run;
  run.batches = 20;
  const RunModel model = BuildRunModel(*SyntheticTrace(run));
  const Batch& batch = model.loader().batches.at(10);
  EXPECT_LT(batch.index_sent, batch.fetch_start + 1);
  EXPECT_LT(batch.fetch_end, batch.put_end);
  EXPECT_LE(batch.put_end, batch.got);
  EXPECT_LE(batch.got, batch.delivered);
  EXPECT_NEAR(batch.step(), 4e-3, 1e-6);
  EXPECT_NEAR(batch.decode.wall, 4e-3, 1e-6);
  EXPECT_NEAR(batch.augment.wall, 2e-3, 1e-6);
}

TEST(RunModelTest, TheBusierLoaderIsTheMainOne) {
  Synthetic run;
  run.batches = 50;
  traces::TraceData data = testing::MakeSynthetic(run);
  // The last ten batches are those of a validation loader.
  const auto validation = [](traces::BatchKey& key) {
    if (key.valid() && key.index >= 40) key.generation = 9;
  };
  for (auto& spans : data.spans) {
    for (auto& span : spans) validation(span.batch);
  }
  for (auto& event : data.events) validation(event.batch);
  data.processes[0].facts["loader.1.num_workers"] = "0";
  data.processes[0].facts["epoch.9"] = "1";
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(model.loaders.size(), 2u);
  EXPECT_EQ(model.loader().config.id, 0);
  EXPECT_EQ(model.loaders[1].batches.size(), 10u);
}

TEST(RunModelTest, AnIndexThatIsSentOnDeliveryIsNoPartOfTheDepth) {
  Synthetic run;
  run.workers = 1;
  run.prefetch = 2;
  run.loader_facts = false;
  traces::TraceData data = testing::MakeSynthetic(run);
  // As in PyTorch: next() receives a batch, then sends an index, then returns.
  for (traces::Span& span : data.spans[0]) {
    if (span.stage == traces::StageId::kWait) span.duration.value += 2000;
  }
  for (traces::Event& event : data.events) {
    if (event.type == EventType::kIndexSent && event.batch.index >= 2) event.at.value += 1000;
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(model.loader().config.num_workers, 1);
  EXPECT_EQ(model.loader().config.prefetch_factor, 2);
}

TEST(RunModelTest, WaitsWithoutIdsAreMatchedByDelivery) {
  Synthetic run;
  run.batches = 20;
  traces::TraceData data = testing::MakeSynthetic(run);
  for (auto& spans : data.spans) {
    for (auto& span : spans) {
      if (span.stage == traces::StageId::kWait) span.batch = {};
    }
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(model.has_loader());
  EXPECT_EQ(model.loader().batches.size(), 20u);
}

// The ranks of one host wait at the same time, each for its own batches.
TEST(RunModelTest, WaitsWithoutIdsAreMatchedByThread) {
  Synthetic run;
  run.batches = 20;
  traces::TraceData data = testing::SideBySide(run, 2);
  for (auto& spans : data.spans) {
    for (auto& span : spans) {
      if (span.stage == traces::StageId::kWait) span.batch = {};
    }
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(model.loaders.size(), 2u);
  EXPECT_EQ(model.loaders[0].batches.size(), 20u);
  EXPECT_EQ(model.loaders[1].batches.size(), 20u);
}

// The span of a wait is lost, but the events of its batch say when next() was entered and left.
TEST(RunModelTest, ALostWaitIsNoTimeCountedTwice) {
  Synthetic run;
  run.batches = 20;
  run.costs = testing::Always({.decode = 40});  // the loop waits
  const RunModel whole = BuildRunModel(*SyntheticTrace(run));
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::uint32_t t = 0; t < data.spans.size(); ++t) {
    for (const traces::Span& span : data.spans[t]) {
      if (span.stage != traces::StageId::kWait || !span.batch.valid()) continue;
      data.events.push_back({span.start, ThreadId{t}, span.batch, 0, EventType::kNextEntered});
      data.events.push_back({span.end(), ThreadId{t}, span.batch, 0, EventType::kBatchDelivered});
    }
    std::erase_if(data.spans[t], [](const traces::Span& span) {
      return span.stage == traces::StageId::kWait && span.batch.index == 10;
    });
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  ASSERT_EQ(model.loader().batches.size(), 20u);
  for (std::size_t i : {9u, 10u, 11u}) {
    const Batch& batch = model.loader().batches[i];
    EXPECT_NEAR(batch.step(), whole.loader().batches[i].step(), 1e-6) << i;
    EXPECT_NEAR(batch.wait(), whole.loader().batches[i].wait(), 1e-5) << i;
  }
}

// With torch's __getitems__ there is one span for all samples of a batch.
TEST(RunModelTest, OneSampleSpanPerBatchIsNotOneSample) {
  Synthetic run;
  run.batch_size = 1;
  run.batches = 20;
  traces::TraceData data = testing::MakeSynthetic(run);
  data.processes[0].facts["loader.0.batch_size"] = "64";
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(model.loader().samples_per_batch, 64u);
}

TEST(LoaderTest, BatchesThatTheDatasetMakesHaveTheLengthThatWasTold) {
  Synthetic run;
  run.batch_size = 1;  // one sample span for each batch
  traces::TraceData data = testing::MakeSynthetic(run);
  for (traces::ProcessInfo& process : data.processes) {
    if (process.facts.erase("loader.0.batch_size") > 0) {
      process.facts["loader.0.batch_length"] = "16";
    }
  }
  const RunModel model = BuildRunModel(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(model.loader().samples_per_batch, 16u);
  EXPECT_TRUE(model.loader().samples_known);
}

// len() of a dataset without end is often sys.maxsize.
TEST(LoaderTest, ADatasetWithoutEndHasNoKnownLength) {
  const auto told = [](const char* length) {
    return ReadLoaders({{"loader.0.dataset_len", length}, {"loader.0.epoch_batches", length}},
                       ProcessId{0})
        .at(0);
  };
  for (const char* length : {"9223372036854775807", "1e300", "-5", "none"}) {
    EXPECT_EQ(told(length).dataset_length, -1) << length;
    EXPECT_EQ(told(length).epoch_batches, 0) << length;
  }
  EXPECT_EQ(told("50000").dataset_length, 50000);
  EXPECT_EQ(told("50000").epoch_batches, 50000);
}

TEST(DiagnosisTest, WaitingInADatasetIsNoTransform) {
  const auto part = [](double cpu_share, double decode, bool helped = false) {
    Synthetic run;
    run.cpu_share = cpu_share;
    run.transform = "";
    run.costs = testing::Always(Costs{0.1, decode, 20, 0.1, 0.1, 0.2, 1, 0});
    return PartOf(Factor::kAugment, BuildRunModel(*SyntheticTrace(run)).stages, helped);
  };
  EXPECT_TRUE(part(0.05, 0).Is(words::kOwnWaiting));
  EXPECT_TRUE(part(0.05, 0, true).Is(words::kOwnHelpers)) << "child processes compute meanwhile";
  EXPECT_TRUE(part(0.9, 0, true).Is(words::kOwnCode));
  EXPECT_TRUE(part(0.9, 0).Is(words::kOwnCode));
  EXPECT_TRUE(part(0.2, 5).Is(words::kOwnCode));  // decoding waits for the same share of its time
}

TEST(DiagnosisTest, ACrowdedMachineIsNotTakenForFreeCores) {
  Synthetic run;
  run.cores = 2;
  run.cpu_share = 0.45;  // two workers got less than half of the CPU time that they could use
  run.costs = testing::Always(Costs{0.5, 20, 10, 1, 0.1, 0.2, 2, 0});
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(run));
  EXPECT_TRUE(diagnosis.loader->cpu.crowded);
  EXPECT_EQ(diagnosis.loader->suggestion.workers, 2);
}

TEST(DiagnosisTest, AnEmptyTraceHasAVerdict) {
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace({}));
  EXPECT_EQ(diagnosis.bottleneck, Factor::kNone);
  EXPECT_FALSE(diagnosis.summary.empty());
}

TEST(DiagnosisTest, SurvivesATraceWithoutWorkers) {
  Synthetic run;
  traces::TraceData data = testing::MakeSynthetic(run);
  for (std::size_t i = 1; i < data.spans.size(); ++i) data.spans[i].clear();
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  ASSERT_TRUE(diagnosis.loader);
  EXPECT_LT(diagnosis.confidence, 0.3);
  EXPECT_NE(English(diagnosis.summary).find("not seen how the batches were made"),
            std::string::npos)
      << English(diagnosis.summary);
}

TEST(DiagnosisTest, NamesTheCostliestStageOfAProgramWithoutALoader) {
  traces::TraceData data;
  data.processes.emplace_back();
  for (int t = 0; t < 3; ++t) {
    data.threads.emplace_back();
    data.spans.emplace_back();
    for (int i = 0; i < 100; ++i) {
      traces::Span span;
      span.stage = i % 2 == 0 ? traces::StageId::kRead : traces::StageId::kDecode;
      span.start = testing::Ms(10.0 * i);
      span.duration = testing::Ms(i % 2 == 0 ? 2 : 8);
      data.spans.back().push_back(span);
    }
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_FALSE(diagnosis.loader);
  EXPECT_EQ(diagnosis.bottleneck, Factor::kDecode);
  EXPECT_NEAR(diagnosis.samples_rate, 150, 2);  // 150 images in a second
  EXPECT_LE(diagnosis.confidence, 0.5);
}

TEST(LoaderConfigTest, ADatasetThatMakesBatchesCountsThem) {
  LoaderConfig config;
  config.dataset_length = 50;
  config.batch_size = 16;
  EXPECT_EQ(config.whole_epoch(), 4);
  config.batch_size = 0;
  EXPECT_EQ(config.whole_epoch(), 0);
  config.batch_length = 16;
  EXPECT_EQ(config.whole_epoch(), 50);
}

}  // namespace
}  // namespace penstock::analyzer
