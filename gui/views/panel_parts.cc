// SPDX-License-Identifier: Apache-2.0
#include "gui/views/panel_parts.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/limits.h"
#include "analyzer/words/format.h"
#include "gui/model/overview.h"
#include "gui/model/penstock_command.h"
#include "gui/model/timeline/ticks.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {

float DrawFigures(const Ui& ui, std::span<const Figure> figures, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float gap = ui.Px(10);
  const auto count = static_cast<float>(figures.size());
  const float width = (area.width() - gap * (count - 1)) / std::max(count, 1.0F);
  std::vector<Wrapped> notes;
  std::size_t lines = 1;
  for (const Figure& figure : figures) {
    notes.push_back(WrapText(ui.small, figure.line, width - ui.Px(28), 2));
    lines = std::max(lines, notes.back().lines.size());
  }
  const float pitch = FontPixels(ui.small) + ui.Px(2);
  const float height = FontPixels(ui.small) * 2 + FontPixels(ui.big) + ui.Px(34) +
                       pitch * static_cast<float>(lines - 1);
  float x = area.min.x;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    const Area inside = Panel(ui, {{x, area.min.y}, {x + width, area.min.y + height}});
    std::string tip;  // the shortened texts in full, then figure.tip
    const auto shortened = [&](ImFont* font, const std::string& text) {
      std::string shown = Elided(font, text, inside.width());
      if (shown != text) tip += (tip.empty() ? "" : "\n") + text;
      return shown;
    };
    DrawText(list, ui.small, inside.min, Ink(p.dim), shortened(ui.small, figure.name));
    float y = inside.min.y + FontPixels(ui.small) + ui.Px(3);
    // Text that is too long for the large type is drawn smaller.
    const bool fits = TextWidth(ui.big, figure.value) <= inside.width();
    ImFont* font = fits ? ui.big : ui.strong;
    DrawText(list, font, {inside.min.x, y + (FontPixels(ui.big) - FontPixels(font)) / 2},
             Ink(figure.colour), shortened(font, figure.value));
    y += FontPixels(ui.big) + ui.Px(4);
    for (const std::string& line : notes[i].lines) {
      DrawText(list, ui.small, {inside.min.x, y}, Ink(p.dim), line);
      y += pitch;
    }
    if (notes[i].cut) tip += (tip.empty() ? "" : "\n") + figure.line;
    ImGui::SetCursorScreenPos({x, area.min.y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("##figure", {std::max(width, 1.0F), height});
    ImGui::PopID();
    if (!figure.tip.empty()) tip += (tip.empty() ? "" : "\n") + figure.tip;
    if (!tip.empty()) Tip(ui, tip);
    x += width + gap;
  }
  return height;
}

void DrawFindingLinks(const Ui& ui, Workspace& workspace, Text title,
                      std::span<const std::string_view> ids, Area area) {
  const Palette& p = ui.palette();
  const analyzer::Report& report = workspace.Shown().analysis->report;
  const auto findings = FindingsAmong(report, ids);
  const Area inside = Headed(ui, Panel(ui, area), ui.T(title));
  BeginArea("finding links", inside, true);
  const float width = ImGui::GetContentRegionAvail().x - ui.Px(4);
  ImGui::Dummy({1, ui.Px(1)});
  for (const analyzer::Finding* finding : findings) DrawFinding(ui, workspace, *finding, width);
  const auto unchecked = UncheckedAmong(report, ids);
  const bool all = std::any_of(unchecked.begin(), unchecked.end(),
                               [](const auto& missing) { return missing.ids.empty(); });
  if (findings.empty() && !all) {
    Paragraph(ui, ui.body, p.dim, ui.T(Text::kNoFindingsHere), width);
  }
  for (const analyzer::NotChecked& missing : unchecked) {
    Paragraph(ui, ui.small, p.dim,
              ui.F(Text::kNeedsFor, Render(analyzer::Unchecked(missing), ui.language)), width);
  }
  EndArea();
}

float BeginColumn(const Ui& ui, Area area, float width, float part) {
  width = std::min(area.width(), ui.Px(width));
  ImGui::SetCursorScreenPos(
      {area.min.x + (area.width() - width) / 2, area.min.y + area.height() * part});
  ImGui::BeginGroup();
  return width;
}

void DrawEmpty(const Ui& ui, Area area, std::string_view sentence, std::string_view why) {
  const Palette& p = ui.palette();
  const float width = BeginColumn(ui, area, 560, 0.3F);
  Paragraph(ui, ui.title, p.text, sentence, width);
  if (!why.empty()) Paragraph(ui, ui.body, p.dim, why, width);
  ImGui::EndGroup();
}

namespace {

void DrawNextCommand(const Ui& ui, Workspace& workspace, std::string_view what,
                     std::string_view why, const NextCommand& next, Area area) {
  const Palette& p = ui.palette();
  const float width = BeginColumn(ui, area, 620, 0.22F);
  Paragraph(ui, ui.title, p.text, what, width);
  Paragraph(ui, ui.body, p.dim, why, width);
  ImGui::Dummy({1, ui.Px(6)});
  Paragraph(ui, ui.body, p.dim, ui.T(next.how), width);
  CodeBox(ui, workspace, next.command, width);
  ImGui::EndGroup();
}

}  // namespace

void DrawNothing(const Ui& ui, Workspace& workspace, const Nothing& nothing, Area area) {
  DrawNextCommand(ui, workspace, ui.T(nothing.what), ui.T(nothing.why),
                  {nothing.how, nothing.command}, area);
}

NextCommand NextToPredict(const Workspace& workspace) {
  // A part of a run may lack what the whole run has. The trace is not there while only the analysis
  // is ready.
  const bool part = ObeysRange(workspace.view) && workspace.Range().has_value();
  const auto& trace = workspace.document.trace;
  if (part || trace == nullptr) return {};
  return CommandToPredict(workspace.Shown().analysis->report, *trace);
}

void DrawNothingPredicted(const Ui& ui, Workspace& workspace, const std::string& why, Area area) {
  const NextCommand next = NextToPredict(workspace);
  if (next.command.empty()) return DrawEmpty(ui, area, ui.T(Text::kCannotPredict), why);
  DrawNextCommand(ui, workspace, ui.T(Text::kCannotPredict), why, next, area);
}

Nothing NothingRecorded(const Workspace& workspace) {
  return {Text::kNothingRecorded, Text::kNothingRecordedWhy, Text::kSeeWhatIsSeen,
          PenstockCommand(*workspace.document.trace, "doctor")};
}

Nothing NoLoader(const Workspace& workspace) {
  const auto& trace = workspace.document.trace;  // nullptr while only the analysis is ready
  const analyzer::Report& whole = workspace.document.analysis->report;
  if (trace == nullptr || whole.diagnosis.run.has_loader()) {
    return {Text::kNoLoader, Text::kNoLoaderWhy, Text::kRecordLoader, kRecordCommand};
  }
  const NextCommand next = CommandToPredict(whole, *trace);
  return {Text::kNoLoader, Text::kNoLoaderWhy, next.how, next.command};
}

float CopyButtonWidth(const Ui& ui) {
  return std::max(TextWidth(ui.body, ui.T(Text::kCopy)), TextWidth(ui.body, ui.T(Text::kCopied))) +
         ui.Px(22);
}

void CopyButton(const Ui& ui, Workspace& workspace, const std::string& text) {
  const bool copied = workspace.copied == text && ImGui::GetTime() - workspace.copied_at < 2;
  ImGui::PushID(text.c_str());
  // Both labels have one id. With another id the button would lose the keyboard focus when a key
  // presses it.
  const std::string label = std::string(ui.T(copied ? Text::kCopied : Text::kCopy)) + "###copy";
  if (ImGui::Button(label.c_str(), {CopyButtonWidth(ui), 0})) {
    workspace.CopyText(text);
  }
  ImGui::PopID();
}

namespace {

Wrapped CodeLines(const Ui& ui, const std::string& code, float width, std::size_t most) {
  const float room = std::max(ui.Px(40), width - CopyButtonWidth(ui) - ui.Px(28));
  return WrapText(ui.mono, code, room, most);
}

float HeightOf(const Ui& ui, const Wrapped& code) {
  return (FontPixels(ui.mono) + ui.Px(3)) * static_cast<float>(code.lines.size()) + ui.Px(15);
}

}  // namespace

float CodeBoxHeight(const Ui& ui, const std::string& code, float width, std::size_t most_lines) {
  return HeightOf(ui, CodeLines(ui, code, width, most_lines));
}

void CodeBox(const Ui& ui, Workspace& workspace, const std::string& code, float width,
             std::size_t most_lines) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Wrapped shown = CodeLines(ui, code, width, most_lines);
  const float height = HeightOf(ui, shown);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  list->AddRectFilled(at, {at.x + width, at.y + height}, Ink(p.raised), ui.Px(6));
  float y = at.y + ui.Px(9);
  for (const std::string& line : shown.lines) {
    DrawText(list, ui.mono, {at.x + ui.Px(10), y}, Ink(p.text), line);
    y += FontPixels(ui.mono) + ui.Px(3);
  }
  ImGui::SetCursorScreenPos({at.x + width - CopyButtonWidth(ui) - ui.Px(4), at.y + ui.Px(4)});
  CopyButton(ui, workspace, code);
  const bool on_button = ImGui::IsItemHovered();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  if (shown.cut && !on_button) Tip(ui, code);
}

