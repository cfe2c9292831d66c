// SPDX-License-Identifier: Apache-2.0
//
// Rules about GPUs on traces with device streams. Each is tested with a scenario that triggers it
// and with a near miss that does not. Rules about copies that only the host recorded are tested in
// device_rules_test.cc.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_device.h"

namespace penstock::analyzer {
namespace {

using testing::And;
using testing::Change;
using testing::Costs;
using testing::Device;
using testing::Evidence;
using testing::Fact;
using testing::FindingOf;
using testing::Finds;
using testing::LoaderFact;
using testing::MakeSynthetic;
using testing::OnDevice;
using testing::Synthetic;
using testing::WithCosts;

// The loop never waits; a step takes 10 ms.
constexpr Costs kReadyForRules{1, 2, 1, 0.1, 0.1, 0.3, 10, 0};

std::optional<Finding> Found(std::string_view id, const Synthetic& run, const Change& change) {
  traces::TraceData data = MakeSynthetic(run);
  change(data);
  return FindingOf(id, std::move(data));
}

// Checks that a finding about GPUs says where on the timeline it shows, and in which processes.
void ExpectPlace(const Finding& finding) {
  EXPECT_GT(finding.to, finding.from) << finding.id;
  EXPECT_FALSE(finding.pids.empty()) << finding.id;
}

// A process that uses `cores` cores all the time, as the collector samples it.
Change CpuOf(std::size_t process, double cores) {
  return [=](traces::TraceData& data) {
    const StringId name = data.Intern("cpu_ns");
    for (int i = 0; i <= 200; ++i) {
      const double at = 1000 + 50.0 * i;
      const auto used = static_cast<std::int64_t>(cores * 50e6 * i);
      data.counters.push_back(
          {testing::Ms(at), name, ProcessId{static_cast<std::uint32_t>(process)}, used});
    }
  };
}

TEST(PageableCopiesOnDeviceTest, SpeakOfTransfersThatNothingRunsBeside) {
  OnDevice device;
  device.copy = 2;
  device.kernels = 7;
  const auto finding = Found(
      "pageable-copies", WithCosts(kReadyForRules),
      And(Device(device), And(Fact("gpu.0.pcie_generation", "4"), Fact("gpu.0.pcie_width", "16"))));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Evidence(*finding, "transfer_s_per_copy"), 2e-3, 1e-5);
  EXPECT_NEAR(Evidence(*finding, "bytes_per_s"), 5e9, 1e7);
  ASSERT_TRUE(finding->predicted);
  // The estimate assumes copies at 80 % of the link's speed, which saves 1.6 of 2 ms. The high end
  // assumes that nothing waits for copies.
  EXPECT_GT(finding->predicted->speedup, 1.1);
  EXPECT_LT(finding->predicted->speedup, 1.26);
  EXPECT_GT(finding->predicted->rate.high, finding->predicted->rate.estimate * 1.02);
  ExpectPlace(*finding);
}

TEST(PageableCopiesOnDeviceTest, SpeakOfFourDevicesAsOfOne) {
  OnDevice device;
  device.copy = 4;
  device.kernels = 5;
  const Change four = And(Device(device), [](traces::TraceData& data) {
    for (std::uint32_t i = 1; i < 4; ++i) testing::RepeatDevice(data, i);
  });
  for (const auto& [id, key] : {std::pair{"pageable-copies", "copy_share"},
                                std::pair{"copies-not-overlapped", "open_share"}}) {
    const auto one = Found(id, WithCosts(kReadyForRules), Device(device));
    const auto all = Found(id, WithCosts(kReadyForRules), four);
    ASSERT_TRUE(one && all) << id;
    EXPECT_NEAR(Evidence(*one, key), 4 / 10.3, 0.02) << id;
    EXPECT_NEAR(Evidence(*all, key), Evidence(*one, key), 1e-6) << id;
  }
}

TEST(PageableCopiesOnDeviceTest, AreSilentOfCallsThatOnlyWait) {
  OnDevice device;
  device.wait = 6;
  device.copy = 0.2;
  device.kernels = 3;
  EXPECT_FALSE(Finds("pageable-copies", WithCosts(kReadyForRules), Device(device)));
}

TEST(PageableCopiesOnDeviceTest, PredictNoGainForCopiesThatArePinned) {
  OnDevice device;
  device.copy = 4;
  device.kernels = 5;
  device.pageable = false;
  device.correlated = false;
  const Change last_quarter_is_pageable = [](traces::TraceData& data) {
    const StringId pageable = data.Intern("H2D pageable");
    std::vector<traces::Span> stream;
    for (traces::Span span : data.spans.back()) {
      if (span.stage == traces::StageId::kH2d) {
        traces::Span last = span;
        last.name = pageable;
        last.duration.value = span.duration.value / 4;
        span.duration.value -= last.duration.value;
        last.start = span.end();
        stream.push_back(span);
        span = last;
      }
      stream.push_back(span);
    }
    data.spans.back() = std::move(stream);
  };
  const auto finding = Found("pageable-copies", WithCosts(kReadyForRules),
                             And(Device(device), last_quarter_is_pageable));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(Evidence(*finding, "copy_share"), 1 / 10.3, 0.01);
  ASSERT_TRUE(finding->predicted);
  EXPECT_GT(finding->predicted->speedup, 1.05);  // saves 1 of 10.3 ms, and the pin thread's part
  EXPECT_LT(finding->predicted->speedup, 1.25);  // it would be 1.6 without any copies
}

TEST(PageableCopiesOnDeviceTest, AreSilentOfPinnedMemory) {
  OnDevice device;
  device.copy = 2;
  device.pageable = false;
  EXPECT_FALSE(Finds("pageable-copies", WithCosts(kReadyForRules), Device(device)));
}

TEST(CopiesNotOverlappedOnDeviceTest, SpeakAndGiveAPlace) {
  OnDevice device;
  device.copy = 2;
  device.kernels = 7;
  device.pageable = false;
  const auto finding = Found("copies-not-overlapped", WithCosts(kReadyForRules), Device(device));
  ASSERT_TRUE(finding);
  ASSERT_TRUE(finding->predicted);
  EXPECT_GT(finding->predicted->speedup, 1.1);
  EXPECT_LT(finding->predicted->speedup, 1.35);
  ExpectPlace(*finding);
}

TEST(CopiesNotOverlappedOnDeviceTest, AreSilentWhereKernelsRunBeside) {
  OnDevice device;
  device.copy = 2;
  device.beside = 1.5;
  device.pageable = false;
  EXPECT_FALSE(Finds("copies-not-overlapped", WithCosts(kReadyForRules), Device(device)));
}

TEST(CopiesNotOverlappedOnDeviceTest, AreSilentOfManySmallCopies) {
  OnDevice device;
  device.copy = 0.09;
  device.kernels = 1;
  EXPECT_FALSE(Finds("copies-not-overlapped", WithCosts({0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 1.2, 0}),
                     Device(device)));
}

// Workers convert samples to floats, and the loop needs long to receive these batches.
Synthetic Converting(const std::string& transform) {
  Synthetic run = WithCosts({1, 10, 3, 2, 0.1, 3, 2, 0});
  run.transform = transform;
  run.sample_bytes = 602'112;
  return run;
}

TEST(NormalizeOnCpuTest, SpeaksOfBatchesOfFloats) {
  const auto finding = Found("normalize-on-cpu", Converting("ToTensor"),
                             LoaderFact("batch_types", "float32:2408448 int64:32"));
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "floating_share_of_batch"), 0.99);
  ASSERT_TRUE(finding->predicted);
  EXPECT_GT(finding->predicted->speedup, 1.05);
  EXPECT_LE(finding->predicted->rate.low, finding->predicted->rate.estimate);
  ExpectPlace(*finding);
}

