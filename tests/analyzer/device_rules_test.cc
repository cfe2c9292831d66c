// SPDX-License-Identifier: Apache-2.0
//
// Rules about GPUs, copies and ranks, on traces that show these. Also tests what reports say if a
// trace shows none of them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/report/report.h"
#include "analyzer/words/rule_needs.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_device.h"

namespace penstock::analyzer {
namespace {

using testing::Change;
using testing::Costs;
using testing::FindingOf;
using testing::Finds;
using testing::MakeSynthetic;
using testing::Synthetic;
using testing::WithCosts;

void AddGpu(traces::TraceData& data) {
  data.facts["gpu.model"] = "NVIDIA H200";
}

Synthetic FullCores(const Costs& costs) {
  Synthetic run = WithCosts(costs);
  run.cores = 2;
  return run;
}

// NCCL's kernels run while they wait for other GPUs, so they are not all computing.
TEST(ComputeBoundOnDeviceTest, SaysHowMuchOfTheKernelsIsCommunication) {
  traces::TraceData data = MakeSynthetic(WithCosts({0.1, 0.5, 0.3, 0.1, 0.1, 0.2, 10, 0}));
  testing::OnDevice device;
  device.kernels = 8;
  device.kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)";
  testing::AddDevice(data, device);
  const auto finding = FindingOf("compute-bound", data);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(testing::Evidence(*finding, "nccl_share_of_kernels"), 1, 1e-9);
  EXPECT_NE(English(finding->seen).find("100 % of their time in kernels of NCCL"),
            std::string::npos)
      << English(finding->seen);
}

TEST(KernelLaunchBoundTest, SaysWhatItsPredictionAssumes) {
  traces::TraceData data = MakeSynthetic(WithCosts({1, 2, 1, 0.1, 0.1, 0.3, 10, 0}));
  testing::OnDevice device;
  device.copy = 0;
  device.kernels = 6;
  testing::AddDevice(data, device);
  const auto finding = FindingOf("kernel-launch-bound", std::move(data));
  ASSERT_TRUE(finding);
  ASSERT_TRUE(finding->predicted);
  EXPECT_NE(English(finding->action).find("prediction assumes"), std::string::npos)
      << English(finding->action);
}

TEST(MoveDecodeToGpuTest, SpeaksWhenCoresAreFullOfDecoding) {
  EXPECT_TRUE(Finds("move-decode-to-gpu", FullCores({0, 30, 5, 1, 0.1, 0.2, 4, 0}), AddGpu));
}

TEST(MoveDecodeToGpuTest, IsSilentWithoutAGpu) {
  EXPECT_FALSE(Finds("move-decode-to-gpu", FullCores({0, 30, 5, 1, 0.1, 0.2, 4, 0})));
}

TEST(MoveDecodeToGpuTest, IsSilentWhenCoresAreFree) {
  EXPECT_FALSE(Finds("move-decode-to-gpu", WithCosts({0, 30, 5, 1, 0.1, 0.2, 4, 0}), AddGpu));
}

TEST(MoveDecodeToGpuTest, IsSilentOfFilesThatItsDecodersDoNotRead) {
  Synthetic run = FullCores({0, 30, 5, 1, 0.1, 0.2, 4, 0});
  for (const char* decoder : {"torchvision.decode_png", "torchaudio.load", "decord.get_batch"}) {
    run.decoder = decoder;
    EXPECT_FALSE(Finds("move-decode-to-gpu", run, AddGpu)) << decoder;
  }
}

TEST(MoveAugmentToGpuTest, SpeaksWhenTransformsCostMost) {
  EXPECT_TRUE(Finds("move-augment-to-gpu", FullCores({0, 5, 30, 1, 0.1, 0.2, 4, 0}), AddGpu));
}

TEST(MoveAugmentToGpuTest, IsSilentWhenDecodingCostsMore) {
  EXPECT_FALSE(Finds("move-augment-to-gpu", FullCores({0, 20, 15, 1, 0.1, 0.2, 4, 0}), AddGpu));
}

Change Types(const char* types) {
  return
      [types](traces::TraceData& data) { data.processes[0].facts["loader.0.batch_types"] = types; };
}

TEST(WideLabelsTest, SpeaksOfMasks) {
  EXPECT_TRUE(Finds("wide-labels", Synthetic{}, Types("uint8:600000 int64:1600000")));
}

TEST(WideLabelsTest, AdvisesInt32ForIdsAlone) {
  const auto advice_for = [](const char* types) {
    traces::TraceData data = MakeSynthetic(Synthetic{});
    Types(types)(data);
    const auto finding = FindingOf("wide-labels", std::move(data));
    return finding ? English(finding->action) : "";
  };
  EXPECT_NE(advice_for("uint8:600000 int64:1600000").find("uint8"), std::string::npos);
  EXPECT_NE(advice_for("int64:3200000").find("int32"), std::string::npos);
  EXPECT_EQ(advice_for("int64:3200000").find("uint8"), std::string::npos);
}

TEST(WideLabelsTest, IsSilentOfALabelForEachSample) {
  EXPECT_FALSE(Finds("wide-labels", Synthetic{}, Types("uint8:602112 int64:32")));
}

TEST(WideLabelsTest, IsSilentOfNonsense) {
  EXPECT_FALSE(Finds("wide-labels", Synthetic{}, Types("int64 :: int64:nan x:-1 int64:1e99")));
}

TEST(PageableCopiesTest, SpeaksWhenTheLoaderDoesNotPin) {
  EXPECT_TRUE(Finds("pageable-copies", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 4, 1})));
}

