// SPDX-License-Identifier: Apache-2.0
//
// Draws the plan as a staircase. A bar is grey up to the rate of the step before it. The part
// beyond that rate is green if the gain exceeds the error of the prediction.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "gui/model/panels/ranks.h"
#include "gui/views/panel_parts.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {
namespace {

constexpr std::size_t kStairTitleLines = 2;

// The places of a row's parts, from the left edge of the panel's inside.
struct PlanColumns {
  float check = 0;   // width of the check boxes; 0: there are no steps
  float words = 0;   // width of a step's description, check box included
  float bars = 0;    // where bars begin
  float room = 0;    // for the longest bar
  float button = 0;  // width; 0: no step has a line to paste
};

// The width of the texts at the end of a bar: the rate, the speedup and the confidence interval.
float StairLabelWidth(const Ui& ui, const Stair& stair) {
  float width = TextWidth(ui.strong, stair.figure) + ui.Px(8);
  if (!stair.times.empty()) width += TextWidth(ui.strong, stair.times) + ui.Px(10);
  if (!stair.interval.empty()) width += TextWidth(ui.small, stair.interval) + ui.Px(10);
  return width;
}

PlanColumns PlanColumnsOf(const Ui& ui, const Staircase& staircase, float width) {
  PlanColumns columns;
  columns.words = std::floor(width * 0.42F);
  columns.bars = columns.words + ui.Px(14);
  float label = 0;
  for (const Stair& stair : staircase.stairs) {
    label = std::max(label, StairLabelWidth(ui, stair));
    if (!stair.code.empty()) columns.button = CopyButtonWidth(ui);
    if (stair.kind == StairKind::kStep) columns.check = FontPixels(ui.body) + ui.Px(8);
  }
  columns.room = std::max(ui.Px(40), width - columns.bars - label - columns.button - ui.Px(16));
  return columns;
}

std::string StairSecondLine(const Stair& stair) {
  if (stair.cost.empty()) return stair.limit;
  return stair.limit + "  ·  " + stair.cost;
}

// The lines below the title of a step: first what limits the run and what the step costs, then what
// it changes for the network.
struct StairSmallLines {
  std::vector<std::string> plain;
  std::vector<std::string> risk;
  [[nodiscard]] std::size_t size() const { return plain.size() + risk.size(); }
};

StairSmallLines SmallLinesOf(const Ui& ui, const Stair& stair, const PlanColumns& columns) {
  const float width = columns.words - columns.check;
  StairSmallLines lines{WrapText(ui.small, StairSecondLine(stair), width), {}};
  if (!stair.risk.empty()) lines.risk = WrapText(ui.small, stair.risk, width);
  return lines;
}

float SmallPitch(const Ui& ui) {
  return FontPixels(ui.small) + ui.Px(2);
}

Wrapped StairTitle(const Ui& ui, const Stair& stair, const PlanColumns& columns) {
  return WrapText(ui.body, stair.title, columns.words - columns.check, kStairTitleLines);
}

float StairHeight(const Ui& ui, const Stair& stair, const PlanColumns& columns) {
  if (stair.kind != StairKind::kStep) return FontPixels(ui.body) + ui.Px(10);
  const auto lines = static_cast<float>(StairTitle(ui, stair, columns).lines.size());
  const auto small = static_cast<float>(SmallLinesOf(ui, stair, columns).size());
  return lines * (FontPixels(ui.body) + ui.Px(2)) + small * SmallPitch(ui) + ui.Px(9);
}

void DrawStairWords(const Ui& ui, const Stair& stair, const PlanColumns& columns, ImVec2 at,
                    float height) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float check = stair.kind == StairKind::kStep ? columns.check : 0;
  ImGui::SetCursorScreenPos({at.x + check, at.y});
  ImGui::InvisibleButton("##stair", {columns.words - check, height});
  std::string tip = stair.title + "\n" + StairSecondLine(stair);
  if (!stair.risk.empty()) tip += "\n" + stair.risk;
  if (!stair.notes.empty()) tip += "\n" + stair.notes;
  if (stair.kind == StairKind::kStep || !stair.limit.empty()) Tip(ui, tip);
  if (stair.kind != StairKind::kStep) {
    std::string text = stair.title;
    if (!stair.limit.empty()) text += "  ·  " + stair.limit;
    DrawText(list, ui.body, at, Ink(p.text), Elided(ui.body, text, columns.words));
    return;
  }
  const float x = at.x + columns.check;
  float y = at.y;
  for (const std::string& line : StairTitle(ui, stair, columns).lines) {
    DrawText(list, ui.body, {x, y}, Ink(stair.off ? p.dim : p.text), line);
    y += FontPixels(ui.body) + ui.Px(2);
  }
  y += ui.Px(1);
  const StairSmallLines small = SmallLinesOf(ui, stair, columns);
  const auto draw = [&](const std::vector<std::string>& lines, Rgb colour) {
    for (const std::string& line : lines) {
      DrawText(list, ui.small, {x, y}, Ink(colour), line);
      y += SmallPitch(ui);
    }
  };
  draw(small.plain, p.dim);
  draw(small.risk, p.warn);
}

