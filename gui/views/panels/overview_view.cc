// SPDX-License-Identifier: Apache-2.0
//
// The overview: what holds the run back, the plan to change that, and how much time each part
// takes.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/phrases.h"
#include "analyzer/words/format.h"
#include "gui/model/cards.h"
#include "gui/model/overview.h"
#include "gui/views/panels/overview_parts.h"
#include "gui/views/workspace.h"

namespace penstock::gui {
namespace {

using analyzer::Report;

Rgb ColourOf(const Palette& palette, Tone tone) {
  switch (tone) {
    case Tone::kBad:
      return palette.bad;
    case Tone::kWarn:
      return palette.warn;
    case Tone::kGood:
      return palette.good;
    case Tone::kUnknown:
      return palette.dim;
    case Tone::kPlain:
      break;
  }
  return palette.text;
}

std::vector<std::string> VerdictLines(const Ui& ui, const Report& report, float width) {
  return WrapText(ui.title, Typeset(VerdictText(report, ui.language)), width - ui.Px(38));
}

float VerdictPitch(const Ui& ui) {
  return FontPixels(ui.title) + ui.Px(5);
}

float VerdictHeight(const Ui& ui, const Report& report, float width) {
  const auto lines = static_cast<float>(VerdictLines(ui, report, width).size());
  const bool sure = !SureText(report, ui.language).empty();
  return ui.Px(24) + VerdictPitch(ui) * lines + (sure ? FontPixels(ui.small) + ui.Px(3) : 0);
}

float DrawVerdict(const Ui& ui, const Report& report, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Rgb colour = ColourOf(p, ToneOfVerdict(report));
  const float height = VerdictHeight(ui, report, area.width());
  area.max.y = area.min.y + height;
  Panel(ui, area);
  list->AddRectFilled(area.min, {area.min.x + ui.Px(6), area.max.y}, Ink(colour), ui.Px(8),
                      ImDrawFlags_RoundCornersLeft);
  ImVec2 at = {area.min.x + ui.Px(20), area.min.y + ui.Px(11)};
  for (const std::string& line : VerdictLines(ui, report, area.width())) {
    DrawText(list, ui.title, at, Ink(p.text), line);
    at.y += VerdictPitch(ui);
  }
  const std::string sure = SureText(report, ui.language);
  if (sure.empty()) return height;
  DrawText(list, ui.small, {at.x, at.y + ui.Px(1)}, Ink(p.dim), sure);
  ImGui::SetCursorScreenPos({at.x, at.y});
  ImGui::InvisibleButton("##sure", {TextWidth(ui.small, sure), FontPixels(ui.small) + ui.Px(2)});
  Tip(ui, ui.T(Text::kConfidenceTip));
  return height;
}

// The first clauses of a line that fit into `most` lines, and "…" for the rest: half a number would
// be wrong. The whole line if its first clause does not fit.
std::string WholeClauses(ImFont* font, const std::string& line, float width, std::size_t most) {
  constexpr std::string_view kBetween = "  ·  ";
  std::string text = line;
  std::size_t end = line.size();
  while (WrapText(font, text, width).size() > most) {
    end = line.rfind(kBetween, end - 1);
    if (end == std::string::npos || end == 0) return line;
    text = line.substr(0, end) + std::string(kBetween) + "…";
  }
  return text;
}

void DrawCard(const Ui& ui, const Card& card, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area inside = Panel(ui, area);
  float y = inside.min.y - ui.Px(2);
  const std::string title = Elided(ui.small, card.title, inside.width());
  bool cut = title != card.title;
  DrawText(list, ui.small, {inside.min.x, y}, Ink(p.dim), title);
  y += FontPixels(ui.small) + ui.Px(3);
  DrawText(list, ui.big, {inside.min.x, y}, Ink(ColourOf(p, card.tone)), card.figure);
  const float after = inside.min.x + TextWidth(ui.big, card.figure) + ui.Px(6);
  const float room = inside.max.x - after;
  ImFont* font = TextWidth(ui.body, card.unit) <= room ? ui.body : ui.small;
  // A unit that does not fit beside its figure is drawn below the figure.
  const bool beside = TextWidth(font, card.unit) <= room || card.meter >= 0;
  const std::string unit = beside ? Elided(font, card.unit, room) : std::string();
  cut = cut || (beside && unit != card.unit);
  DrawText(list, font, {after, y + FontPixels(ui.big) - FontPixels(font) - ui.Px(2)}, Ink(p.dim),
           unit);
  y += FontPixels(ui.big) + ui.Px(4);
  if (card.meter >= 0) {
    const float bar = ui.Px(5);
    const auto part = static_cast<float>(std::clamp(card.meter, 0.0, 1.0));
    list->AddRectFilled({inside.min.x, y}, {inside.max.x, y + bar}, Ink(p.raised), bar / 2);
    list->AddRectFilled({inside.min.x, y}, {inside.min.x + part * inside.width(), y + bar},
                        Ink(ColourOf(p, card.tone)), bar / 2);
    y += bar + ui.Px(3);
  }
  const std::string line = LineOf(card, !beside);
  const Wrapped below =
      WrapText(ui.small, WholeClauses(ui.small, line, inside.width(), 2), inside.width(), 2);
  for (const std::string& one : below.lines) {
    DrawText(list, ui.small, {inside.min.x, y}, Ink(p.dim), one);
    y += FontPixels(ui.small) + ui.Px(1);
  }
  ImGui::SetCursorScreenPos(area.min);
  ImGui::Dummy({std::max(area.width(), 1.0F), area.height()});
  if (cut || below.cut || below.lines != WrapText(ui.small, line, inside.width())) {
    Tip(ui, card.title + "\n" + card.figure + " " + card.unit + "\n" + card.line);
  }
}

void DrawFooter(const Ui& ui, const Report& report, Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string text = CoverageText(report, ui.language);
  ImGui::SetCursorScreenPos(area.min);
  ImGui::InvisibleButton("##coverage", {area.width(), area.height()});
  Tip(ui, text);
  DrawText(list, ui.small, {area.min.x + ui.Px(4), area.min.y}, Ink(p.dim),
           Elided(ui.small, text, area.width() - ui.Px(8)));
}

constexpr float kLoopRateHeight = 160;
constexpr float kRibbonHeight = 140;
// The height of the cards, the footer and the gaps between these and the other panels.
constexpr float kOtherPanelsHeight = 154;
// The height of the suggestion and the findings until they have been drawn once.
constexpr float kListsHeight = 200;

// A run without a loader has a ribbon only if its loop makes the data itself.
bool HasRibbon(const Analysis& analysis) {
  return analysis.report.diagnosis.run.has_loader() || !analysis.ribbon.empty();
}

// `over_time`: draws the loop's rate over time too.
void DrawPanels(const Ui& ui, Workspace& workspace, const Staircase& plan, bool over_time,
                Area area) {
  const Analysis& analysis = *workspace.Shown().analysis;
  const Report& report = analysis.report;
  const float gap = ui.Px(10);
  float y = area.min.y;
  y += DrawVerdict(ui, report, {{area.min.x, y}, area.max}) + gap;

  const float plan_height = PlanHeight(ui, plan, area.width());
  DrawPlan(ui, workspace, plan, {{area.min.x, y}, {area.max.x, y + plan_height}});
  y += plan_height + gap;

  if (const float height = ProbesHeight(ui, report.probes, area.width()); height > 0) {
    DrawProbes(ui, report.probes, {{area.min.x, y}, {area.max.x, y + height}});
    y += height + gap;
  }

  const std::vector<Card> cards = CardsOf(report, ui.language);
  const float card_height = ui.Px(98);
  const auto count = static_cast<float>(cards.size());
  const float width = (area.width() - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const float x = area.min.x + static_cast<float>(i) * (width + gap);
    DrawCard(ui, cards[i], {{x, y}, {x + width, y + card_height}});
  }
  y += card_height + gap;

  if (HasRibbon(analysis)) {
    DrawRibbon(ui, analysis, {{area.min.x, y}, {area.max.x, y + ui.Px(kRibbonHeight)}});
    y += ui.Px(kRibbonHeight) + gap;
  }

  if (over_time) {
    DrawLoopRate(ui, workspace, {{area.min.x, y}, {area.max.x, y + ui.Px(kLoopRateHeight)}});
    y += ui.Px(kLoopRateHeight) + gap;
  }

  const float bottom = area.max.y;
  const float left = std::floor((area.width() - gap) * 0.46F);
  const float needed =
      std::max(DrawSuggestion(ui, workspace, plan.has_steps(),
                              {{area.min.x, y}, {area.min.x + left, bottom}}),
               DrawFindings(ui, workspace, {{area.min.x + left + gap, y}, {area.max.x, bottom}}));
  workspace.plan.settling = std::abs(needed - workspace.plan.lists) > 0.5F;
  workspace.plan.lists = needed;
}

// The plan with the chosen steps. Until their prediction is ready, returns the previous plan.
Staircase ChosenPlan(const Ui& ui, Workspace& workspace) {
  const std::shared_ptr<const Analysis> analysis = workspace.Shown().analysis;
  const Report& report = analysis->report;
  PlanState& state = workspace.plan;
  if (state.chosen.analysis != analysis) {
    state.chosen = {analysis, std::vector<bool>(report.plan.steps.size(), false)};
  }
  const std::vector<bool>& off = state.chosen.off;
  if (std::find(off.begin(), off.end(), true) == off.end()) {
    return StaircaseOf(report, ui.language);
  }
  const analyzer::Plan* plan = state.plan.Get(
      state.chosen, workspace.at_once, [key = state.chosen](const std::stop_token& stop) {
        const Report& of = key.analysis->report;
        if (stop.stop_requested()) return of.plan;  // nobody waits for it any more
        std::vector<bool> on;
        for (const bool left_out : key.off) on.push_back(!left_out);
        return WithSteps(of.plan, on, of.diagnosis, of.findings,
                         {.trace = of.trace, .command = of.command});
      });
  if (plan == nullptr) return StaircaseOf(report, ui.language);
  return StaircaseOf(report, {state.plan.key().off, *plan}, ui.language);
}

}  // namespace

void DrawOverview(const Ui& ui, Workspace& workspace, Area area) {
  const Analysis& analysis = *workspace.Shown().analysis;
  const Staircase plan = ChosenPlan(ui, workspace);
  const float gap = ui.Px(10);
  const float with_rate = analysis.loop_rate.empty() ? 0 : ui.Px(kLoopRateHeight) + gap;
  const float narrow = area.width() - ui.Px(24);
  const float probes = ProbesHeight(ui, analysis.report.probes, narrow);
  const float ribbon = HasRibbon(analysis) ? ui.Px(kRibbonHeight) + gap : 0;
  const float fixed = ui.Px(kOtherPanelsHeight) + VerdictHeight(ui, analysis.report, narrow) +
                      PlanHeight(ui, plan, narrow) + ribbon + (probes > 0 ? probes + gap : 0);
  const float lists = workspace.plan.lists > 0 ? workspace.plan.lists : ui.Px(kListsHeight);
  const float footer = FontPixels(ui.small) + ui.Px(4);
  const float below = footer + ui.Px(4);  // the panels
  if (area.height() >= fixed + lists + with_rate) {
    DrawPanels(ui, workspace, plan, with_rate > 0, {area.min, {area.max.x, area.max.y - below}});
    return DrawFooter(ui, analysis.report, {{area.min.x, area.max.y - footer}, area.max});
  }
  // In a lower area the view scrolls, and the rate over time is drawn below the other panels. The
  // lists then are as high as they need, so that nothing scrolls inside a page that scrolls.
  BeginArea("overview", area, true);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = area.width() - ImGui::GetStyle().ScrollbarSize - ui.Px(4);
  const float height = fixed + lists + with_rate;
  const ImVec2 end{at.x + width, at.y + height};
  const float panels = end.y - below - with_rate;
  DrawPanels(ui, workspace, plan, false, {at, {end.x, panels}});
  if (with_rate > 0) {
    DrawLoopRate(ui, workspace, {{at.x, panels + gap}, {end.x, panels + with_rate}});
  }
  DrawFooter(ui, analysis.report, {{at.x, end.y - footer}, end});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
  EndArea();
}

}  // namespace penstock::gui