// penstock.Loader has no pin_memory; it copies by itself to the device that it is given.
TEST(PageableCopiesTest, NamesTheOptionOfTheLoader) {
  const auto advice_for = [](const char* kind) {
    traces::TraceData data = MakeSynthetic(WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 4, 1}));
    data.processes[0].facts["loader.0.kind"] = kind;
    const auto finding = FindingOf("pageable-copies", std::move(data));
    return finding ? English(finding->action) : "";
  };
  EXPECT_NE(advice_for("pytorch").find("Set pin_memory=True"), std::string::npos);
  EXPECT_NE(advice_for("penstock").find("device=\"cuda\""), std::string::npos);
  EXPECT_EQ(advice_for("penstock").find("pin_memory"), std::string::npos);
}

TEST(PageableCopiesTest, IsSilentOfPinnedBatches) {
  EXPECT_FALSE(Finds("pageable-copies", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 4, 1}),
                     [](auto& data) { data.processes[0].facts["loader.0.pin_memory"] = "true"; }));
}

TEST(PageableCopiesTest, IsSilentOfOnePercent) {
  EXPECT_FALSE(Finds("pageable-copies", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 20, 0.2})));
}

bool SaysNotChecked(const std::string& id, const Synthetic& run, const Change& change = {}) {
  traces::TraceData data = testing::MakeSynthetic(run);
  if (change) change(data);
  const auto trace = traces::MakeTrace(std::move(data));
  const Report report = BuildReport(*trace, "t");
  const std::string json = ReportJson(report);
  const std::size_t list = json.find("\"not_checked\"");
  const std::size_t end = json.find("\"suggestion\"", list);
  const std::size_t at = json.find(id, list);
  return at < end &&
         ReportText(report, Colour::kOff, Detail::kAll).find("not checked") != std::string::npos;
}

// Adds to each step a kernel from the fraction `from` to the fraction `to` of its length, and at
// its end the call that launches the next one.
Change Kernels(double from, double to) {
  return [=](traces::TraceData& data) {
    traces::ThreadInfo stream;
    stream.tid = 7;
    data.threads.push_back(stream);
    std::vector<traces::Span> kernels;
    std::vector<traces::Span> calls;
    const StringId name = data.Intern("cudaLaunchKernel");
    for (const traces::Span& span : data.spans[0]) {
      if (span.stage != traces::StageId::kStep) continue;
      traces::Span kernel;
      const auto length = static_cast<double>(span.duration.value);
      kernel.stage = traces::StageId::kKernel;
      kernel.start.value = span.start.value + static_cast<std::int64_t>(from * length);
      kernel.duration.value = static_cast<std::int64_t>((to - from) * length);
      kernels.push_back(kernel);
      traces::Span call;
      call.stage = traces::StageId::kCall;
      call.name = name;
      call.start.value = span.end().value - 10'000;
      call.duration.value = 10'000;
      calls.push_back(call);
    }
    data.spans[0].insert(data.spans[0].end(), calls.begin(), calls.end());
    data.spans.push_back(kernels);
  };
}

