// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/overview.h"
#include "gui/model/panels/ranks.h"
#include "gui/views/panels/overview_parts.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;

struct BarPlace {
  const char* id;
  float left;
  float y;
  float height;
  float pixels_per_second;
  float right;  // the right end of the panel
};

Rgb ShadeOf(const Ui& ui, const RibbonPart& part) {
  constexpr double kLighter = 0.45;
  const Rgb colour = StageColour(part.colour, ui.theme);
  return part.lighter ? Mix(colour, ui.palette().panel, kLighter) : colour;
}

// Whether name and time of a part fit into its block of `width`.
bool FitsInto(const Ui& ui, const RibbonPart& part, float width) {
  const float room = width - ui.Px(10);
  return room > TextWidth(ui.small, ui.T(part.name)) &&
         room > TextWidth(ui.small, DurationText(part.seconds));
}

// Draws the line along the lower edge of a block whose length is the time on a core.
void DrawCoreLine(const Ui& ui, ImVec2 left, float length, Rgb ink) {
  ImGui::GetWindowDrawList()->AddRectFilled(
      {left.x, left.y - ui.Px(1)}, {left.x + std::max(length, 1.0F), left.y + ui.Px(1)}, Ink(ink));
}

// A part whose name and time do not fit has no text: the legend has its colour, name and time.
void DrawPart(const Ui& ui, const RibbonPart& part, const BarPlace& bar, float x0, float x1) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Rgb colour = ShadeOf(ui, part);
  const ImVec2 min{x0, bar.y};
  const ImVec2 max{std::max(x1 - ui.Px(1), x0 + 1), bar.y + bar.height};
  list->AddRectFilled(min, max, Ink(colour), ui.Px(3));
  const std::string time = DurationText(part.seconds);
  const std::string name = ui.T(part.name);
  const Rgb ink = InkOn(colour);
  if (FitsInto(ui, part, x1 - x0)) {
    // The line at the edge must not look like one that underlines the time.
    const float edge = part.computing >= 0 ? ui.Px(4) : 0;
    const float top = bar.y + (bar.height - edge - 2 * FontPixels(ui.small) - ui.Px(1)) / 2;
    DrawText(list, ui.small, {x0 + ui.Px(5), top}, Ink(ink), name);
    DrawText(list, ui.small, {x0 + ui.Px(5), top + FontPixels(ui.small) + ui.Px(1)}, Ink(ink),
             time);
  }
  if (part.computing >= 0) {
    const float length =
        static_cast<float>(part.computing / part.seconds) * (max.x - min.x - ui.Px(4));
    DrawCoreLine(ui, {min.x + ui.Px(2), max.y - ui.Px(1)}, length, ink);
  }
  if (part.bottleneck) {
    list->AddRect({min.x - ui.Px(2), min.y - ui.Px(2)}, {max.x + ui.Px(2), max.y + ui.Px(2)},
                  Ink(p.text), ui.Px(4), 0, ui.Px(2));
    std::string word = ui.T(Text::kBottleneck);
    if (!part.why.empty()) word += ui.T(Text::kColon) + Render(part.why, ui.language);
    word = Elided(ui.small, word, bar.right - bar.left);
    const float width = TextWidth(ui.small, word);
    const float x = Limited((min.x + max.x - width) / 2, bar.left, bar.right - width);
    DrawText(list, ui.small, {x, min.y - FontPixels(ui.small) - ui.Px(4)}, Ink(p.text), word);
  }
  ImGui::SetCursorScreenPos(min);
  ImGui::PushID(bar.id);
  ImGui::PushID(static_cast<int>(part.name));  // two parts may have one colour
  ImGui::InvisibleButton("##part", {std::max(max.x - min.x, 1.0F), bar.height});
  ImGui::PopID();
  ImGui::PopID();
  std::string tip = name + ui.T(Text::kColon) + time;
  if (part.computing >= 0) {
    tip += "\n" + ui.F(Text::kOnCoreTip, DurationText(part.computing));
  }
  if (part.beside) tip += std::string("\n") + ui.T(Text::kBesideTip);
  if (part.bottleneck) tip += std::string("\n") + ui.T(Text::kBottleneckTip);
  Tip(ui, tip);
}

void DrawBar(const Ui& ui, const std::vector<RibbonPart>& parts, const BarPlace& bar) {
  float x = bar.left;
  for (const RibbonPart& part : parts) {
    const float next = x + static_cast<float>(part.seconds) * bar.pixels_per_second;
    DrawPart(ui, part, bar, x, next);
    x = next;
  }
}

