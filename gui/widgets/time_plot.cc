// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/time_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "gui/model/timeline/ticks.h"

namespace penstock::gui {
namespace {

constexpr std::size_t kMostInCard = 12;

// A time with as many decimals as are needed to tell the ticks of this axis apart.
std::string SecondsText(double at, double length) {
  return TimeText(static_cast<std::int64_t>(at * 1e9), static_cast<std::int64_t>(length * 1e8));
}

double StartOf(const TimeLine& line, std::size_t i) {
  return line.at.empty() ? line.from + line.width * static_cast<double>(i) : line.at[i];
}

// The time at which the last value ends.
double EndOf(const TimeLine& line) {
  if (line.value.empty()) return 0;
  return line.at.empty() ? line.from + line.width * static_cast<double>(line.value.size())
                         : line.at.back();
}

std::optional<double> ValueOf(const TimeLine& line, double at) {
  if (line.value.empty() || at < StartOf(line, 0) || at > EndOf(line)) return std::nullopt;
  if (line.at.empty()) {
    const auto bin = static_cast<std::size_t>((at - line.from) / std::max(line.width, 1e-300));
    return line.value[std::min(bin, line.value.size() - 1)];
  }
  const auto it = std::upper_bound(line.at.begin(), line.at.end(), at);
  return line.value[static_cast<std::size_t>(it - line.at.begin()) - 1];
}

// The line as steps. If several values share a column of pixels, the line has one vertex there, at
// the highest value.
std::vector<ImVec2> PathOf(const PlotFrame& frame, const TimeLine& line) {
  std::vector<ImVec2> path;
  for (std::size_t i = 0; i < line.value.size(); ++i) {
    const float x = frame.X(StartOf(line, i));
    const float y = frame.Y(line.value[i]);
    if (!path.empty() && x - path.back().x < 0.7F) {
      path.back().y = std::min(path.back().y, y);
      continue;
    }
    // Steps of less than a pixel are left out.
    if (!path.empty() && std::abs(y - path.back().y) < 0.7F) continue;
    if (!path.empty()) path.push_back({x, path.back().y});
    path.push_back({x, y});
  }
  if (!path.empty()) path.push_back({std::max(frame.X(EndOf(line)), path.back().x), path.back().y});
  return path;
}

void DrawPath(const Ui& ui, const PlotFrame& frame, const TimeLine& line) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<ImVec2> path = PathOf(frame, line);
  if (line.filled) {
    // Smoothed edges would show as seams between the parts.
    const ImDrawListFlags flags = list->Flags;
    list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path[i].x <= path[i - 1].x || path[i - 1].y >= frame.area.max.y) continue;
      list->AddRectFilled(path[i - 1], {path[i].x, frame.area.max.y}, Ink(line.colour, 0.32));
    }
    list->Flags = flags;
  }
  // The line is drawn in whole pixels, because a smoothed line looks thicker where its corners are
  // close together.
  const float thickness = std::max(1.0F, std::round(ui.Px(line.filled ? 1.2F : 1.6F)));
  const auto snap = [thickness](ImVec2 at) {
    return ImVec2{std::round(at.x - thickness / 2), std::round(at.y - thickness / 2)};
  };
  for (std::size_t i = 1; i < path.size(); ++i) {
    const ImVec2 a = snap(path[i - 1]);
    const ImVec2 b = snap(path[i]);
    list->AddRectFilled({std::min(a.x, b.x), std::min(a.y, b.y)},
                        {std::max(a.x, b.x) + thickness, std::max(a.y, b.y) + thickness},
                        Ink(line.colour));
  }
}

void DrawMark(const Ui& ui, const PlotFrame& frame, const TimeMark& mark) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Rgb ink = ui.palette().text;
  const float x = std::round(frame.X(mark.at));
  if (mark.shaded) {
    list->AddRectFilled({x, frame.area.min.y}, frame.area.max, Ink(ui.palette().warn, 0.14));
  }
  list->AddLine({x, frame.area.min.y}, {x, frame.area.max.y}, Ink(ink, 0.8), ui.Px(1.5F));
  if (mark.text.empty()) return;
  // The text gets a background, because the line of the plot may run behind it.
  const float pad = ui.Px(4);
  const float width = TextWidth(ui.small, mark.text) + 2 * pad;
  const float height = FontPixels(ui.small) + pad;
  const bool fits = x + width <= frame.area.max.x;
  const ImVec2 at{fits ? x : x - width, frame.area.min.y};
  list->AddRectFilled(at, {at.x + width, at.y + height}, Ink(ui.palette().panel, 0.9));
  DrawText(list, ui.small, {at.x + pad, at.y + pad / 2}, Ink(ink), mark.text);
}

