// SPDX-License-Identifier: Apache-2.0
//
// The I/O view: how fast data was read, from where, in which sizes and from which files.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/limits.h"
#include "analyzer/report/request_report.h"
#include "analyzer/words/format.h"
#include "gui/model/penstock_command.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/io_panels.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::PercentText;
using traces::StageId;

std::string Bytes64(double bytes) {
  return BytesText(static_cast<std::uint64_t>(std::max(bytes, 0.0)));
}

Figure CacheFigure(const Ui& ui, const IoModel& io, const DataSet& set) {
  const Palette& p = ui.palette();
  Figure figure{ui.T(Text::kIoFromCache), "–", "", p.text, ""};
  switch (io.sight) {
    case CacheSight::kKnown:
      figure.value = PercentText(io.cached);
      figure.line = ui.F(Text::kIoDiskGave, BytesText(io.disk_bytes), BytesText(io.bytes));
      break;
    case CacheSight::kNoDisk:
      figure.value = "100 %";
      figure.line = ui.T(Text::kIoAllInMemory);
      break;
    case CacheSight::kElsewhere:
      figure.colour = p.dim;
      figure.line = ui.F(Text::kIoElsewhere, set.file_system);
      break;
    case CacheSight::kNetwork:
      figure.colour = p.dim;
      figure.line = ui.F(Text::kIoOverNetwork, BytesText(io.network));
      break;
    case CacheSight::kNoCounter:
      figure.colour = p.dim;
      figure.line = ui.T(Text::kNeedsRecord);
      break;
  }
  return figure;
}

std::vector<Figure> FiguresOf(const Ui& ui, const IoModel& io, const DataSet& set) {
  const Palette& p = ui.palette();
  std::vector<Figure> figures;
  const std::string reads = CountText(static_cast<double>(io.reads));
  figures.push_back(
      {ui.T(Text::kIoRead), BytesText(io.bytes),
       io.paths ? ui.F(Text::kIoReadsOfFiles, reads, CountText(static_cast<double>(io.file_count)))
                : ui.F(Text::kIoReads, reads),
       p.text, io.mapped > 0 ? ui.F(Text::kIoMapped, BytesText(io.mapped)) : ""});
  figures.push_back({ui.T(Text::kIoWhileReading), Bytes64(io.rate()) + "/s",
                     ui.F(io.reader_text(), Bytes64(io.reader_rate())), p.text,
                     ui.T(Text::kIoWhileReadingTip)});
  figures.push_back(CacheFigure(ui, io, set));
  if (set.file_system.empty()) {
    figures.push_back({ui.T(Text::kIoStorage), "–", HowToKnowStorage(io, ui.language), p.dim,
                       ui.T(Text::kIoStorageTip)});
  } else {
    const bool known = !set.device.empty() && set.device != "unknown";
    figures.push_back({ui.T(Text::kIoStorage),
                       known ? fmt::format("{}, {}", set.file_system, set.device) : set.file_system,
                       set.root, p.text, set.root});
  }
  std::string size = set.bytes > 0 ? Bytes64(set.bytes) : "";
  if (!size.empty() && set.estimated) size = ui.F(Text::kIoAbout, size);
  Text title = Text::kIoDataSet;
  std::string line;
  if (set.bytes > 0 && set.memory > 0) {
    line = ui.F(Text::kIoShareOfMemory, PercentText(set.bytes / set.memory), Bytes64(set.memory));
  } else if (set.samples > 0) {
    line = ui.F(Text::kIoSamples, CountText(static_cast<double>(set.samples)));
  }
  if (size.empty() && io.paths) {
    title = Text::kIoFilesRead;
    size = ui.F(Text::kIoFiles, CountText(static_cast<double>(io.file_count)));
    if (line.empty()) line = io.folder;
  }
  if (size.empty()) size = "–";
  figures.push_back({ui.T(title), size, line, p.text, io.folder});
  return figures;
}

