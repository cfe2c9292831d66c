// SPDX-License-Identifier: Apache-2.0
//
// Draws the stages of two recordings: seconds per sample as bars, and the ratio with its confidence
// interval.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/files/compare_parts.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

struct Columns {
  float name = 0;  // left edges
  float bars = 0;
  float figures = 0;
  float change = 0;
  float interval = 0;
  float end = 0;
};

Columns ColumnsOf(const Ui& ui, Area area) {
  Columns c;
  c.name = area.min.x;
  c.end = area.max.x;
  const float width = area.width();
  c.bars = c.name + std::min(ui.Px(142), width * 0.22F);
  c.interval = c.end - std::min(ui.Px(170), width * 0.24F);
  c.change = c.interval - ui.Px(66);
  c.figures = c.change - ui.Px(150);
  return c;
}

// The place of a ratio on a log scale from 1/reach to `reach`, with 1 in the middle.
double Place(double ratio, double reach) {
  if (ratio <= 0) return 0;
  return std::clamp(0.5 + 0.5 * std::log(ratio) / std::log(reach), 0.0, 1.0);
}

double Reach(const analyzer::Comparison& comparison) {
  double reach = 1.5;
  for (const analyzer::Change& change : comparison.stages) {
    if (change.before <= 0 || change.after <= 0 || change.ratio.estimate <= 0) continue;
    const double ratio = change.ratio.estimate;
    reach = std::max(reach, 1.2 * std::max(ratio, 1 / ratio));
  }
  return std::min(reach, 16.0);
}

void DrawInterval(const Ui& ui, const analyzer::Change& change, Rgb colour, double reach,
                  Area area) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = (area.min.y + area.max.y) / 2;
  const auto x = [&](double ratio) {
    return area.min.x + static_cast<float>(Place(ratio, reach)) * area.width();
  };
  list->AddLine({x(std::max(change.ratio.low, 1e-6)), y}, {x(change.ratio.high), y}, Ink(colour),
                ui.Px(2));
  const double ratio = change.ratio.estimate;
  if (ratio <= reach && ratio >= 1 / reach) {
    list->AddCircleFilled({x(ratio), y}, ui.Px(4), Ink(colour));
    return;
  }
  // A ratio beyond the axis: an arrow head at the end of the axis, and the ratio as text.
  const bool more = ratio > 1;
  const float tip = more ? area.max.x + ui.Px(4) : area.min.x - ui.Px(4);
  const float base = more ? tip - ui.Px(9) : tip + ui.Px(9);
  const ImVec2 up{base, y - ui.Px(5)};
  const ImVec2 down{base, y + ui.Px(5)};
  if (more) {
    list->AddTriangleFilled(up, {tip, y}, down, Ink(colour));
  } else {
    list->AddTriangleFilled({tip, y}, up, down, Ink(colour));
  }
  const std::string times =
      more ? fmt::format("×{:.3g}", ratio) : fmt::format("÷{:.3g}", 1 / ratio);
  const float width = TextWidth(ui.small, times);
  const float left = more ? base - ui.Px(5) - width : base + ui.Px(5);
  const float top = y - FontPixels(ui.small) / 2;
  list->AddRectFilled({left - ui.Px(2), top}, {left + width + ui.Px(2), top + FontPixels(ui.small)},
                      Ink(p.panel));
  DrawText(list, ui.small, {left, top}, Ink(colour), times);
}

void DrawRow(const Ui& ui, const CompareAnswer& answer, const analyzer::Change& change, double most,
             double reach, const Columns& c, float y, float pitch) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = change.significant ? ui.strong : ui.body;
  const Rgb ink = change.significant ? p.text : p.dim;
  const float text = y + (pitch - FontPixels(ui.body)) / 2;
  const float mark = ui.Px(9);
  list->AddRectFilled({c.name, y + (pitch - mark) / 2}, {c.name + mark, y + (pitch + mark) / 2},
                      ui.Stage(StageOfChange(change.name)), ui.Px(2));
  DrawText(list, font, {c.name + ui.Px(15), text}, Ink(ink),
           Elided(font, StageTitle(change.name, ui.language), c.bars - c.name - ui.Px(20)));
  const float room = c.figures - c.bars - ui.Px(12);
  const float bar = std::min(ui.Px(7), pitch / 3);
  for (const bool b : {false, true}) {
    const double value = b ? change.after : change.before;
    const float length =
        most > 0 ? static_cast<float>(std::clamp(value / most, 0.0, 1.0)) * room : 0.0F;
    const float top = y + pitch / 2 + (b ? ui.Px(1) : -bar);
    list->AddRectFilled({c.bars, top}, {c.bars + std::max(length, ui.Px(1)), top + bar},
                        Ink(SideColour(ui, b)), ui.Px(2));
  }
  const auto shown = [](double seconds) { return seconds > 0 ? DurationText(seconds) : "-"; };
  DrawTextRight(list, ui.body, c.figures + ui.Px(66), text, Ink(p.dim), shown(change.before));
  DrawTextRight(list, font, c.figures + ui.Px(138), text, Ink(ink), shown(change.after));
  if (change.before <= 0 || change.after <= 0) return;
  DrawTextRight(list, font, c.change + ui.Px(52), text, Ink(ink), RatioText(change.ratio.estimate));
  DrawInterval(ui, change, JudgedColour(ui, ToneOfStage(answer, change)), reach,
               {{c.interval + ui.Px(8), y}, {c.end - ui.Px(6), y + pitch}});
}

