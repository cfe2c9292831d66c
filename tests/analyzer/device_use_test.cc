// SPDX-License-Identifier: Apache-2.0
//
// Traces that hold only kernels and copies. Tests which of them limits the devices.
#include "analyzer/diagnosis/device_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "traces/trace.h"

namespace penstock::analyzer {
namespace {

using ::testing::HasSubstr;
using traces::Span;
using traces::StageId;

constexpr std::int64_t kUs = 1000;

// What a device does in one turn of a program without a loader. Times are in microseconds.
struct DeviceTurn {
  std::int64_t copy = 0;     // one copy
  std::int64_t kernels = 0;  // all kernels together
  int pieces = 1;            // number of kernels
  std::int64_t gap = 0;      // between two kernels
  std::int64_t idle = 0;     // at the end
  bool beside = false;       // the copy runs beside the kernels
};

traces::TraceData DevicesAlone(const std::vector<DeviceTurn>& devices, int turns = 1000) {
  traces::TraceData data;
  data.processes.emplace_back();
  for (std::uint32_t device = 0; device < devices.size(); ++device) {
    const DeviceTurn& turn = devices[device];
    traces::ThreadInfo lane;
    lane.tid = wire::LaneOf(device, 7);
    std::vector<Span> spans;
    std::int64_t now = 1'000'000'000;
    const auto add = [&](StageId stage, std::int64_t from, std::int64_t us) {
      Span span;
      span.stage = stage;
      span.start = TimeNs{from};
      span.duration = TimeNs{us * kUs};
      if (us > 0) spans.push_back(span);
    };
    for (int i = 0; i < turns; ++i) {
      add(StageId::kH2d, now, turn.copy);
      if (!turn.beside) now += turn.copy * kUs;
      for (int k = 0; k < turn.pieces; ++k) {
        add(StageId::kKernel, now, turn.kernels / turn.pieces);
        now += turn.kernels / turn.pieces * kUs + (k + 1 < turn.pieces ? turn.gap * kUs : 0);
      }
      now += turn.idle * kUs;
    }
    data.threads.push_back(lane);
    data.spans.push_back(std::move(spans));
  }
  return data;
}

Diagnosis DiagnosisOf(const std::vector<DeviceTurn>& devices) {
  return Diagnose(*traces::MakeTrace(DevicesAlone(devices)));
}

TEST(DeviceUseTest, CopiesThatFillTheTimeAreNamed) {
  const Diagnosis found = DiagnosisOf({{9600, 200, 1, 0, 200}, {9600, 200, 1, 0, 200}});
  EXPECT_EQ(found.bottleneck, Factor::kH2d);
  ASSERT_EQ(found.devices.devices.size(), 2U);
  EXPECT_NEAR(found.devices.mean.copies, 0.96, 0.001);
  EXPECT_NEAR(found.devices.GainWithout(DeviceLimit::kCopies), 25, 0.5);
  const std::string english = English(found.summary);
  EXPECT_THAT(english,
              HasSubstr("Copies between host and device hold the run back: they take 96 %"));
  EXPECT_THAT(english, HasSubstr("device 1: 2 % kernels / 96 % copies / 0 % gaps / 2 % idle"));
  EXPECT_THAT(Render(found.summary, Language::kChinese), HasSubstr("设备 1：GPU 内核 2 %"));
  EXPECT_GT(found.confidence, 0.85);
}

TEST(DeviceUseTest, CopiesBesideKernelsHoldNothingBack) {
  const Diagnosis found = DiagnosisOf({{4000, 9000, 1, 0, 1000, true}});
  EXPECT_EQ(found.bottleneck, Factor::kCompute);
  EXPECT_NEAR(found.devices.mean.kernels, 0.9, 0.001);
  EXPECT_NEAR(found.devices.mean.copies, 0, 0.001);
  // Without the kernels, copies and idle time remain: half of a turn.
  EXPECT_NEAR(found.devices.GainWithout(DeviceLimit::kKernels), 1 / 0.5, 0.01);
}

TEST(DeviceUseTest, ShortGapsAreLaunchesAndLongOnesIdleTime) {
  const Diagnosis launches = DiagnosisOf({{0, 2000, 100, 60, 500}});
  EXPECT_EQ(launches.bottleneck, Factor::kNone);
  EXPECT_NEAR(launches.devices.mean.launches, 5.94 / 8.44, 0.005);
  EXPECT_THAT(English(launches.summary), HasSubstr("Launching kernels holds the run back"));
  const Diagnosis idle = DiagnosisOf({{100, 1000, 10, 5, 8855}});
  EXPECT_EQ(idle.bottleneck, Factor::kNone);
  EXPECT_THAT(English(idle.summary), HasSubstr("The host holds the run back"));
  EXPECT_NEAR(idle.devices.mean.idle, 0.886, 0.01);
}

TEST(DeviceUseTest, ATraceWithoutDevicesNamesNothing) {
  EXPECT_TRUE(MeasureDevicesUse({}).devices.empty());
  EXPECT_THAT(English(Diagnose(*traces::MakeTrace(traces::TraceData{})).summary),
              HasSubstr("Not enough"));
}

}  // namespace
}  // namespace penstock::analyzer
