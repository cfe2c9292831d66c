// SPDX-License-Identifier: Apache-2.0
//
// Lists what experiments inside the run measured, beside what the simulation predicts.
#include <string>
#include <vector>

#include "analyzer/report/probe_report.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {
namespace {

constexpr float kProbesPad = 14;

// The lines of the panel, wrapped.
std::vector<std::string> ProbeLines(const Ui& ui, const analyzer::Probes& probes, float width) {
  std::vector<std::string> lines;
  for (const analyzer::Statement& said : analyzer::ProbesSaid(probes)) {
    const std::vector<std::string> wrapped =
        WrapText(ui.body, Typeset(Render(said, ui.language)), width - 2 * ui.Px(kProbesPad));
    lines.insert(lines.end(), wrapped.begin(), wrapped.end());
  }
  return lines;
}

float ProbeLinePitch(const Ui& ui) {
  return FontPixels(ui.body) + ui.Px(4);
}

}  // namespace

float ProbesHeight(const Ui& ui, const analyzer::Probes& probes, float width) {
  const std::vector<std::string> lines = ProbeLines(ui, probes, width);
  if (lines.empty()) return 0;
  return FontPixels(ui.strong) + 2 * ui.Px(kProbesPad) + ui.Px(4) +
         ProbeLinePitch(ui) * static_cast<float>(lines.size());
}

void DrawProbes(const Ui& ui, const analyzer::Probes& probes, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  Panel(ui, area);
  ImVec2 at = {area.min.x + ui.Px(kProbesPad), area.min.y + ui.Px(kProbesPad)};
  DrawText(list, ui.strong, at, Ink(p.text), ui.T(Text::kMeasuredInside));
  at.y += FontPixels(ui.strong) + ui.Px(6);
  for (const std::string& line : ProbeLines(ui, probes, area.width())) {
    DrawText(list, ui.body, at, Ink(p.text), line);
    at.y += ProbeLinePitch(ui);
  }
}

}  // namespace penstock::gui
