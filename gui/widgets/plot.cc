// SPDX-License-Identifier: Apache-2.0
#include "gui/widgets/plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "gui/model/timeline/ticks.h"

namespace penstock::gui {

float PlotFrame::X(double x) const {
  const double part = (x - axes.x_low) / std::max(axes.x_high - axes.x_low, 1e-300);
  return area.min.x + static_cast<float>(part) * area.width();
}

float PlotFrame::Y(double y) const {
  const double part = (y - axes.y_low) / std::max(axes.y_high - axes.y_low, 1e-300);
  return area.max.y - static_cast<float>(part) * area.height();
}

double PlotFrame::ValueAt(float x) const {
  const double part = static_cast<double>(x - area.min.x) / std::max(area.width(), 1.0F);
  return axes.x_low + part * (axes.x_high - axes.x_low);
}

namespace {

// The text of a tick below the axis. It lies completely inside the plot's area.
struct XTick {
  double at = 0;
  std::string text;
  float left = 0;
  float width = 0;
};

// At most `most` places; of given ones every second, third and so on.
std::vector<double> PlacesOfTicks(const PlotAxes& axes, int most) {
  if (axes.x_ticks.empty()) return RoundValues(axes.x_low, axes.x_high, most);
  std::vector<double> inside;
  std::copy_if(axes.x_ticks.begin(), axes.x_ticks.end(), std::back_inserter(inside),
               [&](double x) { return x >= axes.x_low && x <= axes.x_high; });
  const auto room = static_cast<std::size_t>(most);
  const std::size_t stride = std::max<std::size_t>((inside.size() + room - 1) / room, 1);
  std::vector<double> places;
  for (std::size_t i = 0; i < inside.size(); i += stride) places.push_back(inside[i]);
  return places;
}

// As many ticks as fit with their texts side by side.
std::vector<XTick> XTicksOf(const Ui& ui, const PlotFrame& frame, const Area& area) {
  std::vector<XTick> ticks;
  for (int most = std::max(2, static_cast<int>(frame.area.width() / ui.Px(56))); most >= 1;
       --most) {
    ticks.clear();
    bool apart = true;
    for (const double x : PlacesOfTicks(frame.axes, most)) {
      if (frame.axes.whole_x && x != std::floor(x)) continue;
      XTick tick{x, frame.axes.x_text(x), 0, 0};
      tick.width = TextWidth(ui.small, tick.text);
      tick.left =
          std::max(std::min(frame.X(x) - tick.width / 2, area.max.x - tick.width), area.min.x);
      const XTick* before = ticks.empty() ? nullptr : &ticks.back();
      if (before != nullptr && tick.left < before->left + before->width + ui.Px(8)) apart = false;
      ticks.push_back(std::move(tick));
    }
    if (apart) break;
  }
  return ticks;
}

}  // namespace

PlotFrame BeginPlot(const Ui& ui, Area area, const PlotAxes& axes,
                    const std::vector<PlotLine>& lines) {
  const Palette& p = ui.palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int most = std::max(2, static_cast<int>(area.height() / ui.Px(38)));
  auto y_values = RoundValues(axes.y_low, axes.y_high, most);
  // A single tick would not show the scale of the axis.
  for (int more = 1; y_values.size() < 2 && more < 4; ++more) {
    y_values = RoundValues(axes.y_low, axes.y_high, most + more);
  }
  if (axes.whole_y) std::erase_if(y_values, [](double y) { return y != std::floor(y); });
  float side = ui.Px(10);
  for (const double y : y_values) side = std::max(side, TextWidth(ui.small, axes.y_text(y)));
  const bool legend = std::any_of(lines.begin(), lines.end(),
                                  [](const PlotLine& line) { return !line.name.empty(); });
  const float head = legend ? FontPixels(ui.small) + ui.Px(10) : ui.Px(6);
  // The name of the axis has its own row. In the row of the ticks it would cover the last tick.
  const float title = axes.x_title.empty() ? 0 : FontPixels(ui.small) + ui.Px(2);
  const float foot = FontPixels(ui.small) + ui.Px(7) + title;
  PlotFrame frame{{{area.min.x + side + ui.Px(8), area.min.y + head},
                   {area.max.x - ui.Px(4), area.max.y - foot}},
                  axes};
  const Area& in = frame.area;
  for (const double y : y_values) {
    list->AddLine({in.min.x, frame.Y(y)}, {in.max.x, frame.Y(y)}, Ink(p.line, 0.8));
    DrawTextRight(list, ui.small, in.min.x - ui.Px(7), frame.Y(y) - FontPixels(ui.small) / 2,
                  Ink(p.dim), axes.y_text(y));
  }
  for (const XTick& tick : XTicksOf(ui, frame, area)) {
    const float x = frame.X(tick.at);
    list->AddLine({x, in.max.y}, {x, in.max.y + ui.Px(4)}, Ink(p.dim));
    DrawText(list, ui.small, {tick.left, in.max.y + ui.Px(6)}, Ink(p.dim), tick.text);
  }
  if (title > 0) {
    DrawTextRight(list, ui.small, in.max.x, in.max.y + ui.Px(6) + title, Ink(p.dim), axes.x_title);
  }
  list->AddLine({in.min.x, in.max.y}, in.max, Ink(p.dim));
  float x = in.min.x;
  auto left = std::count_if(lines.begin(), lines.end(),
                            [](const PlotLine& line) { return !line.name.empty(); });
  for (const PlotLine& line : lines) {
    if (line.name.empty()) continue;
    const float width = TextWidth(ui.small, line.name) + ui.Px(30);
    const std::string others = fmt::format("+{}", left);
    const float room = left > 1 ? TextWidth(ui.small, others) : 0;
    if (x + width + room > in.max.x) {
      DrawText(list, ui.small, {x, area.min.y}, Ink(p.dim), others);
      break;
    }
    --left;
    const float y = area.min.y + FontPixels(ui.small) / 2 + ui.Px(1);
    list->AddRectFilled({x, y - ui.Px(1.5F)}, {x + ui.Px(14), y + ui.Px(1.5F)}, Ink(line.colour));
    DrawText(list, ui.small, {x + ui.Px(19), area.min.y}, Ink(p.text), line.name);
    x += width;
  }
  return frame;
}

std::pair<double, double> ReachOf(const PlotBand& band, double from, double to) {
  const auto between = [&](const std::vector<double>& values, double x) {
    const auto next = std::lower_bound(band.x.begin(), band.x.end(), x);
    if (next == band.x.begin()) return values.front();
    if (next == band.x.end()) return values.back();
    const auto i = static_cast<std::size_t>(next - band.x.begin());
    if (band.steps) return *next == x ? values[i] : values[i - 1];
    const double part = (x - band.x[i - 1]) / (band.x[i] - band.x[i - 1]);
    return values[i - 1] + part * (values[i] - values[i - 1]);
  };
  double low = std::min(between(band.low, from), between(band.low, to));
  double high = std::max(between(band.high, from), between(band.high, to));
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    if (band.x[i] < from || band.x[i] > to) continue;
    low = std::min(low, band.low[i]);
    high = std::max(high, band.high[i]);
  }
  return {low, high};
}

