// SPDX-License-Identifier: Apache-2.0
//
// What reports say about devices and changes, as text, JSON and page.
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/report/html_report.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "tests/analyzer/finds.h"
#include "tests/analyzer/synthetic_device.h"

namespace penstock::analyzer {
namespace {

using testing::MakeSynthetic;
using testing::OnDevice;
using testing::WithCosts;

class GpuReportTest : public ::testing::Test {
 protected:
  // `reason`: why CUPTI recorded only a part.
  void Build(const testing::Costs& costs, bool device, const std::string& reason = "",
             std::uint32_t devices = 1) {
    traces::TraceData data = MakeSynthetic(WithCosts(costs));
    if (device) {
      OnDevice on;
      on.wait = 1;
      on.copy = 2;
      on.kernels = 4;
      testing::AddDevice(data, on);
      for (std::uint32_t i = 1; i < devices; ++i) testing::RepeatDevice(data, i);
      data.facts["gpu.0.model"] = "Fake <H200>";
      data.facts["gpu.0.used"] = "process";
      data.facts["gpu.0.pcie_generation"] = "4";
      data.facts["gpu.0.pcie_width"] = "16";
      data.facts["gpu.nvml"] = "sampled";
      data.counters.push_back(
          {testing::Ms(1100), data.Intern("gpu.0.nvml_utilization_percent"), ProcessId{0}, 43});
    }
    data.processes[0].facts["gpu.level"] = device ? "cupti" : "calls";
    if (!device) data.processes[0].facts["gpu.reason"] = "CUPTI is in use by <nsys>";
    if (!reason.empty()) data.processes[0].facts["gpu.reason"] = reason;
    trace_ = traces::MakeTrace(std::move(data));
    report_ = BuildReport(*trace_, "t");
    json_ = ReportJson(report_);
    text_ = ReportText(report_, Colour::kOff, Detail::kAll);
    html_ = ReportHtml(report_, BuildPlots(*trace_, report_), Language::kEnglish);
    ASSERT_EQ(parser_.parse(json_).get(parsed_), simdjson::SUCCESS) << json_;
  }

