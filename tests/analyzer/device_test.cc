// SPDX-License-Identifier: Apache-2.0
//
// What is measured from a device's records: its copies, its busy and idle time, and the steps of
// the replay.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/device_activity.h"
#include "analyzer/model/gpu_counters.h"
#include "analyzer/model/interval_set.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_device.h"

namespace penstock::analyzer {
namespace {

using testing::AddDevice;
using testing::Costs;
using testing::MakeSynthetic;
using testing::OnDevice;
using testing::WithCosts;

constexpr int kMoments = 60;

IntervalSet RandomSet(std::mt19937& random) {
  IntervalSet set;
  std::uniform_int_distribution<int> at(0, kMoments);
  for (int i = at(random) % 6; i > 0; --i) {
    const int from = at(random);
    set.emplace_back(from, from + at(random) % 9);
  }
  Normalise(set);
  return set;
}

bool Holds(const IntervalSet& set, std::int64_t at) {
  for (const auto& [from, to] : set) {
    if (from <= at && at < to) return true;
  }
  return false;
}

TEST(IntervalSetTest, OperationsAreThoseOfSetsOfMoments) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const IntervalSet a = RandomSet(random);
    const IntervalSet b = RandomSet(random);
    const IntervalSet common = Intersection(a, b);
    const IntervalSet minus = Difference(a, b);
    std::int64_t within = 0;
    for (std::int64_t at = 0; at < 2 * kMoments; ++at) {
      ASSERT_EQ(Holds(common, at), Holds(a, at) && Holds(b, at)) << round << " at " << at;
      ASSERT_EQ(Holds(minus, at), Holds(a, at) && !Holds(b, at)) << round << " at " << at;
      if (at >= 10 && at < 40) within += Holds(a, at) ? 1 : 0;
    }
    ASSERT_EQ(Within(a, 10, 40), within) << round;
    const IntervalSums sums(a);
    for (std::int64_t from = -1; from < 2 * kMoments; from += 3) {
      for (std::int64_t to = from - 1; to < 2 * kMoments; to += 7) {
        ASSERT_EQ(sums.Within(from, to), Within(a, from, to)) << round << ": " << from << " " << to;
      }
    }
  }
}

