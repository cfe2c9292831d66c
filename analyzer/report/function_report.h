// SPDX-License-Identifier: Apache-2.0
//
// Functions and lines of the program in a report: text, JSON, and a table with a flame graph. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {

struct Picture;  // analyzer/report/html_report.h

// Returns a line of a source file, counted from 1; nullopt if it cannot be read.
using LineReader =
    std::function<std::optional<std::string>(const std::string& file, std::uint32_t line)>;

// Adds the text of the lines that the report names.
void ShowSources(const LineReader& read, Report& report);

// Writes the report's keys "functions", "function_sampling" and "function_sampling_cost".
void WriteFunctionsJson(const Report& report, JsonWriter& json);

// For FunctionsText(): the lines of a report, and those of a report with all details.
inline constexpr std::size_t kFewLines = 10;
inline constexpr std::size_t kAllLines = std::numeric_limits<std::size_t>::max();
// Lines for a terminal, each ending with a line feed; "" if no call was recorded. At most `most`
// lines besides headings. Sets `left_out` if there are more.
[[nodiscard]] std::string FunctionsText(const Report& report, const Paint& paint,
                                        std::size_t most = kAllLines, bool* left_out = nullptr);
// Tables and flame graphs, or why there are none.
[[nodiscard]] Picture FunctionsHtml(const Report& report, Language language);

// "in a sample", "in collating a batch": where a profile was measured.
[[nodiscard]] Statement NameOf(const FunctionProfile& profile);

// Says that the followed units took much longer than all; empty: they did not.
[[nodiscard]] Statement SlowerThanUsual(const FunctionProfile& profile);

}  // namespace penstock::analyzer