void DrawHeads(const Ui& ui, const Columns& c, double reach, float y) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawText(list, ui.small, {c.name, y}, Ink(p.dim), ui.T(Text::kStage));
  DrawTextRight(list, ui.small, c.figures + ui.Px(66), y, Ink(p.dim), "A");
  DrawTextRight(list, ui.small, c.figures + ui.Px(138), y, Ink(p.dim), "B");
  DrawTextRight(list, ui.small, c.change + ui.Px(52), y, Ink(p.dim), ui.T(Text::kChange));
  const std::string less = fmt::format("÷{:.2g}", reach);
  const std::string more = fmt::format("×{:.2g}", reach);
  DrawText(list, ui.small, {c.interval + ui.Px(8), y}, Ink(p.dim), less);
  DrawTextRight(list, ui.small, c.end - ui.Px(6), y, Ink(p.dim), more);
  const std::string title = ui.T(Text::kChangeInterval);
  const float middle = (c.interval + ui.Px(8) + c.end - ui.Px(6)) / 2;
  const float width = TextWidth(ui.small, title);
  if (width <
      c.end - c.interval - TextWidth(ui.small, less) - TextWidth(ui.small, more) - ui.Px(24)) {
    DrawText(list, ui.small, {middle - width / 2, y}, Ink(p.dim), title);
  }
}

}  // namespace

void DrawCompareStages(const Ui& ui, const CompareAnswer& answer, Area area) {
  const Palette& p = ui.palette();
  const auto& stages = answer.comparison.stages;
  const double reach = Reach(answer.comparison);
  double most = 0;
  for (const analyzer::Change& change : stages) {
    most = std::max({most, change.before, change.after});
  }
  const float foot = FontPixels(ui.small) + ui.Px(6);
  DrawShortened(ui, ui.small, {area.min.x, area.max.y - FontPixels(ui.small)}, Ink(p.dim),
                ui.T(Text::kBeyondNoise), area.width());
  area.max.y -= foot;
  const float heads = area.min.y;
  area.min.y += FontPixels(ui.small) + ui.Px(5);
  const float least = ui.Px(21);
  const float pitch =
      std::clamp(area.height() / static_cast<float>(std::max<std::size_t>(stages.size(), 1)), least,
                 ui.Px(46));
  BeginArea("stages", area, true);
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 top = ImGui::GetCursorScreenPos();
  Area inner = area;
  inner.max.x = top.x + width;
  const Columns c = ColumnsOf(ui, inner);
  const float height = pitch * static_cast<float>(stages.size());
  const float none = (c.interval + ui.Px(8) + c.end - ui.Px(6)) / 2;
  ImGui::GetWindowDrawList()->AddLine({none, top.y}, {none, top.y + height}, Ink(p.line), ui.Px(1));
  float y = top.y;
  for (const analyzer::Change& change : stages) {
    ImGui::SetCursorScreenPos({top.x, y});
    ImGui::PushID(change.name.c_str());
    ImGui::InvisibleButton("##row", {std::max(width, 1.0F), pitch});
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      ImGui::GetWindowDrawList()->AddRectFilled({top.x, y}, {top.x + width, y + pitch},
                                                Ink(p.accent, 0.10), ui.Px(3));
    }
    if (change.before > 0 && change.after > 0) {
      Tip(ui, ui.F(Text::kStageChangeTip, StageTitle(change.name, ui.language),
                   DurationText(change.before), DurationText(change.after),
                   RatioText(change.ratio.estimate), RatioText(change.ratio.low),
                   RatioText(change.ratio.high), ui.T(WordOfChange(answer, change))));
    }
    DrawRow(ui, answer, change, most, reach, c, y, pitch);
    y += pitch;
  }
  EndArea();
  // The heads are drawn last: the columns got their width inside the area, where the width of its
  // scroll bar is known.
  DrawHeads(ui, c, reach, heads);
}

}  // namespace penstock::gui