TEST(CopiesNotOverlappedTest, SpeaksWhenKernelsWaitForTheCopy) {
  EXPECT_TRUE(
      Finds("copies-not-overlapped", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 6, 2}), Kernels(0.25, 1)));
}

TEST(CopiesNotOverlappedTest, IsSilentWhenKernelsRunBesideIt) {
  EXPECT_FALSE(
      Finds("copies-not-overlapped", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 6, 2}), Kernels(0, 1)));
}

TEST(CopiesNotOverlappedTest, IsSilentWithoutKernels) {
  EXPECT_FALSE(Finds("copies-not-overlapped", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 6, 2})));
}

TEST(KernelLaunchBoundTest, SpeaksOfAnIdleGpu) {
  EXPECT_TRUE(
      Finds("kernel-launch-bound", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 40, 0}), Kernels(0, 0.6)));
}

// Without calls and waits for the device, nobody knows whether the loop launched in its step.
TEST(KernelLaunchBoundTest, AsksForCallsIfOnlyKernelsWereRecorded) {
  const Synthetic run = WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 40, 0});
  const Change kernels_alone = [](traces::TraceData& data) {
    testing::AddDevice(data, {.copy = 0, .kernels = 24, .launches = false});
  };
  EXPECT_FALSE(Finds("kernel-launch-bound", run, kernels_alone));
  EXPECT_TRUE(SaysNotChecked("kernel-launch-bound", run, kernels_alone));
  EXPECT_TRUE(SaysNotChecked("trainer-starved", run, kernels_alone));
}

TEST(KernelLaunchBoundTest, IsSilentWhenTheGpuIsBusy) {
  EXPECT_FALSE(
      Finds("kernel-launch-bound", WithCosts({1, 4, 2, 0.5, 0.1, 0.3, 40, 0}), Kernels(0, 0.95)));
}

TEST(KernelLaunchBoundTest, IsSilentWhenDataIsMissing) {
  EXPECT_FALSE(
      Finds("kernel-launch-bound", WithCosts({1, 40, 2, 0.5, 0.1, 0.3, 4, 0}), Kernels(0, 0.6)));
}

// A trace of two ranks that run at the same time, one with costs `one`, one with costs `two`.
traces::TraceData TwoRanks(const Costs& one, const Costs& two) {
  traces::TraceData data = testing::MakeSynthetic(WithCosts(one));
  traces::TraceData other = testing::MakeSynthetic(WithCosts(two));
  const auto processes = static_cast<std::uint32_t>(data.processes.size());
  const auto threads = static_cast<std::uint32_t>(data.threads.size());
  for (traces::ProcessInfo& process : other.processes) {
    process.pid += 1000;
    if (process.parent != 0) process.parent += 1000;
    data.processes.push_back(process);
  }
  for (traces::ThreadInfo& thread : other.threads) {
    thread.process.value += processes;
    thread.tid += 1000;
    data.threads.push_back(thread);
  }
  for (auto& spans : other.spans) data.spans.push_back(std::move(spans));
  for (traces::Event& event : other.events) {
    event.thread.value += threads;
    data.events.push_back(event);
  }
  data.processes[0].rank = 0;
  data.processes[processes].rank = 1;
  for (const std::uint32_t consumer : {0U, processes}) data.processes[consumer].world_size = 2;
  return data;
}

