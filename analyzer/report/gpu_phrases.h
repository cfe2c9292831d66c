// SPDX-License-Identifier: Apache-2.0
//
// Sentences about devices that the terminal and the page share. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/report/report.h"

namespace penstock::analyzer {

// A part of a step, in seconds for one batch; `css` colours it on the page.
struct StepPart {
  std::string_view name;
  std::string_view css;
  double time = 0;
};
// Both views of the same time. Their parts add up to it. Requires: activity.batches > 0.
[[nodiscard]] std::vector<StepPart> LoopView(const DeviceActivity& activity);
[[nodiscard]] std::vector<StepPart> DeviceView(const DeviceActivity& activity);

// "200 pageable copies of 19.3 MB: 2.90 ms on the device (6.6 GB/s, 21 % of the link), ..."
[[nodiscard]] std::string CopiesText(const CopyTotals& copies, const DeviceActivity& activity,
                                     double link);
// "sgemm: 1.2 s in 4000 runs, 300 us each"
[[nodiscard]] std::string KernelText(const std::string& name, const KernelTime& kernel);
// "GPU 0 NVIDIA H200: kernels of any program in 43 % of NVML's windows (whole device), 350 W ..."
[[nodiscard]] std::string GpuLine(const GpuCounters& gpu);
// Why the device's side of a step is not known; "" if it is.
[[nodiscard]] std::string NoDeviceText(const Report& report);
// Why what is known of the device is not all of it, where NoDeviceText() does not say so; "" if
// nothing was noticed.
[[nodiscard]] std::string NotAllText(const Report& report);
// "NVML: unavailable: ..."; "" where there is nothing to say.
[[nodiscard]] std::string NvmlText(const Report& report);

}  // namespace penstock::analyzer
