// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "analyzer/report/memory_report.h"
#include "analyzer/words/format.h"
#include "gui/views/panels/workers_panels.h"
#include "gui/widgets/time_plot.h"

namespace penstock::gui {
namespace {

using traces::StageId;

constexpr std::array kColours = {StageId::kRead, StageId::kDecode,  StageId::kAugment,
                                 StageId::kWait, StageId::kCollate, StageId::kPut};

struct Kind {
  MemoryKind kind;
  Text name;
  Text tip;
};
constexpr std::array kKinds = {
    Kind{MemoryKind::kUss, Text::kMemoryUss, Text::kMemoryUssTip},
    Kind{MemoryKind::kPss, Text::kMemoryPss, Text::kMemoryPssTip},
    Kind{MemoryKind::kRss, Text::kMemoryRss, Text::kMemoryRssTip},
    Kind{MemoryKind::kOfParent, Text::kMemoryOfParent, Text::kMemoryOfParentTip}};

Rgb Between(Rgb a, Rgb b) {
  const auto middle = [](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>((x + y) / 2);
  };
  return {middle(a.r, b.r), middle(a.g, b.g), middle(a.b, b.b)};
}

Rgb ToneOf(const Ui& ui, analyzer::Severity severity) {
  const Palette& p = ui.palette();
  if (severity == analyzer::Severity::kCritical) return p.bad;
  return severity == analyzer::Severity::kWarning ? p.warn : p.dim;
}

// Draws a tab for each recorded kind of memory, from right to left on the heading's line.
void DrawKinds(const Ui& ui, Workspace& workspace, const WorkersModel& model, MemoryKind shown,
               Area area) {
  float right = area.max.x;
  for (auto kind = kKinds.rbegin(); kind != kKinds.rend(); ++kind) {
    if (model.Of(kind->kind).empty()) continue;
    const float width = TextWidth(ui.body, ui.T(kind->name)) + ui.Px(20);
    right -= width;
    ImGui::SetCursorScreenPos({right, area.min.y - ui.Px(5)});
    ImGui::PushID(static_cast<int>(kind->kind));
    if (TabButton(ui, ui.T(kind->name), kind->kind == shown)) workspace.workers.memory = kind->kind;
    ImGui::PopID();
    Tip(ui, ui.T(kind->tip));
    right -= ui.Px(2);
  }
}

// Draws the notes above the curves, the most serious first, each in at most two lines. Returns the
// area left for the curves. `loader`: the loader that they are of, "" if there is one alone.
Area DrawNotes(const Ui& ui, std::vector<analyzer::MemoryNote> notes, const std::string& loader,
               Area area) {
  constexpr std::size_t kMostLines = 2;
  std::stable_sort(notes.begin(), notes.end(),
                   [](const auto& a, const auto& b) { return a.severity > b.severity; });
  const float height = FontPixels(ui.small) + ui.Px(4);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const std::string text = MemoryNoteText(notes[i].statement, loader, ui.language);
    const Wrapped wrapped = WrapText(ui.small, text, area.width(), kMostLines);
    const float needed = height * static_cast<float>(wrapped.lines.size());
    if (area.height() < ui.Px(90) + needed) break;
    const Rgb colour = ToneOf(ui, notes[i].severity);
    ImVec2 at = area.min;
    for (const std::string& line : wrapped.lines) {
      DrawText(ImGui::GetWindowDrawList(), ui.small, at, Ink(colour), line);
      at.y += height;
    }
    ImGui::SetCursorScreenPos(area.min);
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("##memorynote", {std::max(area.width(), 1.0F), needed - ui.Px(4)});
    if (wrapped.cut) Tip(ui, text);
    ImGui::PopID();
    area.min.y += needed;
  }
  if (!notes.empty()) area.min.y += ui.Px(3);
  return area;
}

}  // namespace

void DrawMemory(const Ui& ui, Workspace& workspace, const WorkersModel& model, Area area) {
  const Palette& p = ui.palette();
  const MemoryKind shown = workspace.workers.memory.value_or(model.best());
  const Area panel = Panel(ui, area);
  DrawKinds(ui, workspace, model, shown, panel);
  // The curves are those of all processes, whichever loader is chosen.
  std::string title = ui.T(Text::kMemory);
  if (!workspace.Loaders().empty()) title += std::string("  ·  ") + ui.T(Text::kAllLoaders);
  Area inside = Headed(ui, panel, title);
  const std::vector<MemoryCurve>& curves = model.Of(shown);
  if (curves.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, inside, Ink(p.dim),
                    Elided(ui.body, ui.T(Text::kMemoryNeeds), inside.width()));
    return;
  }
  const analyzer::Diagnosis& diagnosis = workspace.Shown().analysis->report.diagnosis;
  const bool several = !workspace.Loaders().empty() && diagnosis.run.has_loader();
  inside = DrawNotes(ui, analyzer::MemoryNotes(diagnosis),
                     several ? diagnosis.run.loader().name : "", inside);
  TimePlot plot;
  plot.from = workspace.Shown().analysis->from;
  plot.to = plot.from + std::max(workspace.Shown().analysis->report.duration, 1e-9);
  // With a selection, the plot ends with it. Otherwise it also shows what a recording that was cut
  // has after the last span.
  if (!workspace.Range()) plot.to = std::max(plot.to, model.last_sample(shown));
  plot.text = [](double bytes) {
    return analyzer::BytesText(static_cast<std::uint64_t>(std::max(bytes, 0.0)));
  };
  plot.hint = ui.T(Text::kPlotClickTip);
  plot.most = 0;
  std::size_t samples = 0;
  if (!model.shared.empty()) {
    plot.lines.push_back({ui.T(Text::kMemoryShared), StageColour(kSharedMemory, ui.theme),
                          model.shared.at, model.shared.value, 0, 0, false});
    plot.most = std::max(plot.most, model.shared.high);
  }
  const std::vector<CurveStyle> styles =
      StylesOf(model, shown, workspace.ChosenWorker(), ui.language);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const MemoryCurve& curve = curves[i];
    const CurveStyle& style = styles[i];
    plot.most = std::max(plot.most, curve.curve.high);
    samples = std::max(samples, curve.curve.at.size());
    // If a worker is chosen, the curves of the other processes stay visible in a dim colour.
    const Rgb colour = style.dim ? Between(p.line, p.dim)
                       : style.colour
                           ? StageColour(kColours[*style.colour % kColours.size()], ui.theme)
                           : p.text;
    plot.lines.push_back({NameOfCurve(curve, ui.language), colour, curve.curve.at,
                          curve.curve.value, 0, 0, false, style.legend});
  }
  const std::string sampled = samples < 4 ? ui.F(Text::kMemoryFewSamples, samples)
                                          : ReadingsText(model, shown, ui.language);
  if (!sampled.empty()) {
    DrawShortened(ui, ui.small, inside.min, Ink(samples < 4 ? p.warn : p.dim), sampled,
                  inside.width());
    inside.min.y += FontPixels(ui.small) + ui.Px(6);
  }
  if (const auto at = DrawTimePlot(ui, "##memory", inside, plot)) workspace.ShowMoment(*at);
}

}  // namespace penstock::gui
