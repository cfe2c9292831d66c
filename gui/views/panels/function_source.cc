// SPDX-License-Identifier: Apache-2.0
//
// The source of a function with the time of each line in the margin.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/stage_panels.h"

namespace penstock::gui {
namespace {

// The chosen function if it has a row in the table, else its nearest caller that has one. nullptr:
// there is none.
const FunctionLine* SourceShown(const FlameView& view) {
  const UnitProfile& profile = view.profile;
  if (const FunctionLine* chosen = profile.Find(view.chosen)) return chosen;
  if (!view.frame) return nullptr;
  std::size_t frame = *view.frame;
  while (profile.frames[frame].parent != frame) {
    frame = profile.frames[frame].parent;
    if (const FunctionLine* caller = profile.Find(profile.frames[frame].id)) return caller;
  }
  return nullptr;
}

std::size_t HottestOf(const FunctionLine& function) {
  const auto hottest =
      std::max_element(function.source.begin(), function.source.end(),
                       [](const SourceLine& a, const SourceLine& b) { return a.share < b.share; });
  return static_cast<std::size_t>(hottest - function.source.begin());
}

class SourceDrawing {
 public:
  SourceDrawing(const Ui& ui, const UnitProfile& profile, const FunctionLine& function)
      : ui_(ui),
        profile_(profile),
        readable_(function.readable()),
        pitch_(FontPixels(ui.mono) + ui.Px(4)) {
    for (const SourceLine& line : function.source) most_ = std::max(most_, line.share);
  }

  [[nodiscard]] float pitch() const { return pitch_; }

  void Draw(const SourceLine& line) const {
    const Palette& p = ui_.palette();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::PushID(static_cast<int>(line.number));
    ImGui::InvisibleButton("##line", {std::max(width, 1.0F), pitch_});
    ImGui::PopID();
    const float margin = ui_.Px(64);
    const float y = at.y + (pitch_ - FontPixels(ui_.mono)) / 2;
    if (line.share > 0) {
      const auto part = static_cast<float>(line.share / most_);
      list->AddRectFilled({at.x, at.y}, {at.x + margin * part, at.y + pitch_ - ui_.Px(1)},
                          Ink(p.warn, 0.16 + 0.3 * line.share / most_), ui_.Px(2));
      DrawTextRight(list, ui_.small, at.x + margin - ui_.Px(4), y, Ink(p.text),
                    analyzer::PercentText(line.share * profile_.scale()));
    }
    const float number = at.x + margin + ui_.Px(44);
    if (!readable_) {
      DrawText(list, ui_.small, {at.x + margin + ui_.Px(14), y}, Ink(p.dim),
               ui_.F(Text::kSourceLine, line.number));
      if (ImGui::IsItemHovered()) DrawTip(line, false);
      return;
    }
    DrawTextRight(list, ui_.mono, number, y, Ink(p.dim), fmt::format("{}", line.number));
    const float text = number + ui_.Px(14);
    const std::string shown = Elided(ui_.mono, line.text, at.x + width - text);
    DrawText(list, ui_.mono, {text, y}, Ink(line.share > 0 ? p.text : p.dim), shown);
    if (ImGui::IsItemHovered()) DrawTip(line, shown != line.text);
  }

 private:
  // Shows the time of the line, and all of its text if it was `cut`.
  void DrawTip(const SourceLine& line, bool cut) const {
    std::string tip;
    if (line.share > 0) {
      tip = ui_.F(Text::kSourceLineTip, line.number,
                  analyzer::DurationText(line.share * profile_.unit_time),
                  PerUnit(ui_, profile_.stage), analyzer::ShortNumber(line.count));
    }
    if (cut) tip += (tip.empty() ? "" : "\n") + line.text;
    if (!tip.empty()) Tip(ui_, tip);
  }

  const Ui& ui_;
  const UnitProfile& profile_;
  bool readable_;
  float pitch_;
  double most_ = 1e-9;
};

// Draws file, line and name of the function, and below them the path. If `function` is a caller of
// the chosen function, draws the name of the chosen function too. Returns the area below.
Area DrawSourceHead(const Ui& ui, const FlameView& view, const FunctionLine& function, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string title = TitleOf(function.id);
  DrawShortened(ui, ui.strong, area.min, Ink(p.text), title, area.width());
  const float at = area.min.x + TextWidth(ui.strong, title) + ui.Px(12);
  if (function.id != view.chosen && at + ui.Px(60) < area.max.x) {
    DrawShortened(ui, ui.body, {at, area.min.y}, Ink(p.dim),
                  ui.F(Text::kSourceCaller, ShortNameOf(view.chosen)), area.max.x - at);
  }
  area.min.y += FontPixels(ui.strong) + ui.Px(3);
  DrawText(list, ui.small, area.min, Ink(p.dim),
           PathElided(ui.small, function.id.file, area.width()));
  area.min.y += FontPixels(ui.small) + ui.Px(7);
  return area;
}

// Says why something is missing or not sure. Returns the area below.
Area DrawSourceNote(const Ui& ui, const std::string& text, Rgb colour, Area area) {
  ImGui::SetCursorScreenPos(area.min);
  area.min.y += Paragraph(ui, ui.small, colour, text, area.width()) + ui.Px(4);
  return area;
}

}  // namespace

void DrawFunctionSource(const Ui& ui, Workspace& workspace, const FlameView& view, Area area) {
  const FunctionLine* function = SourceShown(view);
  if (function == nullptr) {
    return DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(ui.palette().dim),
                           Elided(ui.body, ui.T(Text::kSourceNone), area.width()));
  }
  area = DrawSourceHead(ui, view, *function, area);
  const Palette& p = ui.palette();
  const std::string source = SourceNoteOf(*function, ui.language);
  const bool moved = function->readable() && !source.empty();
  if (!source.empty()) area = DrawSourceNote(ui, source, moved ? p.warn : p.dim, area);
  if (function->id.file.empty()) return;
  const std::string unlined = UnlinedNoteOf(view.profile, *function, ui.language);
  if (!unlined.empty()) area = DrawSourceNote(ui, unlined, p.dim, area);
  const std::string lines = LinesNoteOf(view.profile, *function, ui.language);
  if (!lines.empty()) area = DrawSourceNote(ui, lines, p.dim, area);
  BeginArea("source", area, true);
  const SourceDrawing drawing(ui, view.profile, *function);
  std::optional<FunctionId>& revealed = workspace.stages.functions.revealed;
  if (revealed != function->id) {
    revealed = function->id;
    const float hottest = static_cast<float>(HottestOf(*function)) * drawing.pitch();
    ImGui::SetScrollY(std::max(0.0F, hottest - area.height() / 2));
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(function->source.size()), drawing.pitch());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      drawing.Draw(function->source[static_cast<std::size_t>(i)]);
    }
  }
  ImGui::PopStyleVar();
  EndArea();
}

}  // namespace penstock::gui
