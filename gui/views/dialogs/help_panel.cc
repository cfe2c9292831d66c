// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs/help_panel.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "gui/widgets/draw.h"
#include "gui/widgets/keys.h"

namespace penstock::gui {
namespace {

struct Line {
  std::string_view keys;
  Text does;
};

constexpr std::array kLines = {
    Line{"W  S   + -   {zooms}", Text::kKeyZoom},
    Line{"A  D   ← →   Shift+{wheel}", Text::kKeyPan},
    Line{"{scrolls}   ↑ ↓   PgUp PgDn", Text::kKeyScroll},
    Line{"0   Home", Text::kKeyFit},
    Line{"F   {double_click}", Text::kKeyFocus},
    Line{".  ,", Text::kKeyNext},
    Line{"[  ]", Text::kKeyBatch},
    Line{"/   Ctrl+F", Text::kKeySearch},
    Line{"\"…\"", Text::kKeyQuotes},
    Line{"{group}", Text::kKeyGroup},
    Line{"{drag}", Text::kKeySelect},
    Line{"Ctrl+1 … 9,  1 … 9", Text::kKeyBookmark},
    Line{"{click}", Text::kKeyFold},
    Line{"{right_click}   Shift+F10", Text::kKeyMenu},
    Line{"V", Text::kKeySelectVisible},
    Line{"M,  Shift+M", Text::kKeyMark},
    Line{"B", Text::kKeyMarks},
    Line{"L", Text::kKeyLongest},
    Line{"P", Text::kKeyPin},
    Line{"Q", Text::kKeyPanel},
    Line{"Alt+←  Alt+→", Text::kKeyBack},
    Line{"Esc", Text::kKeyClear},
    Line{"F6", Text::kKeyWalk},
    Line{"Ctrl+P", Text::kKeyCommands},
    Line{"Alt+1 … 9   Alt+0", Text::kKeyViews},
    Line{"F   ← → ↑ ↓   Enter", Text::kKeyFunctions},
    Line{"Ctrl+O   Ctrl+Shift+O   Ctrl+R", Text::kKeyOpen},
    Line{"Ctrl+E   Ctrl+Shift+P   Ctrl+Shift+H", Text::kKeyExport},
    Line{"Ctrl+Shift+C", Text::kCopyCommand},
    Line{"Ctrl + -   Ctrl 0", Text::kKeyScale},
    Line{"Ctrl+Q", Text::kKeyQuit},
};

// The keys of a line, with mouse actions in the window's language.
std::string KeysOf(const Ui& ui, const Line& line, Wheel wheel) {
  const std::string alone = ui.T(Text::kMouseWheel);
  const std::string with_ctrl = "Ctrl+" + alone;
  const bool zooms = wheel == Wheel::kZoom;
  return fmt::format(
      fmt::runtime(line.keys), fmt::arg("wheel", alone),
      fmt::arg("zooms", zooms ? alone : with_ctrl), fmt::arg("scrolls", zooms ? with_ctrl : alone),
      fmt::arg("drag", ui.T(Text::kMouseDrag)), fmt::arg("click", ui.T(Text::kMouseClick)),
      fmt::arg("group", ui.T(Text::kGroupExample)),
      fmt::arg("right_click", ui.T(Text::kMouseRightClick)),
      fmt::arg("double_click", ui.T(Text::kMouseDoubleClick)));
}

// Draws the lines from the cursor on, in a column of `width`.
void DrawKeyLines(const Ui& ui, Wheel wheel, float pitch, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float keys = 0;
  for (const Line& line : kLines) {
    keys = std::max(keys, TextWidth(ui.strong, KeysOf(ui, line, wheel)));
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float does = keys + ui.Px(20);
  float y = at.y;
  for (const Line& line : kLines) {
    DrawText(list, ui.strong, {at.x, y}, Ink(p.accent), KeysOf(ui, line, wheel));
    DrawShortened(ui, ui.body, {at.x + does, y}, Ink(p.text), ui.T(line.does), width - does);
    y += pitch;
  }
  ImGui::Dummy({1, y - at.y});
}

// Scrolls the lines by keys. Dear ImGui handles the wheel.
void ScrollByKeys(const Ui& ui, float room) {
  float by = 0;
  if (Pressed(Key::kDown, true)) by += ui.Px(40);
  if (Pressed(Key::kUp, true)) by -= ui.Px(40);
  if (Pressed(Key::kPageDown, true)) by += 0.9F * room;
  if (Pressed(Key::kPageUp, true)) by -= 0.9F * room;
  if (by != 0) {
    ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() + by, 0.0F, ImGui::GetScrollMaxY()));
  }
}

}  // namespace

void DrawHelp(const Ui& ui, bool* open, Wheel* wheel) {
  const Palette& p = ui.palette();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float head = ui.Px(50);
  const float foot = ui.Px(48);
  // In a low window the lines stand closer together. If they still do not fit, they scroll.
  const auto count = static_cast<float>(kLines.size());
  const float most = screen.y - ui.Px(20) - head - foot;
  const float pitch =
      std::clamp(most / count, FontPixels(ui.body) + ui.Px(1), FontPixels(ui.body) + ui.Px(8));
  const float lines = std::min(pitch * count, std::max(most, ui.Px(40)));
  const ImVec2 size{std::min(ui.Px(640), screen.x - ui.Px(30)), head + lines + foot};
  ImGui::SetNextWindowPos({(screen.x - size.x) / 2, std::max(0.0F, (screen.y - size.y) / 2)});
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, Tint(p.panel));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.Px(10));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin(
      "##help", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  const ImVec2 at = ImGui::GetWindowPos();
  DrawText(ImGui::GetWindowDrawList(), ui.title, {at.x + ui.Px(20), at.y + ui.Px(14)}, Ink(p.text),
           ui.T(Text::kKeys));
  const Area list{{at.x + ui.Px(20), at.y + head},
                  {at.x + size.x - ui.Px(10), at.y + head + lines}};
  BeginArea("lines", list, lines < pitch * count);
  DrawKeyLines(ui, *wheel, pitch, ImGui::GetContentRegionAvail().x - ui.Px(5));
  ScrollByKeys(ui, lines);
  EndArea();
  ImGui::SetCursorScreenPos({at.x + ui.Px(20), list.max.y + ui.Px(6)});
  bool zooms = *wheel == Wheel::kZoom;
  if (TickBox(ui, ui.T(Text::kWheelZooms), &zooms)) {
    *wheel = zooms ? Wheel::kZoom : Wheel::kScroll;
  }
  const bool outside =
      ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
  if (Pressed(Key::kEscape) || outside) *open = false;
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace penstock::gui