// Draws the check box that includes a step in the plan or leaves it out.
void DrawStairCheck(const Ui& ui, Workspace& workspace, std::size_t step, ImVec2 at) {
  std::vector<bool>& off = workspace.plan.chosen.off;
  if (step >= off.size()) return;
  bool on = !off[step];
  ImGui::SetCursorScreenPos(at);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
  if (TickBox(ui, "##done", &on)) off[step] = !on;
  ImGui::PopStyleVar();
  Tip(ui, ui.T(Text::kPlanSwitchTip));
}

// Draws a bar. `before`: the rate of the step before; beyond it the bar has another colour.
void DrawStairBar(const Ui& ui, const Staircase& staircase, const Stair& stair, double before,
                  const PlanColumns& columns, ImVec2 at) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = at.x + columns.bars;
  const auto x = [&](double rate) {
    const double part = std::clamp(rate / std::max(staircase.shown, 1e-9), 0.0, 1.0);
    return left + static_cast<float>(part) * columns.room;
  };
  const float height = ui.Px(16);
  const float end = x(stair.rate.estimate);
  const bool cut = stair.rate.estimate > staircase.shown;
  const Rgb grey = Mix(p.dim, p.panel, 0.4);
  if (stair.kind == StairKind::kCeiling) {
    list->AddRectFilled({left, at.y}, {end, at.y + height}, Ink(p.accent, 0.18), ui.Px(3));
    list->AddRect({left, at.y}, {end, at.y + height}, Ink(p.accent), ui.Px(3));
  } else {
    list->AddRectFilled({left, at.y}, {end, at.y + height}, Ink(grey), ui.Px(3));
  }
  if (stair.kind == StairKind::kStep && stair.rate.estimate > before) {
    const Rgb colour = stair.gains ? p.good : Mix(p.dim, p.panel, 0.15);
    list->AddRectFilled({x(before), at.y}, {end, at.y + height}, Ink(colour), ui.Px(3));
  }
  float label = end;
  if (!stair.interval.empty()) {
    const float low = x(stair.rate.low);
    const float high = x(stair.rate.high);
    const float middle = at.y + height / 2;
    list->AddLine({low, middle}, {high, middle}, Ink(p.text), ui.Px(1.5F));
    for (const float edge : {low, high}) {
      list->AddLine({edge, middle - ui.Px(4)}, {edge, middle + ui.Px(4)}, Ink(p.text), ui.Px(1.5F));
    }
    label = std::max(label, high);
  }
  // Two gaps show that a bar is cut.
  for (int i = 1; cut && i <= 2; ++i) {
    const float gap = end - ui.Px(9) * static_cast<float>(i);
    list->AddLine({gap, at.y + height}, {gap + ui.Px(5), at.y}, Ink(p.panel), ui.Px(3));
  }
  ImGui::SetCursorScreenPos({left, at.y});
  ImGui::InvisibleButton("##bar", {std::max(end - left, 1.0F), height});
  if (cut) {
    Tip(ui, ui.F(Text::kPlanBeyond, fmt::format("{:.2g}", stair.rate.estimate / staircase.shown)));
  } else if (stair.kind == StairKind::kStep) {
    Tip(ui, ui.T(Text::kPlanBarTip));
  }
  float text = label + ui.Px(8);
  const float up = (height - FontPixels(ui.strong)) / 2;
  const ImU32 ink = Ink(stair.gains ? p.good : p.text);
  DrawText(list, ui.strong, {text, at.y + up}, ink, stair.figure);
  text += TextWidth(ui.strong, stair.figure) + ui.Px(10);
  if (!stair.times.empty()) {
    DrawText(list, ui.strong, {text, at.y + up}, ink, stair.times);
    text += TextWidth(ui.strong, stair.times) + ui.Px(10);
  }
  DrawText(list, ui.small, {text, at.y + (height - FontPixels(ui.small)) / 2}, Ink(p.dim),
           stair.interval);
}