Diagnosis DiagnoseWith(const Costs& costs, const OnDevice& device) {
  traces::TraceData data = MakeSynthetic(WithCosts(costs));
  AddDevice(data, device);
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

// The loop never waits; a step takes 10 ms.
constexpr Costs kReady{1, 2, 1, 0.1, 0.1, 0.3, 10, 0};
// A batch comes every 20 ms, and its step takes 2 ms.
constexpr Costs kSlowData{2, 34, 3.5, 0.5, 0.1, 0.3, 2, 0};

double Parts(const DeviceActivity& activity) {
  const IdleCauses& idle = activity.idle;
  return activity.computing + idle.copy + idle.loader + idle.sync + idle.launch + idle.unknown;
}

TEST(DeviceActivityTest, ACopyIsItsTransferAndNotItsCall) {
  OnDevice device;
  device.wait = 4;
  device.copy = 2;
  device.kernels = 3;
  const Diagnosis diagnosis = DiagnoseWith(kReady, device);
  const DeviceActivity& activity = diagnosis.loader->device;
  ASSERT_EQ(activity.copies.size(), 1u);
  const CopyTotals& copies = activity.copies[0];
  const auto count = static_cast<double>(copies.count);
  EXPECT_EQ(copies.memory, CopyMemory::kPageable);
  EXPECT_GT(copies.count, 100u);
  EXPECT_EQ(copies.called, copies.count);
  EXPECT_NEAR(copies.blocked / count, 6e-3, 1e-6);
  EXPECT_NEAR(copies.waited / count, 4e-3, 1e-6);
  EXPECT_NEAR(copies.transfer / count, 2e-3, 1e-6);
  EXPECT_NEAR(copies.exposed / count, 2e-3, 1e-6);
  EXPECT_NEAR(copies.rate(), 5e9, 1e6);
  EXPECT_TRUE(activity.calls);
}

TEST(DeviceActivityTest, WhatAKernelRunsBesideIsNotExposed) {
  OnDevice device;
  device.copy = 2;
  device.beside = 1.5;
  device.pageable = false;
  const Diagnosis diagnosis = DiagnoseWith(kReady, device);
  const DeviceActivity& activity = diagnosis.loader->device;
  ASSERT_EQ(activity.copies.size(), 1u);
  const auto count = static_cast<double>(activity.copies[0].count);
  EXPECT_EQ(activity.copies[0].memory, CopyMemory::kPinned);
  EXPECT_NEAR(activity.copies[0].overlapped / count, 1.5e-3, 1e-6);
  EXPECT_NEAR(activity.copies[0].exposed / count, 0.5e-3, 1e-6);
  EXPECT_NEAR(activity.hidden / activity.copying, 0.75, 0.01);
}

TEST(DeviceActivityTest, KernelsAndIdleTimeAddUpToTheWindow) {
  for (const Costs& costs : {kReady, kSlowData}) {
    OnDevice device;
    device.pieces = 4;
    device.gap = 0.2;
    device.sync = 0.5;
    const Diagnosis diagnosis = DiagnoseWith(costs, device);
    const DeviceActivity& activity = diagnosis.loader->device;
    EXPECT_GT(activity.window, 0.5);
    EXPECT_NEAR(Parts(activity), activity.window, 1e-6);
    const LoopShares& loop = activity.loop;
    EXPECT_NEAR(loop.wait + loop.copy + loop.sync + loop.rest, activity.window, 1e-6);
  }
}

TEST(DeviceActivityTest, IdleTimeHasTheCauseThatHeldTheLoop) {
  OnDevice device;
  device.copy = 1;
  device.pieces = 4;
  device.kernels = 4;
  device.gap = 0.5;  // three gaps take 1.5 ms
  device.sync = 2;   // 3.5 ms of the step are left
  const Diagnosis diagnosis = DiagnoseWith(kReady, device);
  const DeviceActivity& activity = diagnosis.loader->device;
  const auto batches = static_cast<double>(activity.batches);
  EXPECT_NEAR(activity.computing / batches, 4e-3, 1e-4);
  EXPECT_NEAR(activity.idle.copy / batches, 1e-3, 1e-4);
  EXPECT_NEAR(activity.idle.sync / batches, 2e-3, 1e-4);
  EXPECT_NEAR(activity.idle.launch / batches, 3e-3, 1e-4);
  EXPECT_NEAR(activity.idle.unknown, 0, 1e-6);
}

TEST(DeviceActivityTest, WithoutCallsTheIdleTimeOfAStepHasNoCause) {
  const Diagnosis diagnosis = DiagnoseWith(kReady, {.copy = 0, .kernels = 4, .launches = false});
  const DeviceActivity& activity = diagnosis.loader->device;
  EXPECT_EQ(activity.idle.launch, 0);
  EXPECT_NEAR(activity.idle.unknown / static_cast<double>(activity.batches), 6e-3, 1e-4);
  EXPECT_NEAR(Parts(activity), activity.window, 1e-6);
}

TEST(DeviceActivityTest, AWaitBehindKernelsIsSeenByTheLoopAlone) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 15;  // they go on while the loop waits for the next batch
  const Diagnosis diagnosis = DiagnoseWith(kSlowData, device);
  const DeviceActivity& activity = diagnosis.loader->device;
  const auto batches = static_cast<double>(activity.batches);
  EXPECT_NEAR(activity.loop.wait / batches, 18e-3, 1e-3);
  EXPECT_NEAR(activity.computing / batches, 15e-3, 1e-3);
  EXPECT_NEAR(activity.idle.loader / batches, 5e-3, 1e-3);
}

