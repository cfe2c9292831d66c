// SPDX-License-Identifier: Apache-2.0
//
// Where workers and the training loop stood still, in a report: text, JSON and page. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// Lines for a terminal, for the three places with the most time; "" if nothing stood still.
[[nodiscard]] std::string StallsText(const Report& report);
// Writes the report's key "stalls", with all places.
void WriteStallsJson(const Report& report, JsonWriter& json);
// A list of the same places as on a terminal; "" if nothing stood still.
[[nodiscard]] std::string StallsHtml(const Report& report, Language language);

}  // namespace penstock::analyzer
