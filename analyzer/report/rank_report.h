// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a distributed run in reports. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// "4 of 8 ranks (torch) on 2 hosts; the verdict is that of rank 3, which waits most for data";
// empty if there are no ranks.
[[nodiscard]] Statement RanksRecorded(const Diagnosis& diagnosis);
// What it costs that ranks do not get their data at the same time; empty for one rank.
[[nodiscard]] Statement ImbalanceOf(const RankSummary& ranks);
// "node1: 4 ranks with 8 workers for 8 cores"
[[nodiscard]] Statement HostOf(const HostRow& host);
// "run.rank1.penstock: collective, moved by 1.500000 s, +-400 us, surely within 2.00 ms"
[[nodiscard]] Statement ClockOf(const ClockRow& clock);

// The table of ranks, which rank the others wait for, the hosts, and how clocks were aligned. If
// only one of several ranks was recorded, the text of RanksRecorded() alone; "" if that is empty.
[[nodiscard]] std::string RanksText(const Report& report);
// The content of RanksText() as a part of the page. Requires: RanksRecorded() is not empty.
[[nodiscard]] std::string RanksHtml(const Report& report, Language language);
// Writes the value of the key "ranks", which is always an object.
void WriteRanksJson(const Report& report, JsonWriter& json);

}  // namespace penstock::analyzer
