// SPDX-License-Identifier: Apache-2.0
//
// The slowest batches in a report. Pure.
#pragma once

#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

// What the slowest batches do that the others do not, or why nothing is told of them; empty if no
// batch's making was recorded.
[[nodiscard]] Statement SlowBatchesOf(const Report& report);
// The same as a sentence; "" if it is empty.
[[nodiscard]] std::string SlowBatchesSentence(const Report& report, Language language);

// Writes the report's key "slow_batches"; nothing if SlowBatchesOf() is empty.
void WriteSlowBatches(const Report& report, JsonWriter& json);

}  // namespace penstock::analyzer
