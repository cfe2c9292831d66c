// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/ui.h"

#include <algorithm>
#include <cmath>

namespace penstock::gui {

ImU32 Ink(Rgb colour, double alpha) {
  const auto a = static_cast<ImU32>(std::lround(255 * std::clamp(alpha, 0.0, 1.0)));
  return a << 24 | static_cast<ImU32>(colour.b) << 16 | static_cast<ImU32>(colour.g) << 8 |
         static_cast<ImU32>(colour.r);
}

ImVec4 Tint(Rgb colour, double alpha) {
  return {static_cast<float>(colour.r) / 255, static_cast<float>(colour.g) / 255,
          static_cast<float>(colour.b) / 255, static_cast<float>(alpha)};
}

ImU32 Ui::Stage(traces::StageId stage, double alpha) const {
  return Ink(StageColour(stage, theme), alpha);
}

void ApplyTheme(const Ui& ui) {
  const Palette& p = ui.palette();
  ImGuiStyle style;  // a new one, because ScaleAllSizes() multiplies
  style.WindowPadding = {14, 12};
  style.FramePadding = {10, 5};
  style.ItemSpacing = {8, 7};
  style.CellPadding = {8, 4};
  style.WindowRounding = 0;
  style.ChildRounding = 8;
  style.FrameRounding = 6;
  style.PopupRounding = 8;
  style.GrabRounding = 6;
  style.ScrollbarRounding = 6;
  style.TabRounding = 6;
  style.ScrollbarSize = 11;
  style.GrabMinSize = 14;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.PopupBorderSize = 1;
  style.ScaleAllSizes(ui.scale);
  ImVec4* c = style.Colors;
  c[ImGuiCol_Text] = Tint(p.text);
  c[ImGuiCol_TextDisabled] = Tint(p.dim);
  c[ImGuiCol_WindowBg] = Tint(p.background);
  c[ImGuiCol_ChildBg] = Tint(p.panel);
  c[ImGuiCol_PopupBg] = Tint(p.panel, 0.985);
  c[ImGuiCol_Border] = Tint(p.line);
  c[ImGuiCol_BorderShadow] = Tint(p.line, 0);
  c[ImGuiCol_FrameBg] = Tint(p.raised);
  c[ImGuiCol_FrameBgHovered] = Tint(Mix(p.raised, p.accent, 0.15));
  c[ImGuiCol_FrameBgActive] = Tint(Mix(p.raised, p.accent, 0.25));
  c[ImGuiCol_ScrollbarBg] = Tint(p.panel, 0);
  c[ImGuiCol_ScrollbarGrab] = Tint(Mix(p.line, p.dim, 0.25));
  c[ImGuiCol_ScrollbarGrabHovered] = Tint(Mix(p.line, p.dim, 0.5));
  c[ImGuiCol_ScrollbarGrabActive] = Tint(p.dim);
  c[ImGuiCol_CheckMark] = Tint(p.accent);
  c[ImGuiCol_SliderGrab] = Tint(GrabColour(ui.theme, false));
  c[ImGuiCol_SliderGrabActive] = Tint(GrabColour(ui.theme, true));
  c[ImGuiCol_Button] = Tint(p.raised);
  c[ImGuiCol_ButtonHovered] = Tint(Mix(p.raised, p.accent, 0.25));
  c[ImGuiCol_ButtonActive] = Tint(Mix(p.raised, p.accent, 0.45));
  // Faint colours, so that dim texts keep a contrast of 4.5:1 on a row that is chosen or below the
  // mouse.
  c[ImGuiCol_Header] = Tint(p.accent, 0.12);
  c[ImGuiCol_HeaderHovered] = Tint(p.accent, 0.18);
  c[ImGuiCol_HeaderActive] = Tint(p.accent, 0.34);
  c[ImGuiCol_Separator] = Tint(p.line);
  c[ImGuiCol_TableHeaderBg] = Tint(p.raised);
  c[ImGuiCol_TableBorderStrong] = Tint(p.line);
  c[ImGuiCol_TableBorderLight] = Tint(p.line, 0.6);
  c[ImGuiCol_TableRowBg] = Tint(p.panel, 0);
  c[ImGuiCol_TableRowBgAlt] = Tint(p.raised, 0.35);
  c[ImGuiCol_TextSelectedBg] = Tint(p.accent, 0.35);
  c[kKeyboardFrame] = Tint(p.accent);
  c[ImGuiCol_ModalWindowDimBg] = Tint({0, 0, 0}, ui.theme == Theme::kDark ? 0.55 : 0.3);
  c[ImGuiCol_PlotHistogram] = Tint(p.accent);
  ColourLikeText(style);
  ImGui::GetStyle() = style;
}

}  // namespace penstock::gui
