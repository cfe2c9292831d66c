// SPDX-License-Identifier: Apache-2.0
//
// Statements about devices for the terminal and for the page. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"

namespace penstock::analyzer {

// A part of a step, in seconds for one batch; `css` colours it on the page.
struct StepPart {
  Statement name;
  std::string_view css;
  double time = 0;
};
// The loop's and the device's view of the same time; the parts of each view add up to that time.
// Requires: activity.batches > 0.
[[nodiscard]] std::vector<StepPart> LoopView(const DeviceActivity& activity);
[[nodiscard]] std::vector<StepPart> DeviceView(const DeviceActivity& activity);

// "200 pageable of 19.3 MB: 2.90 ms on the device at 6.6 GB/s (21 % of the link), ..."
[[nodiscard]] Statement CopiesOf(const CopyTotals& copies, const DeviceActivity& activity,
                                 double link);
// "sgemm: 1.2 s in 4000 runs, 300 us each"
[[nodiscard]] Statement RunsOf(const std::string& name, const KernelTime& kernel);
// "GPU 0 NVIDIA H200, used by this run, NVML's utilisation 43 % (whole device, ...), 350 W ..."
[[nodiscard]] Statement CountersOf(const GpuCounters& gpu);
// Why the device's side of a step is not known; empty if it is known.
[[nodiscard]] Statement NoDevice(const Report& report);
// Why the recording may lack work of the device, if NoDevice() does not say so; empty if nothing
// was noticed.
[[nodiscard]] Statement NotAll(const Report& report);
// "NVML: unavailable: ..."; empty if there is nothing to say.
[[nodiscard]] Statement NvmlReason(const Report& report);

}  // namespace penstock::analyzer
