// SPDX-License-Identifier: Apache-2.0
//
// Draws bookmarks and notes: flags on the axis, and the list of them.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/timeline/experiments.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/timeline/timeline_canvas.h"

namespace penstock::gui {
namespace {

std::string RangeText(TimeRange range) {
  return fmt::format("{}  +{}", TimeText(range.from, range.length() / 100 + 1),
                     analyzer::DurationText(static_cast<double>(range.length()) * 1e-9));
}

// Draws a line of the list: a flag, the times of the mark, and a cross that removes it. Returns
// whether the flag or the times were clicked.
bool DrawMark(const Ui& ui, const std::string& flag, TimeRange range, bool* remove) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = ui.Px(24);
  const bool chosen = ImGui::Selectable("##go", false, kMayBeCovered, {width - ui.Px(26), height});
  const ImVec2 at = ImGui::GetItemRectMin();
  const Area box{{at.x, at.y + ui.Px(4)}, {at.x + ui.Px(20), at.y + ui.Px(20)}};
  list->AddRectFilled(box.min, box.max, Ink(p.accent), ui.Px(3));
  DrawTextCentred(list, ui.small, box, Ink(InkOn(p.accent)), flag);
  DrawText(list, ui.body, {at.x + ui.Px(28), at.y + (height - FontPixels(ui.body)) / 2},
           Ink(p.text), Elided(ui.body, RangeText(range), width - ui.Px(60)));
  ImGui::SameLine(width - ui.Px(22));
  *remove = ImGui::SmallButton("×");
  return chosen;
}

// The experiments in the visible window.
std::vector<Experiment> ExperimentsIn(const TimelineCanvas& canvas) {
  const auto& analysis = canvas.workspace.document.analysis;
  if (!analysis) return {};
  std::vector<Experiment> found = ExperimentsOf(analysis->report.diagnosis.run);
  std::erase_if(found, [&](const Experiment& one) {
    return one.range.to <= canvas.window.from || one.range.from >= canvas.window.to;
  });
  return found;
}

}  // namespace

void DrawExperiments(const TimelineCanvas& canvas, Area axis) {
  const Ui& ui = canvas.ui;
  const Rgb colour = ui.palette().accent;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const Experiment& experiment : ExperimentsIn(canvas)) {
    const float x0 = std::max(canvas.X(experiment.range.from), canvas.plot.min.x);
    const float x1 = std::max(std::min(canvas.X(experiment.range.to), canvas.plot.max.x), x0 + 1);
    list->AddRectFilled({x0, axis.max.y - ui.Px(4)}, {x1, axis.max.y},
                        Ink(colour, kExperimentStrip));
    list->AddRectFilled({x0, axis.max.y}, {x1, canvas.plot.max.y}, Ink(colour, 0.07));
    const bool over = ImGui::IsMouseHoveringRect({x0, axis.min.y}, {x1, axis.max.y});
    if (!over || !ImGui::IsWindowHovered()) continue;
    const std::string text = ExperimentText(experiment, ui.language);
    BeginCard(ui);
    Paragraph(ui, ui.body, ui.palette().text, text, TextWidth(ui.body, text) + 1);
    EndCard();
  }
}

void DrawExperimentNames(const TimelineCanvas& canvas) {
  const Ui& ui = canvas.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = canvas.plot.max.y - FontPixels(ui.small) - ui.Px(4);
  for (const Experiment& experiment : ExperimentsIn(canvas)) {
    const float x0 = std::max(canvas.X(experiment.range.from), canvas.plot.min.x) + ui.Px(4);
    const float x1 = std::min(canvas.X(experiment.range.to), canvas.plot.max.x);
    const std::string text = ExperimentText(experiment, ui.language);
    const float width = TextWidth(ui.small, text);
    if (x0 + width + ui.Px(4) > x1) continue;
    list->AddRectFilled({x0 - ui.Px(3), y - ui.Px(1)},
                        {x0 + width + ui.Px(3), y + FontPixels(ui.small) + ui.Px(2)},
                        Ink(ui.palette().panel), ui.Px(3));
    DrawText(list, ui.small, {x0, y}, Ink(ui.palette().text), text);
  }
}

