// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "analyzer/words/rule_names.h"
#include "gui/model/panels/io.h"
#include "tests/gui/panels_support.h"

namespace penstock::gui {
namespace {

using testing::GpuRun;

GpuModel GpuOf(const GpuRun& run, std::optional<TimeRange> range = std::nullopt) {
  const Document document = testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun(run)));
  return BuildGpu({document.trace.get(), range}, *document.analysis);
}

double IdleOf(const GpuModel& gpu, IdleCause cause) {
  return gpu.idle()[static_cast<std::size_t>(cause)];
}

double Sum(const std::array<double, kIdleCauses>& idle) {
  return std::accumulate(idle.begin(), idle.end(), 0.0);
}

TEST(GpuModelTest, WithoutASelectionTheFiguresAreThoseOfTheReport) {
  const Document document = testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({})));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  const analyzer::DeviceActivity& said = document.analysis->report.diagnosis.loader->device;
  ASSERT_GT(said.batches, 50U);
  EXPECT_EQ(gpu.kernels, 100U);
  EXPECT_EQ(gpu.activity.window, said.window);
  EXPECT_EQ(gpu.activity.computing, said.computing);
  EXPECT_EQ(IdleOf(gpu, IdleCause::kLoader), said.idle.loader);
  EXPECT_NEAR(Sum(gpu.idle()), gpu.idle_time(), 1e-6);
}

TEST(GpuModelTest, EveryMomentWithoutAKernelHasTheCauseOfTheLoop) {
  const GpuModel gpu = GpuOf({});
  const auto batches = static_cast<double>(gpu.activity.batches);
  // A step has a copy of 1 ms, 2 ms in which nothing is launched, and a kernel of 3 ms. In the rest
  // of the time the loop waits.
  EXPECT_NEAR(gpu.activity.computing, batches * 0.003, 0.003);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kCopy), batches * 0.001, 0.001);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kLaunch), batches * 0.002, 0.002);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kLoader), gpu.activity.window - batches * 0.006, 0.01);
  EXPECT_NEAR(IdleOf(gpu, IdleCause::kUnknown), 0, 1e-3);
}

