// SPDX-License-Identifier: Apache-2.0
//
// The sweep view: which settings are best, how the others compare, and links to the traces.
#include <algorithm>
#include <cmath>

#include "gui/model/penstock_command.h"
#include "gui/views/files/sweep_parts.h"
#include "gui/views/panel_parts.h"

namespace penstock::gui {
namespace {

// Draws the page that is shown while no sweep is open.
void DrawNoSweep(const Ui& ui, Workspace& workspace, Area area) {
  const Palette& p = ui.palette();
  const float width = BeginColumn(ui, area, 620, 0.22F);
  Paragraph(ui, ui.big, p.text, ui.T(Text::kSweepNone), width);
  Paragraph(ui, ui.body, p.dim, ui.T(Text::kSweepHow), width);
  ImGui::Dummy({1, ui.Px(4)});
  if (PrimaryButton(ui, ui.T(Text::kOpenSweep))) workspace.wish = {WishKind::kChoose, {}, {}};
  ImGui::Dummy({1, ui.Px(10)});
  Paragraph(ui, ui.body, p.dim, ui.T(Text::kSweepMake), width);
  CodeBox(ui, workspace,
          PenstockCommand(workspace.document.trace.get(),
                          "sweep --workers 0,2,4,8 --prefetch 2,4 --keep runs --json sweep.json"),
          width);
  ImGui::EndGroup();
}

// Draws the result in a sentence. Returns its height.
float DrawAnswer(const Ui& ui, const Sweep& sweep, Area area) {
  const Palette& p = ui.palette();
  const SweepAnswer answer = AnswerOf(sweep, ui.language);
  const float width = area.width() - ui.Px(28);
  const auto lines = WrapText(ui.title, answer.sentence, width);
  const auto seconds =
      answer.second.empty() ? std::vector<std::string>{} : WrapText(ui.body, answer.second, width);
  const float title = FontPixels(ui.title) + ui.Px(4);
  const float body = FontPixels(ui.body) + ui.Px(4);
  const float height = ui.Px(24) + title * static_cast<float>(lines.size()) +
                       body * static_cast<float>(seconds.size()) + FontPixels(ui.small) + ui.Px(2);
  const Area in = Panel(ui, {area.min, {area.max.x, area.min.y + height}});
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = in.min.y;
  for (const std::string& line : lines) {
    DrawText(list, ui.title, {in.min.x, y}, Ink(p.text), line);
    y += title;
  }
  for (const std::string& line : seconds) {
    DrawText(list, ui.body, {in.min.x, y}, Ink(sweep.suggested != sweep.best ? p.good : p.dim),
             line);
    y += body;
  }
  const std::string note = SweepNote(sweep, ui.language);
  DrawText(list, ui.small, {in.min.x, y + ui.Px(2)}, Ink(p.dim),
           Elided(ui.small, note, in.width()));
  ImGui::SetCursorScreenPos({in.min.x, y});
  ImGui::InvisibleButton("##note", {in.width(), FontPixels(ui.small) + ui.Px(4)});
  Tip(ui, sweep.path.string() + "\n" + note);
  return height;
}

float ChooserWidth(const Ui& ui, const std::string& label, const std::vector<std::string>& values) {
  float width = ui.Px(20);
  for (const std::string& value : values) width = std::max(width, TextWidth(ui.body, value));
  return TextWidth(ui.body, label) + ui.Px(6) + std::min(width, ui.Px(150)) + ui.Px(44);
}

// Draws a list of values at the cursor. Returns whether another value was chosen.
bool Chooser(const Ui& ui, const char* id, const std::string& label,
             const std::vector<std::string>& values, std::size_t* chosen) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(Tint(ui.palette().dim), "%s", label.c_str());
  ImGui::SameLine(0, ui.Px(6));
  const float width = ChooserWidth(ui, label, values) - TextWidth(ui.body, label) - ui.Px(6);
  ImGui::SetNextItemWidth(width);
  bool changed = false;
  if (ImGui::BeginCombo(id, values[*chosen].c_str())) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable(values[i].c_str(), i == *chosen) && i != *chosen) {
        *chosen = i;
        changed = true;
      }
      ImGui::PopID();
    }
    ImGui::EndCombo();
  }
  return changed;
}