TEST(NormalizeOnCpuTest, IsSilentOfOtherTransforms) {
  EXPECT_FALSE(Finds("normalize-on-cpu", Converting("RandomResizedCrop"),
                     LoaderFact("batch_types", "float32:2408448 int64:32")));
}

TEST(NormalizeOnCpuTest, IsSilentWhereNothingWaitsForIt) {
  Synthetic run = Converting("ToTensor");
  run.costs = testing::Always({1, 10, 3, 2, 0.1, 0.3, 60, 0});
  EXPECT_FALSE(Finds("normalize-on-cpu", run, LoaderFact("batch_types", "float32:2408448")));
}

Synthetic TwoFullCores(const Costs& costs) {
  Synthetic run = WithCosts(costs);
  run.cores = 2;
  return run;
}

TEST(MoveToGpuTest, ReckonsWithTheDevicesTime) {
  OnDevice device;
  device.kernels = 2;
  for (const auto& [id, costs] :
       {std::pair{"move-decode-to-gpu", Costs{0, 30, 5, 1, 0.1, 0.2, 4, 0}},
        std::pair{"move-augment-to-gpu", Costs{0, 5, 30, 1, 0.1, 0.2, 4, 0}}}) {
    const auto finding =
        Found(id, TwoFullCores(costs), And(Device(device), Fact("gpu.model", "NVIDIA H200")));
    ASSERT_TRUE(finding) << id;
    EXPECT_GT(Evidence(*finding, "gpu_s_per_sample"), 0) << id;
    EXPECT_LT(Evidence(*finding, "gpu_s_per_sample"),
              Evidence(*finding, "gpu_s_per_sample_at_most"));
    EXPECT_GT(Evidence(*finding, "gpu_bytes_of_a_batch"), 0) << id;
    ExpectPlace(*finding);
  }
}

