// SPDX-License-Identifier: Apache-2.0
//
// The overview before the analysis is ready: what is already known about the run.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/density.h"
#include "gui/model/timeline/query.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

// Draws a row for each process, with its busiest thread.
void DrawProcesses(const Ui& ui, const Workspace& workspace, Area area) {
  const Timeline& timeline = *workspace.document.timeline;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float row = ui.Px(26);
  const float left = area.min.x + ui.Px(150);
  std::vector<Box> boxes;
  float y = area.min.y;
  for (const Group& group : timeline.groups) {
    if (y + row > area.max.y) {
      DrawText(list, ui.small, {area.min.x, y}, Ink(p.dim), "…");
      break;
    }
    const auto busiest =
        std::max_element(group.lanes.begin(), group.lanes.end(), [&](std::size_t a, std::size_t b) {
          return timeline.lanes[a].spans < timeline.lanes[b].spans;
        });
    const Lane& lane = timeline.lanes[*busiest];
    DrawText(list, ui.small, {area.min.x, y + (row - FontPixels(ui.small)) / 2}, Ink(p.text),
             Elided(ui.small, GroupLabel(ui, workspace, group), ui.Px(142)));
    // The parts of a sample lie on the level below samples and batches.
    const bool worker = group.kind == GroupKind::kWorker;
    const std::size_t level = worker ? std::min<std::size_t>(2, lane.levels.size() - 1) : 0;
    boxes.clear();
    LayOut(lane.levels[level], timeline.length,
           {0, timeline.length, static_cast<double>(area.max.x - left), 1}, boxes);
    for (const Box& box : boxes) {
      const float height = row - ui.Px(5);
      list->AddRectFilled(
          {left + box.x0, y + (1 - box.top) * height},
          {std::max(left + box.x1, left + box.x0 + 0.5F), y + (1 - box.bottom) * height},
          ui.Stage(box.stage));
    }
    y += row;
  }
}

// Lists stages by the number of recorded spans, as far as they fit. Their times are not known yet:
// spans lie inside others, so a sum over them would count time twice.
void DrawStageCounts(const Ui& ui, const Timeline& timeline, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<StageSum> sums = StageSums(timeline);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const StageSum& a, const StageSum& b) { return a.count > b.count; });
  const std::uint64_t most = sums.empty() ? 1 : std::max<std::uint64_t>(1, sums.front().count);
  const float row = ui.Px(22);
  const float left = area.min.x + ui.Px(150);
  const float right = area.max.x - ui.Px(150);
  float y = area.min.y;
  for (const StageSum& sum : sums) {
    if (y + row > area.max.y) break;
    const float text = y + (row - FontPixels(ui.small)) / 2;
    DrawText(list, ui.small, {area.min.x, text}, Ink(p.text), WordOf(sum.stage, ui.language));
    const float width = static_cast<float>(sum.count) / static_cast<float>(most) * (right - left);
    list->AddRectFilled({left, y + ui.Px(4)}, {left + std::max(1.0F, width), y + row - ui.Px(4)},
                        ui.Stage(sum.stage), ui.Px(2));
    DrawTextRight(list, ui.small, area.max.x, text, Ink(p.dim),
                  CountText(static_cast<double>(sum.count)));
    y += row;
  }
}

}  // namespace

void DrawPreview(const Ui& ui, const Workspace& workspace, std::string_view busy, Area area) {
  const Palette& p = ui.palette();
  const Timeline& timeline = *workspace.document.timeline;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float gap = ui.Px(10);
  const float head = ui.Px(72);
  Area inside = Panel(ui, {area.min, {area.max.x, area.min.y + head}});
  DrawText(list, ui.title, inside.min, Ink(p.text), busy);
  const std::string known =
      ui.F(Text::kPreviewOf, DurationText(static_cast<double>(timeline.length) * 1e-9),
           CountText(static_cast<double>(timeline.spans)), timeline.groups.size());
  DrawText(list, ui.body, {inside.min.x, inside.min.y + FontPixels(ui.title) + ui.Px(8)},
           Ink(p.dim), Elided(ui.body, known, inside.width()));
  const float rest = area.max.y - area.min.y - head - 2 * gap;
  const float upper =
      std::min(rest * 0.55F, ui.Px(58) + ui.Px(26) * static_cast<float>(timeline.groups.size()));
  float y = area.min.y + head + gap;
  DrawProcesses(
      ui, workspace,
      Headed(ui, Panel(ui, {{area.min.x, y}, {area.max.x, y + upper}}), ui.T(Text::kFromAfar)));
  y += upper + gap;
  const auto stages = static_cast<float>(StageSums(timeline).size());
  const float lower = std::min(area.max.y - y, ui.Px(58) + ui.Px(22) * stages);
  DrawStageCounts(ui, timeline,
                  Headed(ui, Panel(ui, {{area.min.x, y}, {area.max.x, y + lower}}),
                         ui.T(Text::kSpansOfStages)));
}

}  // namespace penstock::gui