void DrawBand(const PlotFrame& frame, const PlotBand& band) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  // Smoothed edges would show as seams between the parts.
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 1; i < band.x.size(); ++i) {
    if (band.steps) {
      list->AddRectFilled({frame.X(band.x[i - 1]), frame.Y(band.high[i - 1])},
                          {frame.X(band.x[i]), frame.Y(band.low[i - 1])},
                          Ink(band.colour, kBandShare));
      continue;
    }
    list->AddQuadFilled(
        {frame.X(band.x[i - 1]), frame.Y(band.low[i - 1])},
        {frame.X(band.x[i]), frame.Y(band.low[i])}, {frame.X(band.x[i]), frame.Y(band.high[i])},
        {frame.X(band.x[i - 1]), frame.Y(band.high[i - 1])}, Ink(band.colour, kBandShare));
  }
  list->Flags = flags;
}

void DrawLine(const Ui& ui, const PlotFrame& frame, const PlotLine& line) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<ImVec2> path;
  for (const PlotPoint& point : line.points) {
    const ImVec2 at{frame.X(point.x), frame.Y(point.y)};
    if (line.steps && !path.empty()) path.push_back({at.x, path.back().y});
    path.push_back(at);
  }
  list->PushClipRect(frame.area.min, {frame.area.max.x, frame.area.max.y + 1}, true);
  list->AddPolyline(path.data(), static_cast<int>(path.size()), Ink(line.colour), 0, ui.Px(1.8F));
  list->PopClipRect();
}

}  // namespace penstock::gui
