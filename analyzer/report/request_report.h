// SPDX-License-Identifier: Apache-2.0
//
// Requests over HTTP in a report: text, JSON and page. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// What every form of the report and the dashboard say about a host.
[[nodiscard]] Statement RequestsSaid(const HostRequests& host);
// Terminal lines for the four hosts with the most waiting, and the number of others; "" if none.
[[nodiscard]] std::string RequestsText(const Report& report);
// Writes the report's key "hosts", with all hosts.
void WriteRequestsJson(const Report& report, JsonWriter& json);
// A heading and a list of the same hosts as on a terminal; "" if there were no requests.
[[nodiscard]] std::string RequestsHtml(const Report& report, Language language);

}  // namespace penstock::analyzer
