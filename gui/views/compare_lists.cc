// SPDX-License-Identifier: Apache-2.0
//
// What differs between two recordings beside their figures: settings, and findings.
#include <algorithm>

#include "gui/model/overview.h"
#include "gui/views/compare_parts.h"

namespace penstock::gui {
namespace {

void DrawFinding(const Ui& ui, const analyzer::Finding& finding, bool gone, float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const FindingText text = TextOf(finding, ui.language);
  const char* word = ui.T(gone ? Text::kFindingGone : Text::kFindingNew);
  const Rgb colour = gone ? p.good : p.warn;
  const float badge = std::max(TextWidth(ui.small, ui.T(Text::kFindingGone)),
                               TextWidth(ui.small, ui.T(Text::kFindingNew))) +
                      ui.Px(12);
  const float height = ui.small->FontSize + ui.Px(4);
  list->AddRectFilled({at.x, at.y + ui.Px(1)}, {at.x + badge, at.y + ui.Px(1) + height},
                      Ink(colour, 0.18), ui.Px(4));
  DrawTextCentred(list, ui.small,
                  {{at.x, at.y + ui.Px(1)}, {at.x + badge, at.y + ui.Px(1) + height}}, Ink(colour),
                  word);
  const std::string title = gone ? ui.F(Text::kNoLonger, text.title) : text.title;
  const auto lines = WrapText(ui.body, title, width - badge - ui.Px(10));
  float y = at.y + ui.Px(1);
  for (const std::string& line : lines) {
    DrawText(list, ui.body, {at.x + badge + ui.Px(10), y}, Ink(gone ? p.dim : p.text), line);
    y += ui.body->FontSize + ui.Px(3);
  }
  ImGui::Dummy({width, std::max(y, at.y + height + ui.Px(3)) - at.y});
  Tip(ui, gone ? title : title + "\n" + text.action);
}

}  // namespace

void DrawCompareSettings(const Ui& ui, const std::vector<SettingChange>& settings, Area area) {
  const Palette& p = ui.palette();
  if (settings.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(p.dim),
                    ui.T(Text::kSameSettings));
    return;
  }
  BeginArea("settings", area, true);
  const float width = ImGui::GetContentRegionAvail().x;
  const float name = std::min(ui.Px(150), width * 0.4F);
  const float column = (width - name) / 2;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 head = ImGui::GetCursorScreenPos();
  DrawText(list, ui.small, {head.x + name, head.y}, Ink(p.dim), "A");
  DrawText(list, ui.small, {head.x + name + column, head.y}, Ink(p.dim), "B");
  ImGui::Dummy({width, ui.small->FontSize + ui.Px(1)});
  for (const SettingChange& setting : settings) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string title = setting.name.empty() ? ui.T(setting.label) : setting.name;
    DrawText(list, ui.body, at, Ink(p.dim), Elided(ui.body, title, name - ui.Px(8)));
    DrawText(list, ui.body, {at.x + name, at.y}, Ink(p.text),
             Elided(ui.body, setting.before, column - ui.Px(8)));
    DrawText(list, ui.strong, {at.x + name + column, at.y}, Ink(p.text),
             Elided(ui.strong, setting.after, column - ui.Px(4)));
    ImGui::Dummy({width, ui.body->FontSize + ui.Px(2)});
    Tip(ui, title + "\nA  " + setting.before + "\nB  " + setting.after);
  }
  EndArea();
}

void DrawCompareFindings(const Ui& ui, const CompareAnswer& answer, Area area) {
  const Palette& p = ui.palette();
  BeginArea("findings", area, true);
  const float width = ImGui::GetContentRegionAvail().x;
  if (answer.gone.empty() && answer.fresh.empty()) {
    Paragraph(ui, ui.body, p.dim, ui.T(Text::kNoFindingChange), width);
  }
  for (const analyzer::Finding& finding : answer.gone) DrawFinding(ui, finding, true, width);
  for (const analyzer::Finding& finding : answer.fresh) DrawFinding(ui, finding, false, width);
  if (answer.in_both > 0) {
    Paragraph(ui, ui.body, p.dim, ui.F(Text::kFindingsSame, answer.in_both), width);
  }
  EndArea();
}

}  // namespace penstock::gui
