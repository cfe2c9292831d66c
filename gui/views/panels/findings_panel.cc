// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "gui/model/forecast.h"
#include "gui/model/overview.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {
namespace {

using analyzer::Finding;
using analyzer::Severity;

double GainOf(const Finding& finding) {
  return finding.predicted ? finding.predicted->speedup : 0;
}

Rgb ColourOf(const Palette& palette, Severity severity) {
  return severity == Severity::kCritical  ? palette.bad
         : severity == Severity::kWarning ? palette.warn
                                          : palette.dim;
}

// Draws the severity as a shape, for people who cannot tell the colours apart.
void DrawMark(const Ui& ui, ImVec2 at, Severity severity) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float r = ui.Px(6);
  const ImVec2 centre{at.x + r, at.y + FontPixels(ui.body) / 2 + ui.Px(1)};
  const ImU32 colour = Ink(ColourOf(ui.palette(), severity));
  if (severity == Severity::kCritical) {
    list->AddNgonFilled(centre, r, colour, 8);
  } else if (severity == Severity::kWarning) {
    list->AddTriangleFilled({centre.x, centre.y - r}, {centre.x - r, centre.y + r * 0.8F},
                            {centre.x + r, centre.y + r * 0.8F}, colour);
  } else {
    list->AddCircle(centre, r * 0.75F, colour, 0, ui.Px(2));
  }
}

}  // namespace

void DrawFinding(const Ui& ui, Workspace& workspace, const Finding& finding, float width) {
  const Palette& p = ui.palette();
  const FindingText text = TextOf(finding, ui.language);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = ui.Px(20);
  const float button = TextWidth(ui.body, ui.T(Text::kShowMe)) + ui.Px(22);
  const analyzer::Report& report = workspace.Shown().analysis->report;
  Forecast forecast;
  if (finding.predicted) forecast = ForecastOf(report.diagnosis, *finding.predicted);
  const std::string gain = forecast.speedup >= 1.005 ? GainText(forecast, ui.language) : "";
  const float right =
      button + ui.Px(10) + (gain.empty() ? 0 : TextWidth(ui.strong, gain) + ui.Px(10));
  DrawMark(ui, at, finding.severity);
  ImGui::SetCursorScreenPos({at.x + indent, at.y});
  Paragraph(ui, ui.body, p.text, text.title, width - indent - right);
  if (!text.detail.empty()) {
    // The button is higher than a title of one line.
    const float below = at.y - ui.Px(3) + ImGui::GetFrameHeight() + ui.Px(2);
    const float y = std::max(ImGui::GetCursorScreenPos().y - ui.Px(4), below);
    ImGui::SetCursorScreenPos({at.x + indent, y});
    Paragraph(ui, ui.small, p.dim, text.detail, width - indent);
  }
  ImGui::SetCursorScreenPos({at.x + indent, ImGui::GetCursorScreenPos().y - ui.Px(4)});
  Paragraph(ui, ui.small, p.dim, AdviceText(report, finding, ui.language),
            width - indent - button - ui.Px(10));
  const ImVec2 end = ImGui::GetCursorScreenPos();
  if (!gain.empty()) {
    DrawTextRight(ImGui::GetWindowDrawList(), ui.strong, at.x + width - button - ui.Px(10), at.y,
                  Ink(forecast.effect == Effect::kGain ? p.good : p.text), gain);
  }
  ImGui::SetCursorScreenPos({at.x + width - button, at.y - ui.Px(3)});
  ImGui::PushID(finding.id.c_str());
  if (ImGui::Button(ui.T(Text::kShowMe))) workspace.ShowEvidence(finding);
  ImGui::PopID();
  ImGui::SetCursorScreenPos({end.x, end.y + ui.Px(4)});
}

float DrawFindings(const Ui& ui, Workspace& workspace, Area area) {
  const analyzer::Report& report = workspace.Shown().analysis->report;
  std::string title(ui.T(Text::kFindings));
  if (!report.findings.empty()) {
    title += analyzer::InParentheses(std::to_string(report.findings.size()), ui.language);
  }
  const Area inside = Headed(ui, Panel(ui, area), title);
  BeginArea("findings", inside, true);
  const float width = ImGui::GetContentRegionAvail().x - ui.Px(4);
  std::vector<const Finding*> sorted;
  for (const Finding& finding : report.findings) sorted.push_back(&finding);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Finding* a, const Finding* b) { return GainOf(*a) > GainOf(*b); });
  ImGui::Dummy({1, ui.Px(1)});
  for (const Finding* finding : sorted) DrawFinding(ui, workspace, *finding, width);
  bool first = true;
  for (const std::string& line : InsteadOfFindings(report, ui.language)) {
    Paragraph(ui, first ? ui.body : ui.small, ui.palette().dim, line, width);
    first = false;
  }
  const float needed = ImGui::GetCursorPosY();
  EndArea();
  return inside.min.y - area.min.y + needed + ui.Px(12);
}

}  // namespace penstock::gui