// Draws the legend, ending at the right edge of `area`: what the lines in the blocks mean, then the
// names and times of parts whose blocks are too narrow for them, as many as fit.
void DrawRibbonLegend(const Ui& ui, const Ribbon& ribbon, float pixels_per_second, Area area) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  float right = area.max.x;
  const auto lined = std::find_if(ribbon.making.begin(), ribbon.making.end(),
                                  [](const RibbonPart& part) { return part.computing >= 0; });
  if (lined != ribbon.making.end()) {
    const std::string text = ui.T(Text::kOnCore);
    const float left = right - TextWidth(ui.small, text) - ui.Px(24);
    // A block with its line, as in the bar.
    const Rgb colour = ShadeOf(ui, *lined);
    const float bottom = area.min.y + ui.Px(12);
    list->AddRectFilled({left, area.min.y + ui.Px(2)}, {left + ui.Px(20), bottom}, Ink(colour),
                        ui.Px(2));
    DrawCoreLine(ui, {left + ui.Px(1), bottom - ui.Px(1)}, ui.Px(12), InkOn(colour));
    DrawText(list, ui.small, {left + ui.Px(24), area.min.y}, Ink(ui.palette().dim), text);
    right = left - ui.Px(14);
  }
  const auto entry = [&](const RibbonPart& part) {
    if (FitsInto(ui, part, static_cast<float>(part.seconds) * pixels_per_second)) return;
    const std::string text = fmt::format("{} {}", ui.T(part.name), DurationText(part.seconds));
    const float left = right - TextWidth(ui.small, text) - ui.Px(14);
    if (left < area.min.x) return;
    DrawText(list, ui.small, {left + ui.Px(14), area.min.y}, Ink(ui.palette().dim), text);
    list->AddRectFilled({left, area.min.y + ui.Px(2)}, {left + ui.Px(10), area.min.y + ui.Px(12)},
                        Ink(ShadeOf(ui, part)), ui.Px(2));
    right = left - ui.Px(14);
  };
  for (auto part = ribbon.loop.rbegin(); part != ribbon.loop.rend(); ++part) entry(*part);
  for (auto part = ribbon.making.rbegin(); part != ribbon.making.rend(); ++part) entry(*part);
}

}  // namespace

void DrawRibbon(const Ui& ui, const Analysis& analysis, Area area) {
  const Palette& p = ui.palette();
  const Ribbon& ribbon = analysis.ribbon;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Area panel = Panel(ui, area);
  const std::string title = TitleOfRank(analysis.report, ribbon.title, ui.language);
  const Area inside = Headed(ui, panel, title);
  if (ribbon.empty()) {
    DrawTextCentred(list, ui.body, inside, Ink(p.dim), ui.T(Text::kNoBatches));
    return;
  }
  const float label = ui.Px(250);
  const double longest = std::max({ribbon.making_time, ribbon.loop_time, 1e-9});
  BarPlace bar;
  bar.left = inside.min.x + label;
  bar.right = inside.max.x;
  bar.height = ui.Px(33);
  bar.pixels_per_second = (bar.right - bar.left) / static_cast<float>(longest);
  const float beside = panel.min.x + TextWidth(ui.strong, title) + ui.Px(20);
  DrawRibbonLegend(ui, ribbon, bar.pixels_per_second, {{beside, panel.min.y}, panel.max});
  const auto row = [&](const char* id, float y, const std::string& name, const std::string& line,
                       const std::vector<RibbonPart>& parts) {
    bar.id = id;
    bar.y = y;
    DrawText(list, ui.body, {inside.min.x, y + ui.Px(1)}, Ink(p.text), name);
    DrawShortened(ui, ui.small, {inside.min.x, y + ui.Px(1) + FontPixels(ui.body) + ui.Px(2)},
                  Ink(p.dim), line, label - ui.Px(8));
    DrawBar(ui, parts, bar);
  };
  const bool apart = ribbon.workers > 0;
  const std::string making =
      ribbon.making.empty() ? std::string(ui.T(Text::kHowMadeUnknown))
      : ribbon.workers > 1  ? ui.F(Text::kSideBySide, DurationText(ribbon.worker_time),
                                   ribbon.workers, DurationText(ribbon.worker_time / ribbon.workers))
                            : ui.F(ribbon.each_made, DurationText(ribbon.worker_time));
  const Text maker = !ribbon.workers_known ? Text::kMakingSomewhere
                     : apart               ? Text::kMaking
                                           : Text::kMakingAlone;
  row("making", inside.min.y + ui.Px(10), ui.T(maker), making, ribbon.making);
  row("loop", inside.min.y + ui.Px(10 + 33 + 20), ui.T(Text::kLoop),
      ui.F(ribbon.each, DurationText(ribbon.loop_time)), ribbon.loop);
}

}  // namespace penstock::gui
