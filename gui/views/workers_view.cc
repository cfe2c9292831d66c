// SPDX-License-Identifier: Apache-2.0
//
// Workers: what each did with its time, memory over time, and how many batches lay ready.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/report/format.h"
#include "gui/model/ticks.h"
#include "gui/views/timeline_canvas.h"
#include "gui/views/workspace.h"
#include "gui/widgets/plot.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::WorkerRun;
using traces::StageId;

// Busy, of it computing, idle, and the rest of its life.
void DrawLifeBar(const Ui& ui, const WorkerRun& worker, double life, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ui.Px(14);
  const auto length = [&](double seconds) {
    return static_cast<float>(std::clamp(seconds / std::max(life, 1e-9), 0.0, 1.0)) * width;
  };
  list->AddRectFilled(at, {at.x + width, at.y + height}, Ink(p.raised), ui.Px(3));
  const float busy = length(worker.busy);
  const float cpu = std::min(length(worker.cpu), busy);
  const Rgb colour = p.accent;
  list->AddRectFilled(at, {at.x + busy, at.y + height}, Ink(colour, 0.45), ui.Px(3));
  list->AddRectFilled(at, {at.x + cpu, at.y + height}, Ink(colour), ui.Px(3));
  const float idle = std::min(length(worker.idle), width - busy);
  list->AddRectFilled({at.x + busy, at.y}, {at.x + busy + idle, at.y + height},
                      ui.Stage(StageId::kIdle), ui.Px(3));
  ImGui::Dummy({width, height});
}

void DrawWorkersTable(const Ui& ui, const analyzer::LoaderRun& run, Area area) {
  BeginArea("workers", area, false);
  if (ImGui::BeginTable(
          "table", 6,
          ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("", 0, 1.3F);
    ImGui::TableSetupColumn(ui.T(Text::kSpanBatch), 0, 0.8F);
    ImGui::TableSetupColumn(ui.T(Text::kBusy), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kCpu), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kIdleTime), 0, 1);
    ImGui::TableSetupColumn(ui.T(Text::kLife), 0, 5);
    ImGui::TableHeadersRow();
    for (const WorkerRun& worker : run.workers) {
      const double life = worker.first == analyzer::kNever || worker.last <= worker.first
                              ? worker.busy + worker.idle
                              : static_cast<double>(worker.last - worker.first) * 1e-9;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(ui.F(Text::kWorkerN, worker.worker_id).c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(CountText(static_cast<double>(worker.batches)).c_str());
      for (const double seconds : {worker.busy, worker.cpu, worker.idle}) {
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(DurationText(seconds).c_str());
      }
      ImGui::TableNextColumn();
      DrawLifeBar(ui, worker, std::max(life, worker.busy + worker.idle),
                  ImGui::GetContentRegionAvail().x);
    }
    ImGui::EndTable();
  }
  EndArea();
}

PlotAxes TimeAxes(const Document& document, double most) {
  PlotAxes axes;
  axes.x_low = document.analysis->from;
  axes.x_high = axes.x_low + std::max(document.analysis->report.duration, 1e-9);
  axes.y_high = std::max(most, 1e-12) * 1.08;
  axes.x_text = [](double x) { return fmt::format("{:.3g} s", x); };
  return axes;
}

std::vector<PlotPoint> PointsOf(const CounterTrack& track) {
  std::vector<PlotPoint> points;
  for (const CounterPoint& point : Thinned(track, 2'000)) {  // enough for any screen
    points.push_back({static_cast<double>(point.at) * 1e-9, point.value});
  }
  return points;
}

void DrawMemory(const Ui& ui, const Document& document, Area area) {
  constexpr std::array kColours = {StageId::kRead, StageId::kDecode,  StageId::kAugment,
                                   StageId::kWait, StageId::kCollate, StageId::kPut};
  std::vector<PlotLine> lines;
  double most = 0;
  for (const CounterTrack& track : document.analysis->counters) {
    if (track.kind != CounterKind::kMemory || track.process == CounterTrack::kAll) continue;
    PlotLine line;
    line.colour = StageColour(kColours[lines.size() % kColours.size()], ui.theme);
    if (document.timeline) {
      for (const Group& group : document.timeline->groups) {
        if (group.process.value == track.process) line.name = GroupLabel(ui, group, false);
      }
    }
    if (line.name.empty() && document.timeline) continue;
    line.points = PointsOf(track);
    most = std::max(most, track.most);
    lines.push_back(std::move(line));
  }
  if (lines.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    ui.T(Text::kNotRecorded));
    return;
  }
  PlotAxes axes = TimeAxes(document, most);
  axes.y_text = [](double y) { return analyzer::BytesText(static_cast<std::uint64_t>(y)); };
  const PlotFrame frame = BeginPlot(ui, area, axes, lines);
  for (const PlotLine& line : lines) DrawLine(ui, frame, line);
}