// A loop of a few batches is not steady, so its shares are not of a steady part.
TEST(GpuModelTest, TheNoteNamesTheTimeThatSharesAreOf) {
  const Document document = testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun({})));
  const auto note = [&](const std::optional<TimeRange>& range = std::nullopt) {
    return BuildGpu({document.trace.get(), range}, *document.analysis).window_note;
  };
  EXPECT_EQ(note(), Text::kGpuBusyNote);
  EXPECT_EQ(note(TimeRange{0, 1'000'000'000}), Text::kGpuBusyPartNote);
  Analysis few = *document.analysis;
  few.report.diagnosis.loader->steady.steady = false;
  EXPECT_EQ(BuildGpu({document.trace.get(), std::nullopt}, few).window_note,
            Text::kGpuBusyLoopNote);
}

TEST(GpuModelTest, KernelsOfNcclAreToldApart) {
  traces::TraceData data = testing::MakeGpuRun({});
  const StringId nccl = data.Intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)");
  int kernel = 0;
  for (traces::Span& span : data.spans.back()) {
    if (span.stage == traces::StageId::kKernel && kernel++ % 4 == 0) span.name = nccl;
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_NEAR(gpu.nccl, 0.25, 1e-6);
  EXPECT_EQ(GpuOf({}).nccl, 0);
}

TEST(GpuModelTest, TheTitleOfAKernelHasNoParameters) {
  EXPECT_EQ(KernelTitle("void fill<4, Sum<float> >(int, Array<char*, 1>)"), "fill<4, Sum<float> >");
  EXPECT_EQ(KernelTitle("void (anonymous namespace)::softmax<8>(F (*)(int), float*)"),
            "(anonymous namespace)::softmax<8>");
  EXPECT_EQ(KernelTitle("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  for (const char* odd : {"(x)", "x)", "", "cudaMemcpyAsync: H2D (pinned"}) {
    EXPECT_EQ(KernelTitle(odd), odd);
  }
}

TEST(GpuModelTest, CopiesAreCountedByTheirWayAndTheMemoryTheyComeFrom) {
  const GpuModel pageable = GpuOf({});
  ASSERT_EQ(pageable.copy_rows.size(), 2U);
  const CopyRow& to = pageable.copy_rows[0];
  EXPECT_EQ(to.way, CopyWay::kToDevice);
  EXPECT_EQ(to.memory, analyzer::CopyMemory::kPageable);
  EXPECT_EQ(to.count, 100U);
  EXPECT_EQ(to.bytes, 100'000'000U);
  EXPECT_NEAR(to.rate(), 1e9, 1e3);
  EXPECT_NEAR(to.beside, 0, 1e-9);
  const CopyRow& from = pageable.copy_rows[1];
  EXPECT_EQ(from.way, CopyWay::kFromDevice);
  EXPECT_EQ(from.memory, analyzer::CopyMemory::kPinned);
  EXPECT_EQ(from.count, 100U);
  EXPECT_EQ(from.rate(), 0) << "copies that are too small to say anything of the link";
  EXPECT_EQ(pageable.copies, 100U) << "to the device";
  EXPECT_EQ(GpuOf({.pinned = true}).copy_rows[0].memory, analyzer::CopyMemory::kPinned);
}

TEST(GpuModelTest, TheTitleOfTheTablesSaysWhatTheyList) {
  GpuModel gpu;
  EXPECT_EQ(TitleOfTables(gpu), Text::kGpuCopyKinds);
  gpu.call_rows.emplace_back();
  EXPECT_EQ(TitleOfTables(gpu), Text::kGpuCopiesAndCalls);
  gpu.kernel_rows.emplace_back();
  EXPECT_EQ(TitleOfTables(gpu), Text::kGpuCopiesAndKernels);
}

// One copy has 30,000 bytes and takes as long as the others, which have a million.
TEST(GpuModelTest, ASpeedThatLeavesOutSmallCopiesIsKnownToDoSo) {
  EXPECT_FALSE(GpuOf({}).leaves_out_small());
  traces::TraceData data = testing::MakeGpuRun({});
  auto& spans = data.spans.back();
  const auto copy = std::find_if(spans.begin(), spans.end(), [](const traces::Span& span) {
    return span.stage == traces::StageId::kH2d;
  });
  ASSERT_NE(copy, spans.end());
  copy->bytes = Bytes{30'000};
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_TRUE(gpu.leaves_out_small());
  EXPECT_NEAR(gpu.copy_rows[0].rate(), 1e9, 1e3);
  EXPECT_LT(static_cast<double>(gpu.copy_rows[0].bytes) / gpu.copy_rows[0].wall, 0.995e9);
}

TEST(GpuModelTest, CallsAreListedByNameAndNoCopyIsCountedTwice) {
  const GpuModel gpu = GpuOf({});
  ASSERT_EQ(gpu.call_rows.size(), 1U);
  EXPECT_EQ(gpu.call_rows[0].count, 100U);
  EXPECT_NEAR(gpu.call_rows[0].wall, 100 * 0.0002, 1e-9);
  EXPECT_EQ(gpu.call_rows[0].stage, traces::StageId::kCall);
}

// Without CUPTI, only the calls of the runtime are recorded.
TEST(GpuModelTest, WithoutStreamsTheCallsSayWhatWasCopied) {
  traces::TraceData data = testing::MakeGpuRun({});
  data.spans.back().clear();
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_EQ(gpu.kernels, 0U);
  ASSERT_EQ(gpu.copy_rows.size(), 1U);
  EXPECT_EQ(gpu.copy_rows[0].way, CopyWay::kToDevice);
  EXPECT_EQ(gpu.copy_rows[0].count, 100U);
  EXPECT_TRUE(gpu.recorded());
}

TEST(GpuModelTest, BusySharesOverTimeAddUpToTheBusyTime) {
  const GpuModel gpu = GpuOf({});
  EXPECT_NEAR(gpu.computing.sum() * gpu.computing.width, 100 * 0.003, 1e-6);
  EXPECT_NEAR(gpu.copying.sum() * gpu.copying.width, 100 * 0.001, 1e-6);
  EXPECT_LE(gpu.computing.most(), 1 + 1e-9);
}

// Both GPUs do the same at the same time, so each is as busy as one alone.
TEST(GpuModelTest, TimesOfTwoDevicesSayThatTheyAreOfTwo) {
  const GpuModel one = GpuOf({});
  const Document document =
      testing::DocumentOf(traces::MakeTrace(testing::OnTwoGpus(testing::MakeGpuRun({}))));
  const GpuModel two = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_EQ(one.copy_devices, 1U);
  EXPECT_EQ(two.copy_devices, 2U);
  EXPECT_EQ(two.kernel_devices, 2U);
  EXPECT_NEAR(two.copy_rows[0].wall, 2 * one.copy_rows[0].wall, 1e-9);
  EXPECT_NEAR(two.computing.sum(), one.computing.sum(), 1e-6);
  EXPECT_NEAR(two.copying.sum(), one.copying.sum(), 1e-6);
  EXPECT_EQ(OfDevices("1.84 s", two.copy_devices, Language::kEnglish), "1.84 s, 2 GPUs");
  EXPECT_EQ(OfDevices("1.84 s", two.copy_devices, Language::kChinese), "1.84 s，2 个 GPU");
  EXPECT_EQ(TitleOfCurves(two, Language::kEnglish), "Busy over time, mean of 2 GPUs");
  EXPECT_EQ(TitleOfCurves(one, Language::kEnglish), "Busy over time");
  // Eight ranks without copies had a curve that was called that of one GPU.
  GpuModel kernels = two;
  kernels.copies = 0;
  kernels.copy_devices = 1;
  EXPECT_EQ(TitleOfCurves(kernels, Language::kEnglish), "Busy over time, mean of 2 GPUs");
  EXPECT_EQ(OfDevices("1.84 s", one.copy_devices, Language::kEnglish), "1.84 s");
}

// The worker does on GPU 0 what the training process does there at the same time.
TEST(GpuModelTest, AWorkerThatUsesTheGpuIsNoSecondGpu) {
  traces::TraceData data = testing::MakeGpuRun({});
  traces::ThreadInfo stream = data.threads.back();
  stream.process = ProcessId{1};
  stream.name = "GPU 0 stream 9";
  data.threads.push_back(stream);
  const std::vector<traces::Span> spans = data.spans.back();
  data.spans.push_back(spans);
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel shared = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_EQ(shared.kernels, 200U);
  EXPECT_EQ(shared.kernel_devices, 1U);
  EXPECT_EQ(shared.copy_devices, 1U);
  EXPECT_NEAR(shared.computing.sum(), GpuOf({}).computing.sum(), 1e-6);
}

TEST(GpuModelTest, ADeviceIsCalledByItsModelElseByItsNumberAndNeverADash) {
  const auto title_of = [](std::map<std::string, std::string> facts, Language language) {
    traces::TraceData data = testing::OnTwoGpus(testing::MakeGpuRun({.counters = false}));
    data.facts.insert(facts.begin(), facts.end());
    const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
    const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
    return TitleOfDevices(gpu, language);
  };
  const DeviceTitle named = title_of({{"gpu.model", "A100"}}, Language::kEnglish);
  EXPECT_EQ(named.name, "A100");
  EXPECT_EQ(named.note, "2 GPUs");
  // The recorder was killed before it said which device was used.
  const std::map<std::string, std::string> alike = {{"gpu.0.model", "A100"},
                                                    {"gpu.1.model", "A100"}};
  EXPECT_EQ(title_of(alike, Language::kEnglish).name, "A100");
  std::map<std::string, std::string> mixed = {{"gpu.0.model", "A100"}, {"gpu.1.model", "T400"}};
  EXPECT_EQ(title_of(mixed, Language::kEnglish).name, "A100, T400");
  EXPECT_EQ(title_of(mixed, Language::kChinese).name, "A100、T400");
  mixed["gpu.2.model"] = "H200";  // two of three were used, and it is not known which
  EXPECT_EQ(title_of(mixed, Language::kEnglish).name, "GPU 0, GPU 1");
  mixed["gpu.model"] = "A100";
  mixed["gpu.0.used"] = mixed["gpu.2.used"] = "process";
  EXPECT_EQ(title_of(mixed, Language::kEnglish).name, "A100, H200");
  mixed = {{"gpu.0.model", "A100"}, {"gpu.1.model", "T400"}};
  mixed["gpu.1.used"] = "no";
  EXPECT_EQ(title_of(mixed, Language::kEnglish).name, "A100");
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    EXPECT_EQ(title_of({}, language).note, Filled(Text::kGpuCount, language, 2) + "  ·  " +
                                               std::string(TextOf(Text::kGpuNotNamed, language)));
    EXPECT_NE(title_of({}, language).name, "–");
  }
  const DeviceTitle refused =
      title_of({{"gpu.nvml", "unavailable: no libnvidia-ml.so.1"}}, Language::kEnglish);
  EXPECT_EQ(refused.note, "2 GPUs  ·  NVML: unavailable: no libnvidia-ml.so.1");
}

// Each of eight ranks calls its device GPU 0.
TEST(GpuModelTest, DevicesOfTheSameNumberAreCounted) {
  GpuModel gpu;
  gpu.streams_of = {0};
  gpu.kernel_devices = 8;
  const DeviceTitle title = TitleOfDevices(gpu, Language::kEnglish);
  EXPECT_EQ(title.name, "8 GPUs");
  EXPECT_EQ(title.note, TextOf(Text::kGpuNotNamed, Language::kEnglish));
}

TEST(GpuModelTest, TheShareOverTimeIsTheMeanOfDevicesThatTakeTurns) {
  traces::TraceData data = testing::OnTwoGpus(testing::MakeGpuRun({}));
  for (traces::Span& span : data.spans.back()) span.start.value += 5'000'000;
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  EXPECT_NEAR(gpu.computing.sum() * gpu.computing.width, 100 * 0.003, 0.004)
      << "in 6 of 20 ms some device computes, each in 3 of them";
}

TEST(GpuModelTest, StepsThatAreAllAlikeMakeNoWaves) {
  // 100 steps of 20 ms, with a kernel of 3 ms each.
  const Series busy = GpuOf({}).computing;
  ASSERT_GT(busy.value.size(), 10U);
  for (std::size_t i = 1; i + 1 < busy.value.size(); ++i) EXPECT_NEAR(busy.value[i], 0.15, 0.08);
  // A few steps are shown in detail.
  const Series near = GpuOf({}, TimeRange{500'000'000, 700'000'000}).computing;
  EXPECT_NEAR(near.most(), 1, 1e-9);
}

TEST(GpuModelTest, CountersComeInUnitsOfAPersonAndBitsAreLeftOut) {
  const GpuModel gpu = GpuOf({});
  ASSERT_EQ(gpu.counters.size(), 2U);
  EXPECT_EQ(gpu.counters[0].unit, GpuUnit::kPercent);
  EXPECT_DOUBLE_EQ(gpu.counters[0].curve.mean, 40);
  EXPECT_EQ(gpu.counters[1].unit, GpuUnit::kWatts);
  EXPECT_DOUBLE_EQ(gpu.counters[1].curve.mean, 250);
}

// A process that computes on another device often has a little memory on this device too.
TEST(GpuModelTest, TheMemoryOfAProgramIsThatOfTheProcessWithMost) {
  traces::TraceData data = testing::MakeGpuRun({.counters = false});
  for (int i = 0; i < 4; ++i) {
    const double at = 1000 + 100.0 * i;
    analyzer::testing::AddCounter(data, "gpu.0.process_memory_bytes", 0, at, 8e9);
    analyzer::testing::AddCounter(data, "gpu.0.process_memory_bytes", 1, at, 5e8);
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu = BuildGpu({document.trace.get(), std::nullopt}, *document.analysis);
  ASSERT_EQ(gpu.counters.size(), 1U);
  EXPECT_EQ(gpu.counters[0].unit, GpuUnit::kBytes);
  EXPECT_DOUBLE_EQ(gpu.counters[0].curve.mean, 8e9);
}

TEST(GpuModelTest, SharesAreOfTheSelectedInterval) {
  const GpuModel gpu = GpuOf({}, TimeRange{500'000'000, 1'000'000'000});
  EXPECT_NEAR(gpu.activity.window, 0.5, 1e-9);
  EXPECT_LT(gpu.kernels, 100U);
  EXPECT_NEAR(Sum(gpu.idle()) + gpu.activity.computing, 0.5, 0.004);
}

// If the only device spans of a trace are copies back from the device, `any` is true, even if the
// selection holds none of them.
TEST(GpuModelTest, AnyIsTrueAlthoughTheSelectionHasNoDeviceSpans) {
  traces::TraceData data = testing::MakeGpuRun({.copy = 0, .counters = false});
  std::erase_if(data.spans.back(),
                [](const traces::Span& span) { return span.stage == traces::StageId::kKernel; });
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const GpuModel gpu =
      BuildGpu({document.trace.get(), TimeRange{0, 1'000'000}}, *document.analysis);
  EXPECT_FALSE(gpu.recorded());
  EXPECT_TRUE(gpu.any);
}

// A rule that a panel does not list would never be shown there: the panel would say that there is
// no finding.
TEST(GpuModelTest, RulesOfPanelsHaveNamesAndMissNoneOfTheirSubject) {
  for (const std::string_view id : kGpuFindings) {
    EXPECT_FALSE(analyzer::RuleName(id).empty()) << id;
  }
  for (const std::string_view id : kReadFindings) {
    EXPECT_FALSE(analyzer::RuleName(id).empty()) << id;
  }
  analyzer::Report report;
  for (const char* id : {"preprocessing-on-busy-gpu", "connection-not-reused"}) {
    analyzer::Finding finding;
    finding.id = id;
    report.findings.push_back(finding);
  }
  const auto of_gpu = FindingsAmong(report, kGpuFindings);
  ASSERT_EQ(of_gpu.size(), 1U);
  EXPECT_EQ(of_gpu[0]->id, "preprocessing-on-busy-gpu");
  const auto of_reads = FindingsAmong(report, kReadFindings);
  ASSERT_EQ(of_reads.size(), 1U);
  EXPECT_EQ(of_reads[0]->id, "connection-not-reused");
}

TEST(GpuModelTest, TheFactsSayWhyNothingOfAGpuWasRecorded) {
  GpuModel gpu;
  EXPECT_EQ(WhyNoGpu(gpu), GpuAbsence::kUnseen);
  gpu.facts = {
      {"gpu.nvml", "unavailable: libnvidia-ml.so.1: cannot open shared object file: No such file"},
      {"record.gpu", "auto"}};
  EXPECT_EQ(WhyNoGpu(gpu), GpuAbsence::kNoDriver);
  gpu.facts = {{"gpu.nvml", "unavailable: libnvidia-ml.so.1: undefined symbol: nvmlInit_v2"}};
  EXPECT_EQ(WhyNoGpu(gpu), GpuAbsence::kUnseen) << "the library is there";
  gpu.facts = {{"gpu.nvml", "no answer from nvmlInit"}, {"record.gpu", "auto"}};
  EXPECT_EQ(WhyNoGpu(gpu), GpuAbsence::kUnseen);
  gpu.facts = {{"record.gpu", "off"}};
  EXPECT_EQ(WhyNoGpu(gpu), GpuAbsence::kOff);
}

TEST(GpuModelTest, WithoutAGpuNothingIsRecordedOfOne) {
  const GpuModel gpu = GpuOf({.kernel = 0, .copy = 0, .counters = false});
  EXPECT_FALSE(gpu.recorded());
  EXPECT_FALSE(gpu.any);
}

}  // namespace
}  // namespace penstock::gui