  double Number(const char* pointer) {
    double value = -1;
    EXPECT_EQ(parsed_.at_pointer(pointer).get(value), simdjson::SUCCESS) << pointer;
    return value;
  }

  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::unique_ptr<traces::Trace> trace_;
  Report report_;
  std::string json_, text_, html_;
  simdjson::dom::parser parser_;
  simdjson::dom::element parsed_;
};

// A batch every 10.3 ms. Its copy takes 3 ms (2 of them on the device), its kernels 4 ms.
constexpr testing::Costs kReadyForReport{1, 2, 1, 0.1, 0.1, 0.3, 10, 0};

TEST_F(GpuReportTest, JsonKeepsTheTwoViewsApart) {
  Build(kReadyForReport, true);
  EXPECT_NEAR(Number("/gpu/step/device/kernel_s"), 4e-3, 1e-4);
  EXPECT_NEAR(Number("/gpu/step/device/copy_s"), 2e-3, 1e-4);
  // The call waits for 1 ms before its transfer begins. This millisecond counts as copy too.
  EXPECT_NEAR(Number("/gpu/step/device/idle/copy_s"), 3e-3, 1e-4);
  EXPECT_NEAR(Number("/gpu/step/device/idle/launch_s"), 3e-3, 1e-4);
  EXPECT_NEAR(Number("/gpu/step/loop/copy_s"), 3e-3, 1e-4);
  EXPECT_NEAR(Number("/gpu/step/loop/wait_s"), 0.3e-3, 1e-4);
  EXPECT_NEAR(Number("/gpu/step/interval_s"), 10.3e-3, 2e-4);
  EXPECT_NEAR(Number("/gpu/copies/0/bytes_per_s"), 5e9, 1e7);
  EXPECT_NEAR(Number("/gpu/copies/0/link_fraction"), 5.0 / 31.5, 0.01);
  EXPECT_NEAR(Number("/gpu/slowest_copies/0/host_blocked_s"), 3e-3, 1e-5);
  EXPECT_NEAR(Number("/gpu/slowest_copies/0/wait_before_s"), 1e-3, 1e-5);
  EXPECT_NEAR(Number("/gpu/kernels/0/time_s"), 0.8, 1e-3);  // 200 batches
  EXPECT_NEAR(Number("/gpu/devices/0/nvml_device_utilization"), 0.43, 1e-9);
}

TEST_F(GpuReportTest, TextAndPageSayTheSame) {
  Build(kReadyForReport, true);
  for (const char* part :
       {"a step", "waits for data", "kernels 4.00 ms", "idle: copy 3.00 ms", "pageable of 10.0 MB",
        "NVML's utilisation 43 %", "used by this run", "ampere_sgemm_128x64: "}) {
    EXPECT_TRUE(Has(text_, part)) << part << "\n" << text_;
  }
  for (const char* part : {"id=\"gpu\"", "s-kernel", "idle: launch by the host",
                           "Fake &lt;H200&gt;", "pageable of 10.0 MB"}) {
    EXPECT_TRUE(Has(html_, part)) << part;
  }
}

TEST_F(GpuReportTest, WithoutKernelsItSaysWhy) {
  Build({1, 2, 1, 0.1, 0.1, 0.3, 10, 1}, false);
  EXPECT_TRUE(Has(json_, "\"level\": \"calls\"")) << json_;
  EXPECT_TRUE(Has(json_, "\"kernels_known\": false"));
  EXPECT_TRUE(Has(text_, "CUPTI is in use by"));
  EXPECT_TRUE(Has(html_, "CUPTI is in use by &lt;nsys&gt;"));
}

TEST_F(GpuReportTest, WhereNothingWasRecordedTheReasonIsStillTold) {
  Build(kReadyForReport, false);
  EXPECT_TRUE(Has(text_, "CUPTI is in use by")) << text_;
}

TEST_F(GpuReportTest, WhatIsMissingOfKernelsAndCopiesIsTold) {
  const std::string reason = "CUPTI gave no usable times for 16 of 48 copies and kernels";
  Build(kReadyForReport, true, reason);
  EXPECT_TRUE(Has(json_, "\"reason\": \"" + reason + "\"")) << json_;
  EXPECT_TRUE(Has(text_, "the GPU's work was recorded only in part: CUPTI gave no usable"))
      << text_;
  EXPECT_TRUE(Has(html_, reason + "."));
  Build(kReadyForReport, true);
  EXPECT_FALSE(Has(text_, "recorded only in part")) << text_;
  EXPECT_FALSE(Has(html_, "recorded only in part"));
}

TEST_F(GpuReportTest, ARunWithoutAnyGpuHasNoLinesOfOne) {
  const auto trace = traces::MakeTrace(MakeSynthetic(WithCosts(kReadyForReport)));
  const std::string text = ReportText(BuildReport(*trace, "t"), Colour::kOff);
  EXPECT_FALSE(Has(text, "  GPU ")) << text;
}

TEST_F(GpuReportTest, ChangesOfTheJsonAreInTextAndPage) {
  Build({8, 10, 3, 0.5, 0.1, 0.3, 2, 0}, false);
  ASSERT_FALSE(report_.changes.empty());
  for (const TriedChange& one : report_.changes) {
    EXPECT_TRUE(Has(json_, "\"option\": \"" + one.option + "\"")) << one.option;
    EXPECT_TRUE(Has(text_, one.option + ": ")) << one.option;
    EXPECT_TRUE(Has(html_, "<code>" + one.option + "</code>")) << one.option;
  }
}

// Each device copies for a fifth of the time.
TEST_F(GpuReportTest, TimesOfTwoDevicesAreNoTimeOfOne) {
  Build(kReadyForReport, true, "", 2);
  EXPECT_TRUE(Has(text_, "h2d, 2 GPUs")) << text_;
  EXPECT_TRUE(Has(text_, "kernel, 2 GPUs")) << text_;
  EXPECT_TRUE(Has(html_, "h2d, 2 GPUs"));
  EXPECT_TRUE(Has(ReportHtml(report_, BuildPlots(*trace_, report_), Language::kChinese),
                  "拷贝到 GPU，2 个 GPU"));
  for (const StageRow& row : report_.stages) {
    if (row.name != "h2d" && row.name != "kernel") continue;
    EXPECT_EQ(row.devices, 2U) << row.name;
    EXPECT_EQ(ShareText(row), PercentText(row.share / 2)) << row.name;
    for (const StageRow& part : row.children) {
      EXPECT_EQ(ShareText(part), PercentText(part.share / 2)) << part.name;
    }
  }
  EXPECT_TRUE(Has(json_, "\"devices\": 2")) << json_;
  Build(kReadyForReport, true);
  EXPECT_FALSE(Has(text_, "GPUs")) << text_;
}

}  // namespace
}  // namespace penstock::analyzer
