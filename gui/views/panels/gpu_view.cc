// SPDX-License-Identifier: Apache-2.0
//
// The GPU view: what the device did, why it was idle, what was copied to it and how.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/cards.h"
#include "gui/model/panels/ranks.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/gpu_panels.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {
namespace {

using analyzer::BytesText;
using analyzer::DurationText;
using analyzer::PercentText;
using traces::StageId;

constexpr float kTimeBar = 104;       // logical pixels
constexpr float kNoFindings = 116;    // the same, of a panel that only says what was not checked
constexpr float kOfFindings = 0.36F;  // of the height below the bar

std::vector<Figure> FiguresOf(const Ui& ui, const analyzer::Report& report, const GpuModel& gpu) {
  const Palette& p = ui.palette();
  std::vector<Figure> figures;
  const double window = std::max(gpu.activity.window, 1e-9);
  if (gpu.kernels > 0) {
    std::string note = ui.T(gpu.window_note);
    if (gpu.nccl >= 0.01) note = ui.F(Text::kGpuNcclNote, note, PercentText(gpu.nccl));
    figures.push_back({TitleOfRank(report, Text::kGpuComputing, ui.language),
                       PercentText(gpu.activity.computing / window), note, p.text, ""});
    const std::string causes = IdleText(gpu.activity, ui.language);
    figures.push_back({TitleOfRank(report, Text::kGpuIdle, ui.language),
                       PercentText(gpu.idle_time() / window), causes,
                       causes.empty() ? p.text : p.warn, ""});
  }
  if (gpu.copies > 0) {
    std::uint64_t bytes = 0;
    double best = 0;
    double wall = 0;
    double known = 0;
    double hidden = 0;
    for (const CopyRow& row : gpu.copy_rows) {
      if (row.way != CopyWay::kToDevice) continue;
      bytes += row.bytes;
      wall += row.wall;
      if (row.beside >= 0) known += row.wall;
      if (row.beside >= 0) hidden += row.beside * row.wall;
      best = std::max(best, row.rate());
    }
    const std::string time = OfDevices(DurationText(wall), gpu.copy_devices, ui.language);
    const std::string beside =
        known > 0 ? ui.F(Text::kGpuCopyNote, time, PercentText(hidden / known)) : time;
    figures.push_back({ui.T(Text::kGpuCopies), BytesText(bytes), beside, p.text, ""});
    figures.push_back({ui.T(Text::kGpuBandwidth),
                       best > 0 ? BytesText(static_cast<std::uint64_t>(best)) + "/s" : "–",
                       ui.T(Text::kGpuBandwidthNote), p.text, ""});
  }
  for (const GpuCounter& counter : gpu.counters) {
    if (counter.name != "nvml_utilization_percent" || figures.size() >= 4) continue;
    figures.push_back({ui.F(Text::kGpuDeviceN, counter.device, ui.T(Text::kGpuNvmlUtilization)),
                       fmt::format("{:.0f} %", counter.curve.mean), ui.T(Text::kGpuNvmlNote),
                       p.text, ""});
  }
  const DeviceTitle devices = TitleOfDevices(gpu, ui.language);
  figures.push_back({ui.T(Text::kGpuModel), devices.name, devices.note, p.text, ""});
  return figures;
}

void DrawBusy(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  if (gpu.computing.empty() && gpu.copying.empty()) {
    const bool elsewhere = RecordedElsewhere(workspace, {StageId::kKernel, StageId::kH2d});
    const Text none = elsewhere ? Text::kStageNothingHere : Text::kGpuNoKernels;
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    Elided(ui.body, ui.T(none), area.width()));
    return;
  }
  TimePlot plot;
  plot.from = gpu.from;
  plot.to = gpu.to;
  plot.most = 1;
  plot.text = [](double share) { return PercentText(share); };
  plot.hint = ui.T(Text::kPlotClickTip);
  const auto line = [&](Text name, StageId colour, const Series& series, bool filled) {
    if (series.empty()) return;
    plot.lines.push_back({ui.T(name),
                          StageColour(colour, ui.theme),
                          {},
                          series.value,
                          series.from,
                          series.width,
                          filled});
  };
  line(Text::kGpuLineKernels, StageId::kKernel, gpu.computing, true);
  line(Text::kGpuLineCopies, StageId::kH2d, gpu.copying, false);
  if (const auto at = DrawTimePlot(ui, "##busy", area, plot)) workspace.ShowMoment(*at);
}