TEST(DeviceActivityTest, ACallSeenByPythonAndByCudaIsOneCopy) {
  OnDevice device;
  device.correlated = false;
  device.copy = 0;
  traces::TraceData data = MakeSynthetic(WithCosts({1, 2, 1, 0.1, 0.1, 0.3, 10, 1}));
  AddDevice(data, device);
  data.threads.back().tid = wire::LaneOf(1, 7);
  const StringId name = data.Intern("cudaMemcpyAsync: H2D");
  std::vector<traces::Span> calls;
  for (const traces::Span& span : data.spans[0]) {
    if (span.stage != traces::StageId::kH2d) continue;
    calls.push_back(span);
    calls.back().stage = traces::StageId::kCall;
    calls.back().name = name;
  }
  ASSERT_FALSE(calls.empty());
  data.spans[0].insert(data.spans[0].end(), calls.begin(), calls.end());
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_EQ(diagnosis.run.device.copies.size(), calls.size());
  EXPECT_FALSE(diagnosis.run.device.on_device);
  EXPECT_EQ(diagnosis.run.device.copies.front().device, 1u);  // the device with kernels
  for (const Batch& batch : diagnosis.run.loader().batches) ASSERT_NEAR(batch.h2d, 1e-3, 1e-9);
}

TEST(DeviceActivityTest, CopiesToTwoDevicesAtOnceTakeTheTimeOfOne) {
  OnDevice device;
  device.copy = 2;
  device.beside = 0.5;
  traces::TraceData data = MakeSynthetic(WithCosts(kReady));
  AddDevice(data, device);
  const Diagnosis one = Diagnose(*traces::MakeTrace(traces::TraceData(data)));
  testing::RepeatDevice(data, 1);
  const Diagnosis two = Diagnose(*traces::MakeTrace(std::move(data)));
  const DeviceActivity& single = one.loader->device;
  const DeviceActivity& both = two.loader->device;
  ASSERT_EQ(both.devices.size(), 2u);
  EXPECT_EQ(both.copies.at(0).count, 2 * single.copies.at(0).count);
  EXPECT_NEAR(single.exposed / static_cast<double>(single.batches), 1.5e-3, 1e-4);
  EXPECT_NEAR(both.exposed, single.exposed, 1e-6);
  EXPECT_NEAR(both.copies[0].alone, single.copies[0].alone, 1e-6);
  EXPECT_NEAR(two.run.device.batches.at(20).exposed, one.run.device.batches.at(20).exposed, 1e-9);
}

TEST(DeviceActivityTest, OtherProcessesDevicesAreNotCounted) {
  traces::TraceData data = MakeSynthetic(WithCosts(kReady));
  AddDevice(data, {});
  data.threads.back().process = ProcessId{1};  // not the training process
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_FALSE(diagnosis.loader->device.kernels);
}

TEST(DeviceStepsTest, AStepIsWhatTheDeviceNeeds) {
  OnDevice device;
  device.copy = 0;
  device.kernels = 15;
  for (const bool keyed : {true, false}) {
    device.keyed = keyed;
    const Diagnosis diagnosis = DiagnoseWith(kSlowData, device);
    // If data cost nothing, a batch would take 15 ms instead of 20: what the device needs. The loop
    // itself would need only 2 ms.
    EXPECT_NEAR(diagnosis.loader->attribution.headroom, 20.0 / 15, 0.1) << keyed;
    EXPECT_NEAR(diagnosis.loader->replay.error(), 0, 0.03) << keyed;
  }
}

// The first step compiles for five seconds before its kernel runs. This step comes before the
// steady window.
TEST(DeviceStepsTest, AStepThatCompilesStaysOrdinary) {
  testing::Synthetic run;
  run.costs = [](int, int index) {
    Costs costs = kReady;
    if (index == 0) costs.step = 5000;
    return costs;
  };
  traces::TraceData data = MakeSynthetic(run);
  AddDevice(data, {});
  for (traces::Span& span : data.spans.back()) {
    if (span.batch.index == 0) span.start = span.start + testing::Ms(4990);
  }
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  const Demand& first = diagnosis.loader->pipeline.epochs.front().batches.front();
  EXPECT_NEAR(first.step + first.h2d, 10e-3, 1e-3);
}

TEST(DeviceStepsTest, WithoutKernelsTheLoopIsBelieved) {
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(MakeSynthetic(WithCosts(kSlowData))));
  EXPECT_GT(diagnosis.loader->attribution.headroom, 5);
}

