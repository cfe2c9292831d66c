// SPDX-License-Identifier: Apache-2.0
//
// Functions and lines of the program in a report: text, JSON, and a table with a flame graph. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {

// Returns a line of a source file, counted from 1; nullopt if it cannot be read.
using LineReader =
    std::function<std::optional<std::string>(const std::string& file, std::uint32_t line)>;

// Adds the text of the lines that the report names.
void ShowSources(const LineReader& read, Report& report);

// Writes the report's keys "functions" and "function_sampling".
void WriteFunctionsJson(const Report& report, JsonWriter& json);
// Lines for a terminal, each with its end; "" if no call was followed.
[[nodiscard]] std::string FunctionsText(const Report& report, const Paint& paint);
// Tables and flame graphs, or a sentence that there are none.
[[nodiscard]] std::string FunctionsHtml(const Report& report, Language language);

// "of samples", "of collating": the whole to which the shares of a profile refer.
[[nodiscard]] Statement NameOf(const FunctionProfile& profile);

}  // namespace penstock::analyzer
