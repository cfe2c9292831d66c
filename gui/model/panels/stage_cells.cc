// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/stage_cells.h"

#include "analyzer/report/report.h"
#include "analyzer/words/format.h"
#include "gui/model/timeline/ticks.h"

namespace penstock::gui {

using analyzer::DurationText;

namespace {

std::string TitleWith(const StageLine& line, std::size_t devices, std::size_t most,
                      Language language) {
  if (line.is_part()) return analyzer::PlainText(line.name, most);
  analyzer::StageRow row;
  row.name = line.name;
  row.stage = line.id.stage;
  row.devices = devices;
  return analyzer::StageText(row, language);
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
      return CountText(static_cast<double>(line.count));
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

}  // namespace penstock::gui
