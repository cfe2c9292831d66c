// SPDX-License-Identifier: Apache-2.0
//
// Devices in a report: the two views of a step (the loop's waits, the device's work), copies, and
// NVML's counters. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

struct Picture;  // analyzer/report/html_report.h

// Writes the value of the report's key "gpu".
void WriteGpuJson(const Report& report, JsonWriter& json);
// Lines for a terminal, each ending with a line feed; "" if the trace has no device.
[[nodiscard]] std::string GpuText(const Report& report);
// Tables and a figure, or a sentence on why there are none.
[[nodiscard]] Picture GpuHtml(const Report& report, Language language);

}  // namespace penstock::analyzer
