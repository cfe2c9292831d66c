// SPDX-License-Identifier: Apache-2.0
//
// Draws the settings and the findings that differ between two recordings.
#include <algorithm>

#include "gui/model/overview.h"
#include "gui/views/files/compare_parts.h"

namespace penstock::gui {
namespace {

// `colour`: that of the badge.
void DrawFinding(const Ui& ui, const analyzer::Finding& finding, bool gone, Rgb colour,
                 float width) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const FindingText text = TextOf(finding, ui.language);
  const char* word = ui.T(gone ? Text::kFindingGone : Text::kFindingNew);
  const float badge = std::max(TextWidth(ui.small, ui.T(Text::kFindingGone)),
                               TextWidth(ui.small, ui.T(Text::kFindingNew))) +
                      ui.Px(12);
  const float height = FontPixels(ui.small) + ui.Px(4);
  list->AddRectFilled({at.x, at.y + ui.Px(1)}, {at.x + badge, at.y + ui.Px(1) + height},
                      Ink(colour, 0.18), ui.Px(4));
  DrawTextCentred(list, ui.small,
                  {{at.x, at.y + ui.Px(1)}, {at.x + badge, at.y + ui.Px(1) + height}}, Ink(colour),
                  word);
  const auto lines = WrapText(ui.body, text.title, width - badge - ui.Px(10));
  float y = at.y + ui.Px(1);
  for (const std::string& line : lines) {
    DrawText(list, ui.body, {at.x + badge + ui.Px(10), y}, Ink(gone ? p.dim : p.text), line);
    y += FontPixels(ui.body) + ui.Px(3);
  }
  ImGui::Dummy({width, std::max(y, at.y + height + ui.Px(3)) - at.y});
  Tip(ui, gone ? text.title : text.title + "\n" + text.action);
}

// Columns for the name of a setting and its values in A and B.
struct SettingColumns {
  float name = 0;  // widths
  float value = 0;
};

SettingColumns ColumnsOf(const Ui& ui, float width) {
  const float name = std::min(ui.Px(150), width * 0.4F);
  return {name, (width - name) / 2};
}

std::string TitleOf(const Ui& ui, const SettingChange& setting) {
  return setting.name.empty() ? ui.T(setting.label) : setting.name;
}

// The wrapped lines of a setting. A command may be too long for them; a tip shows all of it.
struct SettingLines {
  std::vector<std::string> name;
  std::vector<std::string> before;
  std::vector<std::string> after;

  [[nodiscard]] float HeightIn(const Ui& ui) const {
    const std::size_t lines = std::max({name.size(), before.size(), after.size()});
    return (FontPixels(ui.body) + ui.Px(2)) * static_cast<float>(lines);
  }
};

SettingLines LinesOf(const Ui& ui, const SettingChange& setting, SettingColumns columns) {
  constexpr std::size_t kMost = 3;
  return {WrapText(ui.body, TitleOf(ui, setting), columns.name - ui.Px(8), kMost).lines,
          WrapText(ui.body, setting.before, columns.value - ui.Px(8), kMost).lines,
          WrapText(ui.strong, setting.after, columns.value - ui.Px(4), kMost).lines};
}

void DrawLines(const Ui& ui, ImFont* font, ImVec2 at, Rgb colour,
               const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    DrawText(ImGui::GetWindowDrawList(), font, at, Ink(colour), line);
    at.y += FontPixels(ui.body) + ui.Px(2);
  }
}

}  // namespace

float CompareSettingsHeight(const Ui& ui, const std::vector<SettingChange>& settings, float width) {
  if (settings.empty()) return FontPixels(ui.body) + ui.Px(24);
  const SettingColumns columns = ColumnsOf(ui, width);
  float height = FontPixels(ui.small) + ui.Px(8);
  for (const SettingChange& setting : settings) {
    height += LinesOf(ui, setting, columns).HeightIn(ui) + ui.Px(7);
  }
  return height;
}

void DrawCompareSettings(const Ui& ui, const std::vector<SettingChange>& settings, Area area) {
  const Palette& p = ui.palette();
  if (settings.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(p.dim),
                    ui.T(Text::kSameSettings));
    return;
  }
  BeginArea("settings", area, true);
  const float width = ImGui::GetContentRegionAvail().x;
  const SettingColumns columns = ColumnsOf(ui, width);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 head = ImGui::GetCursorScreenPos();
  DrawText(list, ui.small, {head.x + columns.name, head.y}, Ink(p.dim), "A");
  DrawText(list, ui.small, {head.x + columns.name + columns.value, head.y}, Ink(p.dim), "B");
  ImGui::Dummy({width, FontPixels(ui.small) + ui.Px(1)});
  for (const SettingChange& setting : settings) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const SettingLines lines = LinesOf(ui, setting, columns);
    DrawLines(ui, ui.body, at, p.dim, lines.name);
    DrawLines(ui, ui.body, {at.x + columns.name, at.y}, p.text, lines.before);
    DrawLines(ui, ui.strong, {at.x + columns.name + columns.value, at.y}, p.text, lines.after);
    ImGui::Dummy({width, lines.HeightIn(ui)});
    Tip(ui, TitleOf(ui, setting) + "\nA  " + setting.before + "\nB  " + setting.after);
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
  const Rgb gone = JudgedColour(ui, ToneOfGoneFindings(answer));
  for (const analyzer::Finding& finding : answer.gone) DrawFinding(ui, finding, true, gone, width);
  for (const analyzer::Finding& finding : answer.fresh) {
    DrawFinding(ui, finding, false, p.warn, width);
  }
  const std::string note = NoteOfFindings(answer, ui.language);
  if (!note.empty()) Paragraph(ui, ui.small, p.dim, note, width);
  const std::string both = FindingsInBoth(answer, ui.language);
  if (!both.empty()) Paragraph(ui, ui.body, p.dim, both, width);
  EndArea();
}

}  // namespace penstock::gui
