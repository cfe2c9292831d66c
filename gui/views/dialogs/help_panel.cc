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
    Line{"{drag}", Text::kKeySelect},
    Line{"Ctrl+1 … 9,  1 … 9", Text::kKeyBookmark},
    Line{"{click}", Text::kKeyFold},
    Line{"M,  Shift+M", Text::kKeyMark},
    Line{"B", Text::kKeyMarks},
    Line{"L", Text::kKeyLongest},
    Line{"P", Text::kKeyPin},
    Line{"Q", Text::kKeyPanel},
    Line{"Alt+←  Alt+→", Text::kKeyBack},
    Line{"Esc", Text::kKeyClear},
    Line{"Ctrl+P", Text::kKeyCommands},
    Line{"Alt+1 … 9", Text::kKeyViews},
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
      fmt::arg("double_click", ui.T(Text::kMouseDoubleClick)));
}

}  // namespace

void DrawHelp(const Ui& ui, bool* open, Wheel* wheel) {
  const Palette& p = ui.palette();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  // In a low window the lines stand closer.
  const float room = (screen.y - ui.Px(118)) / static_cast<float>(kLines.size());
  const float pitch =
      std::clamp(room, FontPixels(ui.body) + ui.Px(1), FontPixels(ui.body) + ui.Px(8));
  const ImVec2 size{std::min(ui.Px(640), screen.x - ui.Px(30)),
                    ui.Px(98) + pitch * static_cast<float>(kLines.size())};
  ImGui::SetNextWindowPos({(screen.x - size.x) / 2, std::max(0.0F, (screen.y - size.y) / 2)});
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, Tint(p.panel));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.Px(10));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin(
      "##help", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetWindowPos();
  DrawText(list, ui.title, {at.x + ui.Px(20), at.y + ui.Px(14)}, Ink(p.text), ui.T(Text::kKeys));
  float keys = 0;
  for (const Line& line : kLines) {
    keys = std::max(keys, TextWidth(ui.strong, KeysOf(ui, line, *wheel)));
  }
  const float does = keys + ui.Px(40);
  float y = at.y + ui.Px(50);
  for (const Line& line : kLines) {
    DrawText(list, ui.strong, {at.x + ui.Px(20), y}, Ink(p.accent), KeysOf(ui, line, *wheel));
    DrawShortened(ui, ui.body, {at.x + does, y}, Ink(p.text), ui.T(line.does),
                  size.x - does - ui.Px(15));
    y += pitch;
  }
  ImGui::SetCursorScreenPos({at.x + ui.Px(20), y + ui.Px(6)});
  bool zooms = *wheel == Wheel::kZoom;
  if (ImGui::Checkbox(ui.T(Text::kWheelZooms), &zooms)) {
    *wheel = zooms ? Wheel::kZoom : Wheel::kScroll;
  }
  const bool outside = ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered();
  if (Pressed(Key::kEscape) || outside) *open = false;
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace penstock::gui
