// SPDX-License-Identifier: Apache-2.0
//
// Draws the legend of the timeline, which is also the filter of its stages.
#include <imgui.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/experiments.h"
#include "gui/model/words/stage_words.h"
#include "gui/views/panel_parts.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// Draws the number of stages for which the legend has no room. A tip names them.
void DrawStagesWithoutRoom(const Ui& ui, std::span<const StageId> stages, Area area) {
  std::string names;
  for (const StageId stage : stages) {
    names +=
        (names.empty() ? "" : ui.T(Text::kListComma)) + std::string(WordOf(stage, ui.language));
  }
  const std::string count = fmt::format("+{}", stages.size());
  DrawText(ImGui::GetWindowDrawList(), ui.small,
           {area.min.x, (area.min.y + area.max.y - FontPixels(ui.small)) / 2},
           Ink(ui.palette().dim), count);
  ImGui::SetCursorScreenPos(area.min);
  ImGui::Dummy({std::max(area.width(), 1.0F), area.height()});
  Tip(ui, names);
}

// Says what a click on a stage of the legend does. For spans that are coloured by name, lists the
// names that take most time.
void DrawLegendTip(const Ui& ui, const Workspace& workspace, StageId stage) {
  if (!ImGui::IsItemHovered()) return;
  std::vector<NamedPart> names;
  for (const NamedPart& part : workspace.document.timeline->names) {
    if (part.stage == stage) names.push_back(part);
  }
  const auto& trace = workspace.document.trace;
  const std::optional<Text> meaning = MeaningOf(stage);
  const std::string first = meaning ? ui.T(*meaning) + std::string("\n") : "";
  if (names.empty() || trace == nullptr) return Tip(ui, first + ui.T(Text::kLegendTip));
  BeginCard(ui);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float y = at.y;
  float width = 0;
  const auto draw = [&](const char* line) {
    width = std::max(width, TextWidth(ui.small, line));
    DrawText(list, ui.small, {at.x, y}, Ink(ui.palette().dim), line);
    y += FontPixels(ui.small) + ui.Px(6);
  };
  if (meaning) draw(ui.T(*meaning));
  draw(ui.T(Text::kLegendTip));
  for (const NamedPart& part : names) {
    const float size = ui.Px(9);
    list->AddRectFilled({at.x, y + ui.Px(3)}, {at.x + size, y + ui.Px(3) + size},
                        Ink(NamedColour(part.colour, ui.theme)), ui.Px(2));
    const std::string name =
        Elided(ui.small, analyzer::PlainText(trace->String(part.name), 200), ui.Px(380));
    DrawText(list, ui.small, {at.x + ui.Px(15), y}, Ink(ui.palette().text), name);
    width = std::max(width, TextWidth(ui.small, name) + ui.Px(15));
    y += FontPixels(ui.small) + ui.Px(4);
  }
  ImGui::Dummy({width, y - at.y - ui.Px(4)});
  EndCard();
}

// The word for a stage. Says so if its spans are coloured by name.
std::string LegendName(const Ui& ui, const Timeline& timeline, StageId stage) {
  const std::string_view word = WordOf(stage, ui.language);
  return timeline.ColoursOf(stage).empty() ? std::string(word) : ui.F(Text::kByName, word);
}

// Draws what the strips and bands of experiments are, at the right. Returns its width; 0 if the run
// has none.
float DrawExperimentLegend(const Ui& ui, const Workspace& workspace, Area area) {
  const auto& analysis = workspace.document.analysis;
  if (!analysis || ExperimentsOf(analysis->report.diagnosis.run).empty()) return 0;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const char* const name = ui.T(Text::kLegendExperiment);
  const float width = TextWidth(ui.small, name) + ui.Px(19);
  const float left = area.max.x - width;
  const float middle = (area.min.y + area.max.y) / 2;
  const ImVec2 a{left + ui.Px(4), middle - ui.Px(4.5F)};
  const ImVec2 b{left + ui.Px(13), middle + ui.Px(4.5F)};
  list->AddRectFilled(a, b, Ink(p.accent, 0.2));
  list->AddRectFilled(a, {b.x, a.y + ui.Px(4)}, Ink(p.accent, kExperimentStrip));
  DrawText(list, ui.small, {left + ui.Px(17), middle - FontPixels(ui.small) / 2}, Ink(p.text),
           name);
  ImGui::SetCursorScreenPos({left, area.min.y});
  ImGui::Dummy({width, area.height()});
  Tip(ui, ui.T(Text::kLegendExperimentTip));
  return width + ui.Px(6);
}

}  // namespace

void DrawLegend(const Ui& ui, Workspace& workspace, float left, float right, float y) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = ImGui::GetFrameHeight();
  right -= DrawExperimentLegend(ui, workspace, {{left, y}, {right, y + height}});
  const Timeline& timeline = *workspace.document.timeline;
  const std::vector<StageId>& stages = timeline.stages;
  float whole = 0;
  for (const StageId stage : stages) {
    whole += TextWidth(ui.small, LegendName(ui, timeline, stage)) + ui.Px(25);
  }
  float x = std::max(left, right - whole);
  const float more = whole > right - left ? TextWidth(ui.small, "+00") : 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageId stage = stages[i];
    const std::string name = LegendName(ui, timeline, stage);
    const float width = TextWidth(ui.small, name) + ui.Px(19);
    if (x + width + more > right) {
      DrawStagesWithoutRoom(ui, std::span(stages).subspan(i), {{x, y}, {right, y + height}});
      break;
    }
    const bool shown = workspace.timeline.Shows(stage);
    ImGui::SetCursorScreenPos({x, y});
    ImGui::PushID(static_cast<int>(stage));
    if (ImGui::InvisibleButton("##stage", {width, height})) {
      if (ImGui::GetIO().KeyCtrl) {
        workspace.timeline.Solo(stage);
      } else {
        workspace.timeline.Toggle(stage);
      }
    }
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      list->AddRectFilled({x, y}, {x + width, y + height}, Ink(p.accent, 0.12), ui.Px(5));
    }
    DrawLegendTip(ui, workspace, stage);
    const float middle = y + height / 2;
    const ImVec2 a{x + ui.Px(4), middle - ui.Px(4.5F)};
    const ImVec2 b{x + ui.Px(13), middle + ui.Px(4.5F)};
    if (shown) {
      FillSwatch(ui, timeline, stage, {a, b});
    } else {
      list->AddRect(a, b, Ink(p.dim), ui.Px(2));
    }
    DrawText(list, ui.small, {x + ui.Px(17), middle - FontPixels(ui.small) / 2},
             Ink(shown ? p.text : p.dim), name);
    x += width + ui.Px(6);
  }
}

}  // namespace penstock::gui