void DrawPanels(const Ui& ui, Workspace& workspace, const GpuModel& gpu, Area area) {
  const analyzer::Report& report = workspace.Shown().analysis->report;
  const float gap = ui.Px(10);
  float y = area.min.y;
  y += DrawFigures(ui, FiguresOf(ui, report, gpu), {{area.min.x, y}, area.max}) + gap;
  if (gpu.kernels > 0) {
    const float bar = ui.Px(kTimeBar);
    DrawGpuTime(ui, report, gpu, {{area.min.x, y}, {area.max.x, y + bar}});
    y += bar + gap;
  }
  const float split = area.min.x + std::floor((area.width() - gap) * 0.54F);
  const float height = area.max.y - y;
  const float half = std::floor((height - gap) * 0.5F);
  // Without counters their panel is one line.
  const float counters = gpu.counters.empty() ? FontPixels(ui.strong) + ui.Px(22) : half;
  const float left = area.max.y - counters - gap;
  const Area over_time{{area.min.x, y}, {split, left}};
  DrawBusy(ui, workspace, gpu, Headed(ui, Panel(ui, over_time), TitleOfCurves(gpu, ui.language)));
  DrawGpuCounters(ui, workspace, gpu, {{area.min.x, left + gap}, {split, area.max.y}});
  // The tables get what their rows need, and leave some room for the findings.
  const bool found = !FindingsAmong(report, kGpuFindings).empty();
  const float findings =
      found ? std::floor(height * kOfFindings) : std::min(ui.Px(kNoFindings), half);
  const float right = y + std::clamp(GpuTablesHeight(ui, gpu), half, height - findings - gap);
  DrawGpuTables(ui, workspace, gpu, {{split + gap, y}, {area.max.x, right}});
  DrawFindingLinks(ui, workspace, Text::kGpuAbout, kGpuFindings,
                   {{split + gap, right + gap}, area.max});
}

// The height below which the view scrolls, in logical pixels. The tables show all copies, and some
// kernels.
float LeastHeight(const Ui& ui, const analyzer::Report& report, const GpuModel& gpu) {
  constexpr std::size_t kShownNames = 6;
  constexpr float kFigures = 116;  // their notes have two lines
  constexpr float kGap = 10;
  const float tables = GpuTablesHeight(ui, gpu, kShownNames) / ui.scale + kGap;
  const bool found = !FindingsAmong(report, kGpuFindings).empty();
  const float lower = found ? tables / (1 - kOfFindings) : tables + kNoFindings;
  return std::max(620.0F, kFigures + (gpu.kernels > 0 ? kTimeBar + kGap : 0) + lower);
}

}  // namespace

bool RecordedElsewhere(const Workspace& workspace, std::initializer_list<StageId> stages) {
  const auto& whole = workspace.document.analysis;
  if (!workspace.Range() || whole == nullptr) return false;
  const analyzer::StageTable& table = whole->report.diagnosis.run.stages;
  return std::any_of(stages.begin(), stages.end(),
                     [&](StageId stage) { return table[stage].count > 0; });
}

Text NameOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLoader:
      return Text::kGpuCauseLoader;
    case IdleCause::kCopy:
      return Text::kGpuCauseCopy;
    case IdleCause::kSync:
      return Text::kGpuCauseSync;
    case IdleCause::kLaunch:
      return Text::kGpuCauseLaunch;
    case IdleCause::kUnknown:
      break;
  }
  return Text::kGpuCauseUnknown;
}

void DrawGpu(const Ui& ui, Workspace& workspace, Area area) {
  const GpuModel* gpu = Made(ui, workspace, workspace.gpu.model, area, BuildGpu);
  if (gpu == nullptr) return;
  // A selection may have no device spans although the trace has some.
  if (!gpu->recorded() && !gpu->any) {
    if (workspace.Shown().analysis->report.stages.empty() && !workspace.Range()) {
      return DrawNothing(ui, workspace, NothingRecorded(workspace), area);
    }
    ScrollBelow(ui, "gpu", area, 520,
                [&](Area whole) { DrawGpuNothing(ui, workspace, *gpu, whole); });
    return;
  }
  const float least = LeastHeight(ui, workspace.Shown().analysis->report, *gpu);
  ScrollBelow(ui, "gpu", area, least, [&](Area whole) { DrawPanels(ui, workspace, *gpu, whole); });
}

}  // namespace penstock::gui