TEST(RankImbalanceTest, NamesTheRankThatWaits) {
  const auto finding = FindingOf(
      "rank-imbalance", TwoRanks({1, 4, 2, 0.5, 0.1, 0.3, 30, 0}, {1, 60, 2, 0.5, 0.1, 0.3, 4, 0}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->pids, std::vector<std::uint32_t>{1100});
}

TEST(RankImbalanceTest, IsSilentWhenAllWaitAlike) {
  const Costs costs{1, 60, 2, 0.5, 0.1, 0.3, 4, 0};
  EXPECT_FALSE(FindingOf("rank-imbalance", TwoRanks(costs, costs)));
}

TEST(NotCheckedTest, NamesRulesOfGpusWithoutOne) {
  EXPECT_TRUE(SaysNotChecked("kernel-launch-bound", Synthetic{}));
  EXPECT_TRUE(SaysNotChecked("move-decode-to-gpu", Synthetic{}));
}

TEST(NotCheckedTest, AfterACollectorALongerRecordingIsAskedFor) {
  traces::TraceData data = testing::MakeSynthetic(Synthetic{});
  const auto text = [](const traces::TraceData& of) {
    return ReportJson(BuildReport(*traces::MakeTrace(of), "t"));
  };
  EXPECT_NE(text(data).find("memory of the workers (a recording"), std::string::npos);
  for (int i = 0; i < 10; ++i) testing::AddCounter(data, "cpu_ns", 1, 1000 + 10.0 * i, 1e6 * i);
  EXPECT_EQ(text(data).find("memory of the workers (a recording"), std::string::npos);
  EXPECT_NE(text(data).find("four readings of each worker"), std::string::npos) << text(data);
}

// A sampler may read each file often in one pass.
TEST(NotCheckedTest, ALoaderThatWasIteratedOnceIsNotSaidToReadOnce) {
  const auto trace = traces::MakeTrace(testing::MakeSynthetic(Synthetic{}));
  EXPECT_NE(ReportJson(BuildReport(*trace, "t")).find("the loader was iterated once"),
            std::string::npos);
}

// "Needs two epochs" stood beside files that had been read several times, at 2 GB/s from the cache.
TEST(NotCheckedTest, OneEpochOfFastReadsAnswersWhetherTheCacheIsCold) {
  const auto once = [](double read) {
    Synthetic run;
    run.costs = testing::Always({.read = read});
    return run;
  };
  const auto facts = [](traces::TraceData& data) {
    data.facts["memory.total"] = "64000000000";
    data.facts["dataset.bytes"] = "240000000";
  };
  for (const char* rule : {"cold-cache", "fits-in-ram"}) {
    EXPECT_FALSE(SaysNotChecked(rule, once(0.2), facts)) << rule;
    EXPECT_TRUE(SaysNotChecked(rule, once(20), facts)) << rule;
  }
}

TEST(NotCheckedTest, DoesNotNameThemWhereKernelsWereRecorded) {
  EXPECT_FALSE(SaysNotChecked("kernel-launch-bound", Synthetic{}, Kernels(0, 0.9)));
}

TEST(NotCheckedTest, CopiesMayBeKnownFromCallsAlone) {
  EXPECT_TRUE(SaysNotChecked("pageable-copies", Synthetic{}));
  EXPECT_FALSE(SaysNotChecked("pageable-copies", Synthetic{}, [](auto& data) {
    const StringId name = data.Intern("cudaMemcpyAsync: H2D");
    std::vector<traces::Span> calls;
    for (const traces::Span& step : data.spans[0]) {
      if (step.stage != traces::StageId::kStep) continue;
      traces::Span call;
      call.stage = traces::StageId::kCall;
      call.start = step.start;
      call.duration = testing::Ms(0.5);
      call.name = name;
      calls.push_back(call);
    }
    data.spans[0].insert(data.spans[0].end(), calls.begin(), calls.end());
  }));
}

TEST(NotCheckedTest, RulesOfOneNeedAreNamedTogetherInTheOrderOfTheTable) {
  std::vector<NotChecked> all;
  AddNeed("stragglers", Say<words::kRuleNeedsLonger>(), all);
  AddNeed("wide-labels", Say<words::kRuleNeedsTypes>(), all);
  AddNeed("too-many-workers", Say<words::kRuleNeedsLonger>(), all);
  AddNeed("cold-cache", Statement{}, all);
  SortNeeds(all);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].needs.Is(words::kRuleNeedsTypes));
  EXPECT_EQ(all[1].ids, (std::vector<std::string_view>{"too-many-workers", "stragglers"}));
}

TEST(NotCheckedTest, WithoutALoaderOneSentenceStandsForAllRules) {
  const auto trace = traces::MakeTrace({});
  const Advice advice = RunRules(*trace, Diagnose(*trace));
  ASSERT_EQ(advice.not_checked.size(), 1u);
  EXPECT_TRUE(advice.not_checked[0].needs.Is(words::kRulesNeedLoader));
  EXPECT_TRUE(advice.not_checked[0].ids.empty());
}

TEST(NotCheckedTest, NamesRanksOnlyWhereThereAreOthers) {
  EXPECT_FALSE(SaysNotChecked("rank-imbalance", Synthetic{}));
  EXPECT_TRUE(SaysNotChecked("rank-imbalance", Synthetic{}, [](auto& data) {
    data.processes[0].rank = 0;
    data.processes[0].world_size = 8;
  }));
}

}  // namespace
}  // namespace penstock::analyzer