void HeadRight(const Ui& ui, std::string_view title, std::string_view tip) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float room = ImGui::GetContentRegionAvail().x;
  const int column = ImGui::TableGetColumnIndex();
  ImGui::PushID(column);
  ImGui::TableHeader("##head");
  ImGui::PopID();
  const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
  if (sort != nullptr && sort->SpecsCount > 0 && sort->Specs[0].ColumnIndex == column) {
    room -= ui.Px(14);  // room for the arrow
  }
  const std::string text = Elided(ui.body, title, room);
  DrawTextRight(ImGui::GetWindowDrawList(), ui.body, at.x + room, at.y, Ink(ui.palette().text),
                text);
  if (!tip.empty()) {
    Tip(ui, tip);
  } else if (text != title) {
    Tip(ui, title);
  }
}

void SetUpColumns(const Ui& ui, std::span<const TableColumn> columns) {
  for (const TableColumn& column : columns) {
    ImGui::TableSetupColumn(ui.T(column.title), 0, column.weight);
  }
}

void DrawHeads(const Ui& ui, std::span<const TableColumn> columns) {
  for (const TableColumn& column : columns) {
    ImGui::TableNextColumn();
    HeadRight(ui, ui.T(column.title), column.tip == Text::kTextCount ? "" : ui.T(column.tip));
  }
}

void CellRight(const Ui& ui, const std::string& text, bool dim) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
  ImGui::TextColored(Tint(dim ? ui.palette().dim : ui.palette().text), "%s", text.c_str());
}

std::string PathElided(ImFont* font, std::string_view path, float width) {
  if (TextWidth(font, path) <= width) return std::string(path);
  for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    std::string end = "…" + std::string(path.substr(slash));
    if (TextWidth(font, end) <= width) return end;
  }
  const std::size_t last = path.rfind('/');
  return Elided(font, last == std::string_view::npos ? path : path.substr(last + 1), width);
}

void ScrollBelow(const Ui& ui, const char* id, Area area, float least,
                 const std::function<void(Area)>& draw) {
  if (area.height() >= ui.Px(least)) return draw(area);
  BeginArea(id, area, true);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = area.width() - ImGui::GetStyle().ScrollbarSize - ui.Px(4);
  draw({at, {at.x + width, at.y + ui.Px(least)}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, ui.Px(least)});
  EndArea();
}

}  // namespace penstock::gui
