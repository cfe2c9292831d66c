// SPDX-License-Identifier: Apache-2.0
//
// Statements of a report about its own limits: losses, coverage, rules that were not checked. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/advice/not_checked.h"
#include "analyzer/model/run_model.h"
#include "analyzer/report/coverage.h"
#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// "17 events dropped, the file ends early, with nothing of worker 1 after 4.7 s"; empty if nothing
// is missing.
[[nodiscard]] Statement Lost(const traces::Losses& losses, const RunModel& run);
// From when on a file that was cut lacks a process that makes the main loader's batches: the first
// such process to end. Units: seconds since the trace began.
struct RecordsEnd {
  double at = 0;
  std::int32_t worker = -1;  // -1: the training process
};
// nullopt: the file was not cut, or has no loader.
[[nodiscard]] std::optional<RecordsEnd> FirstRecordsEnd(const RunModel& run);
// "only 61 % of the bytes read were seen"; empty if the hooks saw enough.
[[nodiscard]] Statement PartlyBlind(const Coverage& coverage);
// "99 % of all that its processes read, libraries too (131 MB of 132 MB)", or a statement that the
// share is not known. These bytes are more than those of the stage read, which counts data alone.
[[nodiscard]] Statement Seen(const Coverage& coverage);
// "rank-imbalance: needs the traces of the other ranks".
[[nodiscard]] Statement Unchecked(const NotChecked& missing);

}  // namespace penstock::analyzer