void DrawPlanCopy(const Ui& ui, Workspace& workspace, const Stair& stair, ImVec2 right) {
  ImGui::SetCursorScreenPos({right.x - CopyButtonWidth(ui), right.y - ui.Px(3)});
  CopyButton(ui, workspace, stair.code);
  Tip(ui, std::string(ui.T(Text::kPlanCopyTip)) + "\n" + stair.code);
}

}  // namespace

float PlanHeight(const Ui& ui, const Staircase& staircase, float width) {
  const float inside = width - ui.Px(28);
  float height = ui.Px(22) + FontPixels(ui.strong) + ui.Px(8);
  const float pitch = FontPixels(ui.body) + ui.Px(4);
  const std::string& said = staircase.missing.empty() ? staircase.verdict : staircase.missing;
  height += pitch * static_cast<float>(WrapText(ui.body, said, inside).size());
  const PlanColumns columns = PlanColumnsOf(ui, staircase, inside);
  for (const Stair& stair : staircase.stairs) height += StairHeight(ui, stair, columns);
  return height + (staircase.stairs.empty() ? 0 : ui.Px(4));
}

void DrawPlan(const Ui& ui, Workspace& workspace, const Staircase& staircase, Area area) {
  const Palette& p = ui.palette();
  const Area inside =
      Headed(ui, Panel(ui, area),
             TitleOfRank(workspace.Shown().analysis->report, Text::kPlan, ui.language));
  ImVec2 at = inside.min;
  const PlanColumns columns = PlanColumnsOf(ui, staircase, inside.width());
  double before = 0;
  std::size_t step = 0;
  for (std::size_t i = 0; i < staircase.stairs.size(); ++i) {
    const Stair& stair = staircase.stairs[i];
    const float height = StairHeight(ui, stair, columns);
    ImGui::PushID(static_cast<int>(i));
    if (stair.kind == StairKind::kStep) DrawStairCheck(ui, workspace, step++, at);
    DrawStairWords(ui, stair, columns, at, height);
    const float middle = stair.kind == StairKind::kStep ? ui.Px(4) : 0;
    if (!stair.off) {
      DrawStairBar(ui, staircase, stair, before, columns, {at.x, at.y + middle});
    }
    if (!stair.code.empty()) DrawPlanCopy(ui, workspace, stair, {inside.max.x, at.y + middle});
    ImGui::PopID();
    before = std::max(before, stair.rate.estimate);
    at.y += height;
  }
  if (!staircase.stairs.empty()) at.y += ui.Px(4);
  ImGui::SetCursorScreenPos(at);
  const bool missing = !staircase.missing.empty();
  Paragraph(ui, ui.body, p.dim, missing ? staircase.missing : staircase.verdict, inside.width());
}

}  // namespace penstock::gui
