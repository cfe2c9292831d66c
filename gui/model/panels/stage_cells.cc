// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/stage_cells.h"

#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"
#include "traces/names.h"

namespace penstock::gui {

using analyzer::DurationText;

namespace {

std::string TitleWith(const StageLine& line, std::size_t devices, std::size_t most,
                      Language language) {
  if (line.is_part() && !line.is_rest()) return analyzer::PlainText(line.name, most);
  analyzer::StageRow row;
  row.rest = line.is_rest();
  row.name = line.name;
  row.stage = line.id.stage;
  row.devices = devices;
  return analyzer::StageText(row, language);
}

// Says that a call is in the first sample of its process, which loads the decoder.
std::string FirstText(const traces::Trace& trace, const Call& call, Language language) {
  const traces::ThreadInfo& thread = trace.threads()[call.thread.value];
  const traces::ProcessInfo& process = trace.processes()[thread.process.value];
  if (process.role == wire::kRoleWorker && process.worker_id >= 0) {
    return Filled(Text::kFirstOfWorker, language, process.worker_id);
  }
  return std::string(TextOf(Text::kFirstOfProcess, language));
}

// "PIL.convert"; with a call before it that opened its image, both with their times, since the time
// of the row is their sum: "PIL.open 21.5 ms + PIL.convert 5.57 ms".
std::string NameOfCall(const traces::Trace& trace, const Call& call) {
  std::string name = analyzer::PlainText(trace.String(call.detail.name), 40);
  if (call.opened <= 0) return name;
  const auto seconds = [](std::int64_t ns) { return DurationText(static_cast<double>(ns) * 1e-9); };
  return analyzer::PlainText(trace.String(call.opener), 40) + " " + seconds(call.opened) + " + " +
         name + " " + seconds(call.wall - call.opened);
}

}  // namespace

std::string TitleOf(const StageLine& line, std::size_t most, Language language) {
  return TitleWith(line, line.devices, most, language);
}

std::string NameOf(const StageLine& line, std::size_t most, Language language) {
  return TitleWith(line, 1, most, language);
}

std::string CellText(const StageLine& line, StageColumn column, Language language) {
  const std::string none(kDash);
  switch (column) {
    case StageColumn::kShare:
      return analyzer::ShareText(line.share_of_one(), line.id.stage, language);
    case StageColumn::kWall:
      return DurationText(line.wall);
    case StageColumn::kCpu:
      return line.cpu_known ? DurationText(line.cpu) : none;
    case StageColumn::kCount:
      return line.is_rest() ? none : CountText(static_cast<double>(line.count));
    case StageColumn::kP50:
      return line.mixed ? none : DurationText(line.p50);
    case StageColumn::kP90:
      return line.mixed ? none : DurationText(line.p90);
    case StageColumn::kP99:
      return line.mixed ? none : DurationText(line.p99);
    case StageColumn::kBytes:
      return line.bytes > 0 ? analyzer::BytesText(line.bytes) : none;
  }
  return none;
}

std::vector<std::string> CallParts(const traces::Trace& trace, const StageLine& line,
                                   const Call& call, const std::string& batch, bool ranks,
                                   Language language) {
  std::vector<std::string> parts;
  const std::string_view file = trace.String(call.file);
  if (!file.empty()) {
    parts.push_back(analyzer::PlainText(file.substr(file.rfind('/') + 1), 60));
  }
  if (call.detail.sample != SpanDetail::kNoSample) {
    parts.push_back(Filled(Text::kSamplesOf, language, call.detail.sample));
  }
  if (call.first) parts.push_back(FirstText(trace, call, language));
  if (!batch.empty()) {
    parts.push_back(std::string(TextOf(Text::kSpanBatch, language)) + " " + batch);
  }
  const traces::ThreadInfo& thread = trace.threads()[call.thread.value];
  const std::int32_t rank = trace.processes()[thread.process.value].rank;
  if (ranks && rank >= 0) parts.push_back(Filled(Text::kRankN, language, rank));
  const std::string_view name = trace.String(call.detail.name);
  // The name of a span is left out if it is the name of the stage, which the title says already.
  const bool says_more = !name.empty() && name != "file" && !traces::StageNamed(name);
  if (!line.is_part() && says_more) parts.push_back(NameOfCall(trace, call));
  return parts;
}

std::string FittingParts(std::span<const std::string> parts,
                         const std::function<bool(const std::string&)>& fits) {
  const std::string more = " …";
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string longer = i == 0 ? parts[i] : text + "  ·  " + parts[i];
    const bool last = i + 1 == parts.size();
    if (!fits(last ? longer : longer + more)) return text.empty() ? "" : text + more;
    text = longer;
  }
  return text;
}

}  // namespace penstock::gui
