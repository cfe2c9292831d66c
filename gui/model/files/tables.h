// SPDX-License-Identifier: Apache-2.0
//
// The tables of the window as CSV for other programs: fields in quotes as in RFC 4180, lines that
// end with a line feed, plain numbers. The header line is English in every language. It names the
// unit of a column; in CompareCsv() each row has its own unit, in the column "unit". Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "gui/model/files/compare.h"
#include "gui/model/files/sweep.h"
#include "gui/model/panels/whatif.h"
#include "gui/model/timeline/query.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// The stages. Each transform has its own row below its stage ("augment/Resize").
[[nodiscard]] std::string StagesCsv(const analyzer::Report& report);
[[nodiscard]] std::string WorkersCsv(const analyzer::Report& report);
[[nodiscard]] std::string FindingsCsv(const analyzer::Report& report);
// The table below the timeline: what each stage takes inside the range.
[[nodiscard]] std::string SelectionCsv(std::span<const StageSum> sums, TimeRange range);
[[nodiscard]] std::string WhatIfCsv(const WhatIfAnswer& answer);
[[nodiscard]] std::string SweepCsv(const Sweep& sweep);
[[nodiscard]] std::string CompareCsv(const CompareAnswer& answer);

enum class ExportKind : std::uint8_t {
  kPicture,
  kReport,
  kStages,
  kWorkers,
  kFindings,
  kSelection,
  kWhatIf,
  kSweep,
  kCompare
};
struct ExportInfo {
  ExportKind kind;
  Text title;
  std::string_view ending;  // of the proposed name
};
[[nodiscard]] std::span<const ExportInfo> Exports();

// The proposed file: "run-stages.csv" beside "run.penstock", or "penstock-..." if `source` is
// empty.
[[nodiscard]] std::filesystem::path ProposedName(const std::filesystem::path& source,
                                                 const ExportInfo& info);

}  // namespace penstock::gui