TEST(MoveToGpuTest, IsSilentWhereTheDeviceIsFull) {
  // A batch comes every 18 ms, of which kernels take 17 ms.
  OnDevice device;
  device.kernels = 17;
  device.copy = 0.5;
  EXPECT_FALSE(Finds("move-decode-to-gpu", TwoFullCores({0, 30, 5, 1, 0.1, 0.2, 4, 0}),
                     And(Device(device), Fact("gpu.model", "NVIDIA H200"))));
}

TEST(KernelLaunchBoundOnDeviceTest, CountsGapsBetweenKernels) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 6;
  device.pieces = 40;
  device.gap = 0.08;
  const auto finding = Found("kernel-launch-bound", WithCosts(kReadyForRules), Device(device));
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "idle_launch_share"), 0.3);
  EXPECT_NEAR(Evidence(*finding, "kernels_per_batch"), 40, 0.5);
  ASSERT_TRUE(finding->predicted);
  EXPECT_GT(finding->predicted->speedup, 1.3);
  ExpectPlace(*finding);
}

TEST(KernelLaunchBoundOnDeviceTest, NamesSynchronisationWhereItIsThat) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 6;
  device.sync = 3.8;
  const auto finding = Found("kernel-launch-bound", WithCosts(kReadyForRules), Device(device));
  ASSERT_TRUE(finding);
  EXPECT_NE(English(finding->action).find("Wait for the device less often"), std::string::npos);
}

TEST(KernelLaunchBoundOnDeviceTest, IsSilentOfSmallGaps) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 9.2;
  device.pieces = 40;
  device.gap = 0.01;
  EXPECT_FALSE(Finds("kernel-launch-bound", WithCosts(kReadyForRules), Device(device)));
}

TEST(KernelLaunchBoundOnDeviceTest, IsSilentOfTimeThatCopiesTake) {
  OnDevice device;
  device.copy = 4;
  device.kernels = 5.5;
  EXPECT_FALSE(Finds("kernel-launch-bound", WithCosts(kReadyForRules), Device(device)));
}

// Data is ready and the device has gaps; a worker keeps `cores` cores busy.
std::optional<Finding> Gaps(std::string_view id, double cores) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 6;
  Synthetic run = TwoFullCores(kReadyForRules);
  return Found(id, run, And(Device(device), And(CpuOf(0, 0.3), CpuOf(1, cores))));
}

TEST(TrainerStarvedTest, SpeaksWhenCoresAreFull) {
  const auto finding = Gaps("trainer-starved", 1.6);
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "cpu_saturation"), 0.8);
  ExpectPlace(*finding);
  EXPECT_FALSE(Gaps("kernel-launch-bound", 1.6)) << "one cause, one finding";
}

TEST(TrainerStarvedTest, DoesNotAskForFewerWorkersThanNone) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 6;
  Synthetic run = TwoFullCores({0.02, 0.05, 0.02, 0.01, 0, 0, 10, 0});
  run.workers = 0;
  const auto finding = Found("trainer-starved", run, And(Device(device), CpuOf(0, 1.9)));
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->action).find("worker"), std::string::npos) << English(finding->action);
  EXPECT_NE(English(finding->action).find("set_num_threads"), std::string::npos)
      << English(finding->action);
}