void DrawReady(const Ui& ui, const Document& document, Area area) {
  const Palette& p = ui.palette();
  const analyzer::QueueDepth& queue = document.analysis->plots.queue;
  for (const CounterTrack& track : document.analysis->counters) {
    if (track.kind != CounterKind::kReadyBatches) continue;
    PlotLine line{"", StageColour(StageId::kRead, ui.theme), PointsOf(track), true};
    PlotBand band{line.colour, {}, {}, {}};
    for (const analyzer::QueueBin& bin : queue.bins) {
      band.x.push_back(bin.at);
      band.low.push_back(bin.low);
      band.high.push_back(bin.high);
    }
    PlotAxes axes = TimeAxes(document, track.most);
    axes.y_text = [](double y) { return fmt::format("{:.3g}", y); };
    const PlotFrame frame = BeginPlot(ui, area, axes, {});
    DrawBand(frame, band);
    DrawLine(ui, frame, line);
    if (queue.most > 0) {
      DashedLine(ImGui::GetWindowDrawList(), {frame.area.min.x, frame.Y(queue.most)},
                 frame.area.max.x, ui.Stage(StageId::kWait), ui.scale);
    }
    return;
  }
  const auto lines = WrapText(ui.body, queue.missing, area.width());
  float y = area.min.y;
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), ui.body, {area.min.x, y}, Ink(p.dim), line);
    y += ui.body->FontSize + ui.Px(4);
  }
}

void DrawLegend(const Ui& ui, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float right = area.max.x;
  const auto entry = [&](Text name, ImU32 colour) {
    right -= TextWidth(ui.small, ui.T(name));
    DrawText(list, ui.small, {right, area.min.y}, Ink(p.dim), ui.T(name));
    right -= ui.Px(15);
    list->AddRectFilled({right, area.min.y + ui.Px(2)}, {right + ui.Px(10), area.min.y + ui.Px(12)},
                        colour, ui.Px(2));
    right -= ui.Px(14);
  };
  entry(Text::kIdle, ui.Stage(StageId::kIdle));
  entry(Text::kBusyWaiting, Ink(p.accent, 0.45));
  entry(Text::kBusyComputing, Ink(p.accent));
}

}  // namespace

void DrawWorkers(const Ui& ui, Workspace& workspace, Area area) {
  const Document& document = workspace.Shown();
  const analyzer::Diagnosis& diagnosis = document.analysis->report.diagnosis;
  const Palette& p = ui.palette();
  const float gap = ui.Px(10);
  const std::size_t count = diagnosis.run.has_loader() ? diagnosis.run.loader().workers.size() : 0;
  const float wanted = ui.Px(84) + ui.Px(25) * static_cast<float>(std::max<std::size_t>(count, 1));
  const float top = std::min(wanted, area.height() * 0.5F);
  const Area table = Panel(ui, {area.min, {area.max.x, area.min.y + top}});
  DrawLegend(ui, table);
  const Area inside = Headed(ui, table, ui.T(Text::kWorkers));
  if (count == 0) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, inside, Ink(p.dim),
                    ui.T(diagnosis.run.has_loader() ? Text::kLoaderMakesItself : Text::kNoBatches));
  } else {
    DrawWorkersTable(ui, diagnosis.run.loader(), inside);
  }
  const float half = std::floor((area.width() - gap) / 2);
  const float y = area.min.y + top + gap;
  DrawMemory(ui, document,
             Headed(ui, Panel(ui, {{area.min.x, y}, {area.min.x + half, area.max.y}}),
                    ui.T(Text::kMemory)));
  DrawReady(
      ui, document,
      Headed(ui, Panel(ui, {{area.min.x + half + gap, y}, area.max}), ui.T(Text::kReadyBatches)));
}

}  // namespace penstock::gui