void DrawRates(const Ui& ui, Workspace& workspace, const IoModel& io, Area area) {
  TimePlot plot;
  plot.from = io.seen.from;
  plot.to = io.seen.to();
  plot.most = std::max(io.seen.most(), io.disk.most());
  plot.text = [](double rate) { return Bytes64(rate) + "/s"; };
  plot.hint = ui.T(Text::kPlotClickTip);
  const auto line = [&](Text name, StageId colour, const Series& series, bool filled) {
    plot.lines.push_back({ui.T(name),
                          StageColour(colour, ui.theme),
                          {},
                          series.value,
                          series.from,
                          series.width,
                          filled});
  };
  line(Text::kIoSeenLine, StageId::kRead, io.seen, true);
  if (!io.disk.empty()) line(Text::kIoDiskLine, StageId::kWait, io.disk, false);
  // A part of the run does not tell where the file was cut.
  const auto end = analyzer::FirstRecordsEnd(workspace.document.analysis->report.diagnosis.run);
  if (end && end->at < plot.to - io.seen.width) {
    plot.marks.push_back(
        {std::max(end->at, plot.from),
         end->worker >= 0 ? ui.F(Text::kIoWithoutWorker, end->worker) : ui.T(Text::kIoWithoutLoop),
         true});
  }
  if (const auto at = DrawTimePlot(ui, "##rates", area, plot)) workspace.ShowMoment(*at);
}

// Draws the number of reads by size on a log scale.
void DrawSizes(const Ui& ui, const IoModel& io, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const SizeBins& sizes = io.sizes;
  if (sizes.reads.empty()) return;
  const std::string note = ui.F(Text::kIoSizesNote, SizeText(static_cast<double>(sizes.median)));
  DrawShortened(ui, ui.small, area.min, Ink(p.dim), note, area.width());
  area.min.y += FontPixels(ui.small) + ui.Px(4);
  const auto whole = static_cast<double>(std::max<std::uint64_t>(io.reads, 1));
  double most = 1e-9;
  for (const std::uint64_t reads : sizes.reads) {
    most = std::max(most, static_cast<double>(reads) / whole);
  }
  const float foot = FontPixels(ui.small) + ui.Px(8);
  const Area plot{{area.min.x + ui.Px(44), area.min.y + ui.Px(6)}, {area.max.x, area.max.y - foot}};
  for (const double share : RoundValues(0, most, 4)) {
    const float y = plot.max.y - static_cast<float>(share / most) * plot.height();
    list->AddLine({plot.min.x, y}, {plot.max.x, y}, Ink(p.line, 0.7));
    DrawTextRight(list, ui.small, plot.min.x - ui.Px(6), y - FontPixels(ui.small) / 2, Ink(p.dim),
                  PercentText(share));
  }
  const float width = plot.width() / static_cast<float>(sizes.reads.size());
  float last = -1e9F;
  for (std::size_t i = 0; i <= sizes.reads.size(); ++i) {
    const float x = plot.min.x + width * static_cast<float>(i);
    const std::string text = SizeText(sizes.EdgeOf(i));
    const float left = Limited(x - TextWidth(ui.small, text) / 2, plot.min.x,
                               plot.max.x - TextWidth(ui.small, text));
    if (sizes.IsRound(i) && left > last + ui.Px(10)) {
      list->AddLine({x, plot.max.y}, {x, plot.max.y + ui.Px(4)}, Ink(p.dim));
      DrawText(list, ui.small, {left, plot.max.y + ui.Px(5)}, Ink(p.dim), text);
      last = left + TextWidth(ui.small, text);
    }
    if (i == sizes.reads.size() || sizes.reads[i] == 0) continue;
    const double share = static_cast<double>(sizes.reads[i]) / whole;
    const float height = std::max(ui.Px(1.5F), static_cast<float>(share / most) * plot.height());
    list->AddRectFilled({x + ui.Px(0.5F), plot.max.y - height},
                        {x + width - ui.Px(0.5F), plot.max.y}, ui.Stage(StageId::kRead), ui.Px(2));
    ImGui::SetCursorScreenPos({x, plot.min.y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("##size", {std::max(width, 1.0F), std::max(plot.height(), 1.0F)});
    ImGui::PopID();
    const double bytes = static_cast<double>(sizes.bytes[i]) /
                         static_cast<double>(std::max<std::uint64_t>(io.bytes, 1));
    Tip(ui, ui.F(Text::kIoSizeTip, text, SizeText(sizes.EdgeOf(i + 1)), PercentText(share),
                 PercentText(bytes)));
  }
  list->AddLine({plot.min.x, plot.max.y}, plot.max, Ink(p.dim));
}

// Draws a panel with a sentence on each host of network requests. Returns its height; 0 if there
// were no requests.
float DrawHosts(const Ui& ui, const analyzer::Report& report, Area area) {
  const std::size_t most_hosts = area.height() < ui.Px(700) ? 1 : 3;
  if (report.requests.empty()) return 0;
  const float width = area.width() - ui.Px(28);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most_hosts, report.requests.size()); ++i) {
    const std::string said =
        Typeset(Render(analyzer::RequestsSaid(report.requests[i]), ui.language));
    for (std::string& line : WrapText(ui.body, said, width)) lines.push_back(std::move(line));
  }
  const float pitch = FontPixels(ui.body) + ui.Px(4);
  const float height = pitch * static_cast<float>(lines.size()) + ui.Px(24);
  const Area inside = Panel(ui, {area.min, {area.max.x, area.min.y + height}});
  float y = inside.min.y;
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), ui.body, {inside.min.x, y}, Ink(ui.palette().text), line);
    y += pitch;
  }
  return height;
}