TEST(TrainerStarvedTest, NamesAPriorityWhereNoSmallerNumberIsBetter) {
  const auto finding = Gaps("trainer-starved", 1.6);
  ASSERT_TRUE(finding);
  EXPECT_EQ(English(finding->action).find("fewer workers"), std::string::npos)
      << English(finding->action);
  EXPECT_NE(English(finding->action).find("os.nice"), std::string::npos)
      << English(finding->action);
}

TEST(TrainerStarvedTest, LeavesFreeCoresToKernelLaunchBound) {
  EXPECT_FALSE(Gaps("trainer-starved", 0.6));
  EXPECT_TRUE(Gaps("kernel-launch-bound", 0.6));
}

TEST(ComputeBoundOnDeviceTest, SaysHowBusyTheDeviceIs) {
  OnDevice device;
  device.copy = 0.2;
  device.kernels = 9.7;
  const auto finding = Found("compute-bound", WithCosts(kReadyForRules), Device(device));
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "kernel_share"), 0.9);
  ExpectPlace(*finding);
}

TEST(ComputeBoundOnDeviceTest, IsSilentWhereDataIsMissing) {
  OnDevice device;
  device.kernels = 2;
  EXPECT_FALSE(Finds("compute-bound", WithCosts({1, 30, 2, 0.5, 0.1, 0.3, 4, 0}), Device(device)));
}

// The device is busy with `kernel` nearly all the time; a worker keeps `cores` cores busy.
std::optional<Finding> Busy(const std::string& kernel, double cores) {
  OnDevice device;
  device.copy = 0.2;
  device.kernels = 9.7;
  device.kernel = kernel;
  return Found("preprocessing-on-busy-gpu", WithCosts(kReadyForRules),
               And(Device(device), And(CpuOf(0, 0.5), CpuOf(1, cores))));
}

TEST(PreprocessingOnBusyGpuTest, SpeaksOfDecodingOnAFullDevice) {
  const auto finding = Busy("void nvjpeg::DecodeSingleGPU::idct<int>()", 1);
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "preparing_share"), 0.9);
  ExpectPlace(*finding);
}

TEST(PreprocessingOnBusyGpuTest, IsSilentOfTheModelsOwnKernels) {
  EXPECT_FALSE(Busy("upsample_bilinear2d_out_frame", 1));
}

TEST(PreprocessingOnBusyGpuTest, IsSilentWhereCoresAreBusyToo) {
  EXPECT_FALSE(Busy("void nvjpeg::DecodeSingleGPU::idct<int>()", 6));
}

// Batches go through a pin thread; the training process keeps `cores` cores busy.
std::optional<Finding> Pinned(double get, double cores) {
  Synthetic run = WithCosts({0.5, 2, 1, 0.2, 0.1, get, 4, 0});
  return Found("pin-thread-behind", run, And(CpuOf(0, cores), [](traces::TraceData& data) {
                 traces::ThreadInfo pin;
                 pin.tid = 4242;
                 data.threads.push_back(pin);
                 const ThreadId thread{static_cast<std::uint32_t>(data.threads.size() - 1)};
                 std::vector<traces::Span> gets;
                 auto& own = data.spans[0];
                 for (const traces::Span& span : own) {
                   if (span.stage == traces::StageId::kGet) gets.push_back(span);
                 }
                 std::erase_if(own, [](const traces::Span& span) {
                   return span.stage == traces::StageId::kGet;
                 });
                 data.spans.push_back(gets);
                 for (traces::Event& event : data.events) {
                   if (event.type == traces::EventType::kBatchGot) event.thread = thread;
                 }
               }));
}

TEST(PinThreadBehindTest, SpeaksOfBatchesThatLieReady) {
  const auto finding = Pinned(4, 0.95);
  ASSERT_TRUE(finding);
  EXPECT_GT(Evidence(*finding, "ready_share_of_wait"), 0.5);
  ExpectPlace(*finding);
}

TEST(PinThreadBehindTest, IsSilentWhereTheProcessHasTimeOrTheThreadHasNone) {
  EXPECT_FALSE(Pinned(4, 0.3));
  EXPECT_FALSE(Pinned(40, 0.95)) << "that is transfer-ceiling";
}

}  // namespace
}  // namespace penstock::analyzer