// Draws lists to choose the two axes of the map, and a value for each of the other axes. Returns
// their height.
float DrawChoosers(const Ui& ui, SweepViewState& state, Area area) {
  const Sweep& sweep = *state.file;
  const float row = ImGui::GetFrameHeight() + ui.Px(5);
  std::vector<std::string> names;
  for (const SweepAxis& axis : sweep.axes) names.push_back(AxisName(axis.name, ui.language));
  float x = area.min.x;
  float y = area.min.y;
  const auto choose = [&](int id, const std::string& label, const std::vector<std::string>& values,
                          std::size_t* chosen) {
    const float width = ChooserWidth(ui, label, values);
    if (x > area.min.x && x + width > area.max.x) {
      x = area.min.x;
      y += row;
    }
    ImGui::SetCursorScreenPos({x, y});
    x += width + ui.Px(14);
    ImGui::PushID(id);
    const bool changed = Chooser(ui, "##chooser", label, values, chosen);
    ImGui::PopID();
    return changed;
  };
  std::size_t across = *state.look.across;
  if (choose(-1, ui.T(Text::kAcross), names, &across)) state.look = WithAcross(state.look, across);
  if (state.look.down) {
    std::size_t down = *state.look.down;
    if (choose(-2, ui.T(Text::kDown), names, &down)) state.look = WithDown(state.look, down);
  }
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (a == state.look.across || a == state.look.down) continue;
    choose(static_cast<int>(a), names[a], sweep.axes[a].values, &state.look.fixed[a]);
  }
  return y + row - area.min.y + ui.Px(5);
}

// Draws the map and the curves; bars for an ablation, which has no axes.
void DrawPlots(const Ui& ui, SweepViewState& state, Area area, std::optional<std::size_t>* hot) {
  const float gap = ui.Px(10);
  if (!state.look.across) {
    const Area in = Panel(ui, area);
    DrawSweepSteps(ui, state, Headed(ui, in, ui.T(Text::kSweepSteps)));
    return;
  }
  const float half = std::floor((area.width() - gap) / 2);
  const Area left = Panel(ui, {area.min, {area.min.x + half, area.max.y}});
  Area map = Headed(ui, left, ui.T(Text::kSweepMap));
  map.min.y += DrawChoosers(ui, state, map);
  *hot = DrawSweepMap(ui, state, map);
  const Area right = Panel(ui, {{area.min.x + half + gap, area.min.y}, area.max});
  const std::string axis = AxisName(state.file->axes[*state.look.across].name, ui.language);
  const std::string title = ui.F(Text::kSweepCurves, axis);
  const float room = right.width() - TextWidth(ui.strong, title) - ui.Px(16);
  const bool repeated = state.file->repeats != 1;
  if (repeated && TextWidth(ui.small, ui.T(Text::kSweepSpread)) <= room) {
    DrawTextRight(ImGui::GetWindowDrawList(), ui.small, right.max.x, right.min.y + ui.Px(2),
                  Ink(ui.palette().dim), ui.T(Text::kSweepSpread));
  }
  DrawSweepCurves(ui, state, Headed(ui, right, Elided(ui.strong, title, right.width())));
}

}  // namespace

Rgb CurveColour(const Ui& ui, std::size_t row) {
  using traces::StageId;
  constexpr std::array kCurveColours = {StageId::kRead,    StageId::kWait, StageId::kAugment,
                                        StageId::kDecode,  StageId::kH2d,  StageId::kCollate,
                                        StageId::kStartup, StageId::kSync};
  return StageColour(kCurveColours[row % kCurveColours.size()], ui.theme);
}

void DrawSweep(const Ui& ui, Workspace& workspace, Area area) {
  SweepViewState& state = workspace.sweep;
  if (!state.file) return DrawNoSweep(ui, workspace, area);
  const Sweep& sweep = *state.file;
  const float gap = ui.Px(10);
  area = BeginScrolled("sweep view", area, ui.Px(560));
  const Area whole = area;
  area.min.y += DrawAnswer(ui, sweep, area) + gap;
  std::optional<std::size_t> hot;
  const float middle = area.min.y + std::floor((area.height() - gap) * 0.54F);
  DrawPlots(ui, state, {area.min, {area.max.x, middle}}, &hot);
  const float y = middle + gap;
  const float right = std::min(ui.Px(430), area.width() * 0.4F);
  const float x = area.max.x - right;
  DrawSweepTable(
      ui, state,
      Headed(ui, Panel(ui, {{area.min.x, y}, {x - gap, area.max.y}}), ui.T(Text::kSweepAllRuns)));
  const std::size_t shown = hot ? *hot : state.chosen ? *state.chosen : sweep.best.value_or(0);
  DrawSweepCell(ui, workspace, shown, Panel(ui, {{x, y}, area.max}));
  EndScrolled(whole);
}

}  // namespace penstock::gui
