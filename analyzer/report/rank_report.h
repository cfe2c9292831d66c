// SPDX-License-Identifier: Apache-2.0
//
// What the reports say of the ranks of a distributed run. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

// "4 of 8 ranks (torch) on 2 hosts; the verdict is that of rank 3, which waits most for data"; ""
// where there are no ranks.
[[nodiscard]] std::string RanksLine(const Diagnosis& diagnosis);
// What not having data at the same time costs; "" for one rank.
[[nodiscard]] std::string ImbalanceLine(const RankSummary& ranks);
// "node1: 4 ranks with 8 workers for 8 cores"
[[nodiscard]] std::string HostLine(const HostRow& host);
// "run.rank1.penstock: collective, moved by 1.500000 s, +-400 us, surely within 2.00 ms"
[[nodiscard]] std::string ClockLine(const ClockRow& clock);

// The table of ranks, who waits for whom, the hosts and how clocks were aligned; "" for one rank.
[[nodiscard]] std::string RanksText(const Report& report);
// The same as a part of the page. Requires: RanksLine() is not "".
[[nodiscard]] std::string RanksHtml(const Report& report);
// The value of the key "ranks": an object, always.
void WriteRanksJson(const Report& report, JsonWriter& json);

}  // namespace penstock::analyzer