void DrawCard(const Ui& ui, const TimePlot& plot, double at) {
  const Palette& p = ui.palette();
  struct Entry {
    const TimeLine* line;
    double value;
  };
  std::vector<Entry> entries;
  for (const TimeLine& line : plot.lines) {
    if (const auto value = ValueOf(line, at)) entries.push_back({&line, *value});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.value > b.value; });
  const std::size_t left_out = entries.size() - std::min(entries.size(), kMostInCard);
  entries.resize(std::min(entries.size(), kMostInCard));
  const std::string head = SecondsText(at, plot.to - plot.from);
  float width = std::max(TextWidth(ui.strong, head), TextWidth(ui.small, plot.hint));
  for (const Entry& entry : entries) {
    width = std::max(width, TextWidth(ui.body, entry.line->name) +
                                TextWidth(ui.strong, plot.text(entry.value)) + ui.Px(42));
  }
  BeginCard(ui);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  DrawText(list, ui.strong, from, Ink(p.text), head);
  float y = from.y + FontPixels(ui.strong) + ui.Px(6);
  const float pitch = FontPixels(ui.body) + ui.Px(4);
  for (const Entry& entry : entries) {
    list->AddRectFilled({from.x, y + ui.Px(3)}, {from.x + ui.Px(10), y + ui.Px(13)},
                        Ink(entry.line->colour), ui.Px(2));
    DrawText(list, ui.body, {from.x + ui.Px(17), y}, Ink(p.dim), entry.line->name);
    DrawTextRight(list, ui.strong, from.x + width, y, Ink(p.text), plot.text(entry.value));
    y += pitch;
  }
  if (left_out > 0) {
    DrawText(list, ui.small, {from.x, y}, Ink(p.dim), fmt::format("+ {}", left_out));
    y += pitch;
  }
  if (!plot.hint.empty()) {
    DrawText(list, ui.small, {from.x, y + ui.Px(2)}, Ink(p.dim), plot.hint);
    y += pitch;
  }
  ImGui::Dummy({width, y - from.y});
  EndCard();
}

}  // namespace

double TimeAt(const TimePlot& plot, Area area, ImVec2 pointer) {
  const bool inside = pointer.x >= area.min.x && pointer.x <= area.max.x &&
                      pointer.y >= area.min.y && pointer.y <= area.max.y;
  const float part = inside ? (pointer.x - area.min.x) / std::max(area.width(), 1.0F) : 0.5F;
  return plot.from + static_cast<double>(part) * std::max(plot.to - plot.from, 1e-9);
}

std::optional<double> DrawTimePlot(const Ui& ui, const char* id, Area area, const TimePlot& plot) {
  PlotAxes axes;
  axes.x_low = plot.from;
  axes.x_high = std::max(plot.to, plot.from + 1e-9);
  axes.y_high = std::max(plot.most, 1e-12) * 1.06;
  const double length = axes.x_high - axes.x_low;
  axes.x_text = [length](double x) { return SecondsText(x, length / 2); };
  axes.y_text = plot.text;
  std::vector<PlotLine> legend;
  for (const TimeLine& line : plot.lines) {
    legend.push_back({line.legend.value_or(line.name), line.colour, {}, false});
  }
  const PlotFrame frame = BeginPlot(ui, area, axes, legend);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(frame.area.min, {frame.area.max.x, frame.area.max.y + 1}, true);
  for (const TimeLine& line : plot.lines) DrawPath(ui, frame, line);
  for (const TimeMark& mark : plot.marks) DrawMark(ui, frame, mark);
  list->PopClipRect();
  ImGui::SetCursorScreenPos(frame.area.min);
  const bool clicked = ImGui::InvisibleButton(
      id, {std::max(frame.area.width(), 1.0F), std::max(frame.area.height(), 1.0F)});
  if (!ImGui::IsItemHovered()) return std::nullopt;
  const double at = TimeAt(plot, frame.area, ImGui::GetIO().MousePos);
  const float x = frame.X(at);
  list->AddLine({x, frame.area.min.y}, {x, frame.area.max.y}, Ink(ui.palette().text, 0.5));
  DrawCard(ui, plot, at);
  return clicked ? std::optional(at) : std::nullopt;
}

}  // namespace penstock::gui
