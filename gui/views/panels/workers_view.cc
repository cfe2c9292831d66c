// SPDX-License-Identifier: Apache-2.0
//
// The workers view: how ranks compare, if there are several; how each worker spent its time, and
// which one delays the others; memory over time; and how many batches were ready.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "analyzer/words/page.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/workers_panels.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {
namespace {

using traces::StageId;

void DrawReady(const Ui& ui, Workspace& workspace, Area area) {
  const analyzer::QueueDepth& queue = workspace.Shown().analysis->plots.queue;
  if (!queue.missing.empty() || queue.bins.empty()) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::PushID("ready");
    const analyzer::Statement why =
        queue.missing.empty()
            ? queue.missing
            : analyzer::Say<analyzer::words::kSentence>(analyzer::Give<"what">(queue.missing));
    Paragraph(ui, ui.body, ui.palette().dim, Render(why, ui.language), area.width());
    ImGui::PopID();
    return;
  }
  DrawText(ImGui::GetWindowDrawList(), ui.small, area.min, Ink(ui.palette().dim),
           Elided(ui.small, ui.T(Text::kReadyNote), area.width()));
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##readynote", {std::max(area.width(), 1.0F), FontPixels(ui.small)});
  Tip(ui, ui.T(Text::kReadyNote));
  area.min.y += FontPixels(ui.small) + ui.Px(4);
  PlotLine line{"", StageColour(StageId::kRead, ui.theme), {}, true};
  PlotBand band{line.colour, {}, {}, {}, true};
  double most = std::max(1, queue.most);
  for (const analyzer::QueueBin& bin : queue.bins) {
    line.points.push_back({bin.at - queue.width / 2, bin.mean});
    band.x.push_back(bin.at - queue.width / 2);
    band.low.push_back(bin.low);
    band.high.push_back(bin.high);
    most = std::max(most, bin.high);
  }
  // A value holds until the next point, so a further point ends the last bin.
  const double end = queue.bins.back().at + queue.width / 2;
  line.points.push_back({end, queue.bins.back().mean});
  band.x.push_back(end);
  band.low.push_back(queue.bins.back().low);
  band.high.push_back(queue.bins.back().high);
  PlotAxes axes;
  axes.x_low = workspace.Shown().analysis->from;
  axes.x_high = axes.x_low + std::max(workspace.Shown().analysis->report.duration, 1e-9);
  axes.y_high = most * 1.08;
  axes.whole_y = true;
  const double length = axes.x_high - axes.x_low;
  axes.x_text = [length](double x) {
    const double resolution = length * 5e7;  // ns: a twentieth of the axis
    return TimeText(static_cast<std::int64_t>(x * 1e9), static_cast<std::int64_t>(resolution));
  };
  axes.y_text = [](double y) { return fmt::format("{:.0f}", y); };
  const PlotFrame frame = BeginPlot(ui, area, axes, {});
  DrawBand(frame, band);
  DrawLine(ui, frame, line);
  if (queue.most > 0) {
    DashedLine(ImGui::GetWindowDrawList(), {frame.area.min.x, frame.Y(queue.most)},
               frame.area.max.x, Ink(ui.palette().warn), ui.scale);
  }
}

float RanksHeight(const Ui& ui, const RanksModel& ranks, float room) {
  const float wanted = ui.Px(101) + ui.Px(23.5F) * static_cast<float>(ranks.lines.size());
  return std::clamp(wanted, ui.Px(120), std::max(room * 0.35F, ui.Px(150)));
}

void DrawPanels(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area) {
  const float gap = ui.Px(10);
  if (!model.ranks.lines.empty()) {
    const float height = RanksHeight(ui, model.ranks, area.height());
    DrawRanksTable(ui, model.ranks, {area.min, {area.max.x, area.min.y + height}});
    area.min.y += height + gap;
  }
  const auto count = static_cast<float>(std::max<std::size_t>(model.workers.size(), 1));
  const float wanted = ui.Px(model.slowest > 0 ? 101 : 78) + ui.Px(23.5F) * count;
  const float top = std::clamp(wanted, ui.Px(120), std::max(area.height() * 0.5F, ui.Px(120)));
  DrawWorkersTable(ui, workspace, model, {area.min, {area.max.x, area.min.y + top}});
  const float y = area.min.y + top + gap;
  const float memory = std::floor((area.width() - gap) * 0.58F);  // width of its panel
  DrawMemory(ui, workspace, model, {{area.min.x, y}, {area.min.x + memory, area.max.y}});
  DrawReady(
      ui, workspace,
      Headed(ui, Panel(ui, {{area.min.x + memory + gap, y}, area.max}),
             TitleOfRank(workspace.Shown().analysis->report, Text::kReadyBatches, ui.language)));
}

}  // namespace

void DrawWorkers(const Ui& ui, Workspace& workspace, Area area) {
  const auto analysis = workspace.Shown().analysis;
  const auto trace = workspace.Shown().trace;
  const auto whole = workspace.document.analysis;
  const WorkersModel* model = workspace.workers.model.Get(
      workspace.question(workspace.Shown()), workspace.at_once,
      [=](const std::stop_token&) { return BuildWorkers(*trace, *analysis, *whole); });
  if (model == nullptr) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                    ui.T(Text::kAnalysing));
    return;
  }
  const auto recorded = [](const std::vector<MemoryCurve>& curves) { return !curves.empty(); };
  if (model->workers.empty() && !analysis->report.diagnosis.run.has_loader() &&
      std::none_of(model->memory.begin(), model->memory.end(), recorded)) {
    return DrawNothing(ui, workspace, NoLoader(workspace), area);
  }
  const bool ranks = analysis->report.diagnosis.ranks.several();
  ScrollBelow(ui, "workers", area, ranks ? 600 : 430,
              [&](Area inside) { DrawPanels(ui, workspace, *model, inside); });
}

}  // namespace penstock::gui