Nothing NoReads(const Workspace& workspace) {
  const traces::Trace& trace = *workspace.document.trace;
  if (workspace.document.analysis->report.diagnosis.run.imported) {
    return {Text::kIoNoReads, Text::kIoNoReadsImported, Text::kRecordItself,
            PenstockCommand(trace, "record")};
  }
  return {Text::kIoNoReads, Text::kIoNoReadsWhy, Text::kSeeWhatIsSeen,
          PenstockCommand(trace, "doctor")};
}

void DrawPanels(const Ui& ui, Workspace& workspace, const IoModel& io, Area area) {
  const float gap = ui.Px(10);
  const DataSet set = DataSetOf(*workspace.document.trace, workspace.document.analysis->report);
  float y = area.min.y;
  y += DrawFigures(ui, FiguresOf(ui, io, set), {{area.min.x, y}, area.max}) + gap;
  const float hosts =
      DrawHosts(ui, workspace.Shown().analysis->report, {{area.min.x, y}, area.max});
  y += hosts > 0 ? hosts + gap : 0;
  const float middle = y + (area.max.y - y - gap) * 0.44F;
  const float split = area.min.x + std::floor((area.width() - gap) * 0.62F);
  const Area rates{{area.min.x, y}, {split, middle}};
  const Area sizes{{split + gap, y}, {area.max.x, middle}};
  const Area panel = Panel(ui, rates);
  // The share of the time in which data is read. It explains why the speed while reading is far
  // above the values of this plot.
  const double whole = std::max(io.seen.to() - io.seen.from, 1e-9);
  const std::string share =
      ui.F(Text::kIoUnderWay, PercentText(std::clamp(io.active / whole, 0.0, 1.0)));
  DrawTextRight(ImGui::GetWindowDrawList(), ui.small, panel.max.x, panel.min.y + ui.Px(1),
                Ink(ui.palette().dim), share);
  ImGui::SetCursorScreenPos(panel.min);
  ImGui::InvisibleButton("##rates title", {panel.width(), FontPixels(ui.strong)});
  Tip(ui, ui.T(Text::kIoOverTimeTip));
  DrawRates(ui, workspace, io, Headed(ui, panel, RatesTitle(io, ui.language)));
  DrawSizes(ui, io, Headed(ui, Panel(ui, sizes), ui.T(Text::kIoSizes)));
  DrawFiles(ui, workspace, io, {{area.min.x, middle + gap}, {split, area.max.y}});
  DrawFindingLinks(ui, workspace, Text::kIoAboutReads, kReadFindings,
                   {{split + gap, middle + gap}, area.max});
}

}  // namespace

std::string SizeText(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

void DrawIo(const Ui& ui, Workspace& workspace, Area area) {
  const IoModel* io = Made(ui, workspace, workspace.reading.model, area, BuildIo);
  if (io == nullptr) return;
  if (io->reads == 0) {
    if (workspace.Range()) return DrawEmpty(ui, area, ui.T(Text::kIoNoReadsHere), "");
    return DrawNothing(ui, workspace, NoReads(workspace), area);
  }
  ScrollBelow(ui, "io", area, 560, [&](Area whole) { DrawPanels(ui, workspace, *io, whole); });
}

}  // namespace penstock::gui
