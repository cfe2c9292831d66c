// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "analyzer/diagnosis/base.h"
#include "analyzer/words/verdict.h"
#include "traces/base/json_text.h"

namespace penstock::gui {
namespace {

using analyzer::Report;
using analyzer::StageRow;

// Rows of fields. A number that is not known becomes an empty field.
class Csv {
 public:
  explicit Csv(std::string_view head) : text_(std::string(head) + "\n") {}

  Csv& Text(std::string_view value) {
    Comma();
    AppendCsv(text_, value);
    return *this;
  }
  Csv& Number(double value) {
    Comma();
    text_ += fmt::format("{:.9g}", value);
    return *this;
  }
  Csv& Number(const std::optional<double>& value) { return value ? Number(*value) : Text(""); }
  Csv& Count(std::uint64_t value) {
    Comma();
    text_ += std::to_string(value);
    return *this;
  }
  Csv& Flag(bool value) { return Text(value ? "1" : "0"); }
  void End() {
    text_ += "\n";
    begun_ = false;
  }
  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  void Comma() {
    if (begun_) text_ += ",";
    begun_ = true;
  }
  std::string text_;
  bool begun_ = false;
};

void WriteStageLine(const StageRow& row, const std::string& parent, Csv& csv) {
  csv.Text(parent.empty() ? row.name : parent + "/" + row.name);
  csv.Number(row.share).Number(row.wall);
  if (row.cpu_known) {
    csv.Number(row.cpu);
  } else {
    csv.Text("");
  }
  if (row.rest) {
    csv.Text("");
  } else {
    csv.Count(row.count);
  }
  if (row.mixed) {
    csv.Text("").Text("");
  } else {
    csv.Number(row.p50).Number(row.p99);
  }
  csv.Count(row.bytes);
  csv.Text(row.of_workers ? "workers" : "loop").End();
  for (const StageRow& child : row.children) WriteStageLine(child, row.name, csv);
}

std::string EvidenceText(const analyzer::Finding& finding) {
  std::string text;
  for (const auto& [name, value] : finding.evidence) {
    if (!text.empty()) text += "; ";
    text += name + "=";
    if (const auto* number = std::get_if<double>(&value)) {
      text += fmt::format("{:.6g}", *number);
    } else {
      text += std::get<std::string>(value);
    }
  }
  return text;
}

std::string_view SeverityName(analyzer::Severity severity) {
  switch (severity) {
    case analyzer::Severity::kInfo:
      return "info";
    case analyzer::Severity::kWarning:
      return "warning";
    case analyzer::Severity::kCritical:
      return "critical";
  }
  return "info";
}

std::string_view StateName(SweepState state) {
  switch (state) {
    case SweepState::kPending:
      return "pending";
    case SweepState::kMeasured:
      return "measured";
    case SweepState::kFailed:
      return "failed";
    case SweepState::kUnavailable:
      return "unavailable";
  }
  return "pending";
}

void ChangeLine(const analyzer::Change& change, std::string_view unit, Csv& csv) {
  csv.Text(change.name).Text(unit).Number(change.before).Number(change.after);
  csv.Number(change.ratio.estimate).Number(change.ratio.low).Number(change.ratio.high);
  csv.Flag(change.significant).End();
}

constexpr std::array kExports = {
    ExportInfo{ExportKind::kPicture, Text::kExportPicture, ".png"},
    ExportInfo{ExportKind::kReport, Text::kExportReport, "-report.html"},
    ExportInfo{ExportKind::kStages, Text::kExportStages, "-stages.csv"},
    ExportInfo{ExportKind::kWorkers, Text::kExportWorkers, "-workers.csv"},
    ExportInfo{ExportKind::kFindings, Text::kExportFindings, "-findings.csv"},
    ExportInfo{ExportKind::kSelection, Text::kExportSelection, "-selection.csv"},
    ExportInfo{ExportKind::kWhatIf, Text::kExportWhatIf, "-what-if.csv"},
    ExportInfo{ExportKind::kSweep, Text::kExportSweep, "-sweep.csv"},
    ExportInfo{ExportKind::kCompare, Text::kExportCompare, "-compare.csv"},
};

}  // namespace

std::string StagesCsv(const Report& report) {
  Csv csv("stage,share,wall_s,cpu_s,count,p50_s,p99_s,bytes,share_of");
  for (const StageRow& row : report.stages) WriteStageLine(row, "", csv);
  return csv.Take();
}

std::string WorkersCsv(const Report& report) {
  Csv csv("worker,batches,busy_s,cpu_s,idle_s,life_s");
  if (!report.diagnosis.run.has_loader()) return csv.Take();
  for (const analyzer::WorkerRun& worker : report.diagnosis.run.loader().workers) {
    csv.Text(fmt::format("{}", worker.worker_id)).Count(worker.batches);
    csv.Number(worker.busy).Number(worker.cpu).Number(worker.idle);
    if (worker.life() > 0) {
      csv.Number(worker.life());
    } else {
      csv.Text("");
    }
    csv.End();
  }
  return csv.Take();
}

std::string FindingsCsv(const Report& report) {
  Csv csv("id,severity,title,action,speedup,from_s,to_s,evidence");
  for (const analyzer::Finding& finding : report.findings) {
    csv.Text(finding.id).Text(SeverityName(finding.severity)).Text(English(finding.seen));
    csv.Text(English(finding.action));
    csv.Number(finding.predicted
                   ? std::optional(OnBase(report.diagnosis, *finding.predicted).speedup)
                   : std::nullopt);
    csv.Number(finding.from).Number(finding.to).Text(EvidenceText(finding)).End();
  }
  return csv.Take();
}

std::string SelectionCsv(std::span<const StageSum> sums, TimeRange range) {
  Csv csv("stage,count,time_s,mean_s,from_s,to_s");
  for (const StageSum& sum : sums) {
    csv.Text(traces::StageName(sum.stage)).Count(sum.count);
    csv.Number(static_cast<double>(sum.time) * 1e-9).Number(sum.mean());
    csv.Number(static_cast<double>(range.from) * 1e-9);
    csv.Number(static_cast<double>(range.to) * 1e-9).End();
  }
  return csv.Take();
}

std::string WhatIfCsv(const WhatIfAnswer& answer) {
  const bool samples = answer.unit.Is(analyzer::words::kSamplesPerSecond);
  Csv csv(
      fmt::format("num_workers,prefetch_factor,batch_size,{0},{0}_low,{0}_high,speedup,ram_bytes,"
                  "fits,bottleneck,recorded",
                  samples ? "samples_per_s" : "batches_per_s"));
  for (const analyzer::Configuration& one : answer.curve) {
    csv.Number(one.workers).Number(one.prefetch).Number(one.batch);
    csv.Number(one.predicted.rate.estimate).Number(one.predicted.rate.low);
    csv.Number(one.predicted.rate.high).Number(one.predicted.speedup);
    csv.Count(one.predicted.ram).Flag(one.fits);
    csv.Text(analyzer::FactorName(one.bottleneck)).Flag(one.recorded).End();
  }
  return csv.Take();
}

std::string SweepCsv(const Sweep& sweep) {
  std::string head = "setting";
  for (const SweepAxis& axis : sweep.axes) {
    head += ",";
    AppendCsv(head, axis.name);
  }
  Csv csv(head +
          ",state,samples_per_s,min,max,p25,p75,runs,of_best,within_noise,first_batch_s,"
          "seconds_per_sample,increment_s,bottleneck,error,trace");
  for (const SweepCell& cell : sweep.cells) {
    csv.Text(cell.name);
    for (const std::string& value : cell.values) csv.Text(value);
    csv.Text(StateName(cell.state));
    if (cell.rate) {
      csv.Number(cell.rate->median).Number(cell.rate->least).Number(cell.rate->most);
      csv.Number(cell.rate->p25).Number(cell.rate->p75);
    } else {
      for (int i = 0; i < 5; ++i) csv.Text("");
    }
    csv.Count(cell.runs.size()).Number(cell.of_best).Flag(cell.within_noise);
    csv.Number(cell.first_batch).Number(cell.seconds_per_sample).Number(cell.increment);
    csv.Text(cell.bottleneck).Text(cell.error);
    csv.Text(cell.traces.empty() ? "" : cell.traces.front().string()).End();
  }
  return csv.Take();
}

std::string CompareCsv(const CompareAnswer& answer) {
  const analyzer::Comparison& comparison = answer.comparison;
  Csv csv("quantity,unit,before,after,ratio,ratio_low,ratio_high,significant");
  ChangeLine(comparison.throughput, English(comparison.unit), csv);
  // For fractions the column "ratio" holds their difference.
  ChangeLine(comparison.wait, "fraction of the loop (ratio: difference)", csv);
  for (const analyzer::Change& change : comparison.stages) {
    ChangeLine(change, "s per sample", csv);
  }
  return csv.Take();
}

std::span<const ExportInfo> Exports() {
  return kExports;
}

std::filesystem::path ProposedName(const std::filesystem::path& source, const ExportInfo& info) {
  const std::string stem = source.empty() ? "penstock" : source.stem().string();
  return source.parent_path() / (stem + std::string(info.ending));
}

}  // namespace penstock::gui