TEST(DeviceStepsTest, WaitingInACopyIsNotWhatTheCopyCosts) {
  OnDevice device;
  device.wait = 6;  // for kernels of the previous batch, as with pageable memory
  device.copy = 1;
  device.kernels = 8;
  const Diagnosis diagnosis = DiagnoseWith({1, 2, 1, 0.1, 0.1, 0.3, 9, 0}, device);
  double gain = 0;
  for (const Gain& one : diagnosis.gains) {
    if (one.factor == Factor::kH2d) gain = one.speedup;
  }
  EXPECT_GT(gain, 1.05);
  EXPECT_LT(gain, 1.25);  // it would be 4 if all 7 ms of the call, of 9.3 in all, were saved
}

TEST(GpuCountersTest, SaysWhatNvmlSaid) {
  traces::TraceData data = MakeSynthetic(WithCosts(kReady));
  data.facts["gpu.1.model"] = "NVIDIA H200";
  data.facts["gpu.1.used"] = "process";
  data.facts["gpu.1.memory_bytes"] = "150000000000";
  data.facts["gpu.1.pcie_generation"] = "5";
  data.facts["gpu.1.pcie_width"] = "16";
  data.facts["gpu.nvml"] = "sampled";
  data.facts["gpu.99999.model"] = "nonsense";
  const auto add = [&](const char* name, std::int64_t value, double at) {
    data.counters.push_back({testing::Ms(at), data.Intern(name), ProcessId{0}, value});
  };
  add("gpu.1.nvml_utilization_percent", 40, 1100);
  add("gpu.1.nvml_utilization_percent", 60, 1300);
  add("gpu.1.clock_event_reasons", 4, 1100);
  add("gpu.1.clock_event_reasons", 1, 1300);
  add("gpu.1.power_milliwatts", 350'000, 1100);
  const auto trace = traces::MakeTrace(std::move(data));
  const auto gpus = ReadGpuCounters(*trace, BuildRunModel(*trace));
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].index, 1u);
  EXPECT_EQ(gpus[0].model, "NVIDIA H200");
  EXPECT_NEAR(gpus[0].utilization.value_or(0), 0.5, 1e-9);
  EXPECT_NEAR(gpus[0].power_capped, 0.5, 1e-9);
  EXPECT_EQ(gpus[0].too_hot, 0);
  EXPECT_NEAR(gpus[0].power.value_or(0), 350, 1e-9);
  EXPECT_FALSE(gpus[0].temperature);
  EXPECT_NEAR(UsedLink(gpus), 63e9, 0.1e9);
}

// Samples are 0.1 s apart at first and 5 s apart at the end.
TEST(GpuCountersTest, FrequentSamplesDoNotCountMore) {
  traces::TraceData data = MakeSynthetic(WithCosts(kReady));
  const StringId use = data.Intern("gpu.0.nvml_utilization_percent");
  const StringId reasons = data.Intern("gpu.0.clock_event_reasons");
  const auto add = [&](double at, bool idle) {
    data.counters.push_back({testing::Ms(at), use, ProcessId{0}, idle ? 0 : 100});
    data.counters.push_back({testing::Ms(at), reasons, ProcessId{0}, idle ? 4 : 0});
  };
  for (int i = 0; i <= 100; ++i) add(1000 + 100 * i, true);
  for (int i = 1; i <= 18; ++i) add(11'000 + 5000 * i, false);
  const auto trace = traces::MakeTrace(std::move(data));
  const auto gpus = ReadGpuCounters(*trace, BuildRunModel(*trace));
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_NEAR(gpus[0].utilization.value_or(0), 0.875, 1e-9);  // 87.5 of 100 s
  EXPECT_NEAR(gpus[0].power_capped, 0.125, 1e-9);
}

TEST(GpuCountersTest, LinksAreThoseOfTheSpecifications) {
  EXPECT_NEAR(LinkRate(3, 16), 15.75e9, 0.01e9);
  EXPECT_NEAR(LinkRate(4, 16), 31.5e9, 0.1e9);
  EXPECT_EQ(LinkRate(40, 16), 0);
}

}  // namespace
}  // namespace penstock::analyzer