void DrawMarkFlags(const TimelineCanvas& canvas, Area axis) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const TimelineState& state = canvas.workspace.timeline;
  for (std::size_t n = 0; n < state.notes.size(); ++n) {
    const Note& note = state.notes[n];
    const float x0 = canvas.X(note.range.from);
    const float x1 = std::max(canvas.X(note.range.to), x0 + ui.Px(2));
    if (x1 < canvas.plot.min.x || x0 > canvas.plot.max.x) continue;
    list->AddRectFilled({x0, axis.min.y}, {x1, axis.max.y}, Ink(p.warn, 0.28));
    for (const float x : {x0, x1}) {
      list->AddLine({x, axis.min.y}, {x, canvas.plot.max.y}, Ink(p.warn, 0.55), ui.Px(1));
    }
    const std::string name = note.text.empty() ? fmt::format("#{}", n + 1) : note.text;
    const float left = std::max(x0, canvas.plot.min.x) + ui.Px(4);
    DrawText(list, ui.small, {left, axis.min.y + ui.Px(2)}, Ink(p.text),
             Elided(ui.small, name, std::max(x1 - left, ui.Px(24))));
  }
  for (std::size_t b = 0; b < state.bookmarks.size(); ++b) {
    const auto& mark = state.bookmarks[b];
    if (!mark) continue;
    const float x = canvas.X((mark->from + mark->to) / 2);
    const Area flag{{x - ui.Px(7), axis.min.y}, {x + ui.Px(7), axis.min.y + ui.Px(14)}};
    list->AddRectFilled(flag.min, flag.max, Ink(p.accent), ui.Px(3));
    DrawTextCentred(list, ui.small, flag, Ink(InkOn(p.accent)), std::to_string(b + 1));
  }
}

void DrawMarks(const TimelineCanvas& canvas, Area area) {
  const Ui& ui = canvas.ui;
  const Palette& p = ui.palette();
  TimelineState& state = canvas.workspace.timeline;
  const auto set = std::count_if(state.bookmarks.begin(), state.bookmarks.end(),
                                 [](const auto& mark) { return mark.has_value(); });
  const float lines = static_cast<float>(set) + 2.1F * static_cast<float>(state.notes.size());
  const float wanted = ui.Px(80) + ui.Px(29) * std::max(lines, 1.5F);
  const float width = std::min(ui.Px(300), area.width() - ui.Px(20));
  const float top = area.min.y + ui.Px(8);
  ImGui::SetNextWindowPos({area.max.x - width - ui.Px(8), top});
  ImGui::SetNextWindowSize({width, std::min(wanted, area.max.y - top - ui.Px(8))});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, Tint(p.panel));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.Px(12), ui.Px(10)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.Px(8));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin("##marks", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  DrawText(ImGui::GetWindowDrawList(), ui.strong, ImGui::GetCursorScreenPos(), Ink(p.text),
           ui.T(Text::kMarks));
  ImGui::Dummy({1, FontPixels(ui.strong) + ui.Px(4)});
  if (set == 0 && state.notes.empty()) {
    Paragraph(ui, ui.small, p.dim, ui.T(Text::kNoMarks), width - ui.Px(26));
  }
  for (std::size_t b = 0; b < state.bookmarks.size(); ++b) {
    auto& mark = state.bookmarks[b];
    if (!mark) continue;
    bool remove = false;
    ImGui::PushID(static_cast<int>(b));
    if (DrawMark(ui, std::to_string(b + 1), *mark, &remove)) state.Jump(*mark);
    ImGui::PopID();
    if (remove) mark.reset();
  }
  for (std::size_t n = 0; n < state.notes.size(); ++n) {
    Note& note = state.notes[n];
    bool remove = false;
    ImGui::PushID(static_cast<int>(100 + n));
    if (DrawMark(ui, fmt::format("#{}", n + 1), note.range, &remove)) {
      const auto margin = note.range.length() / 10 + 20;
      state.Jump({note.range.from - margin, note.range.to + margin});
    }
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    ImGui::InputTextWithHint("##text", ui.T(Text::kNoteHint), &note.text);
    ImGui::PopID();
    if (remove) {
      state.notes.erase(state.notes.begin() + static_cast<std::ptrdiff_t>(n));
      break;
    }
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
}

}  // namespace penstock::gui
