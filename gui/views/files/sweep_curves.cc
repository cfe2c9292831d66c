// SPDX-License-Identifier: Apache-2.0
//
// Draws throughput against one parameter, with a curve for each value of another. Draws an ablation
// as bars.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/views/files/sweep_parts.h"
#include "gui/widgets/plot.h"

namespace penstock::gui {
namespace {

using analyzer::DurationText;
using analyzer::PlainText;

struct Scaled {
  SweepCurves curves;
  PlotAxes axes;
};

Scaled Scale(const Sweep& sweep, const SweepViewState& state, Language language) {
  Scaled result{CurvesOf(sweep, *state.grid, state.look, language), {}};
  PlotAxes& axes = result.axes;
  const std::vector<std::string>& values = sweep.axes[*state.look.across].values;
  double high = 0;
  double low_x = 0;
  double high_x = static_cast<double>(values.size()) - 1;
  if (!result.curves.places) {
    low_x = HUGE_VAL;
    high_x = -HUGE_VAL;
  }
  for (const SweepCurve& curve : result.curves.curves) {
    for (const SweepPoint& point : curve.points) {
      high = std::max(high, sweep.cells[point.cell].rate->most);
      low_x = std::min(low_x, point.x);
      high_x = std::max(high_x, point.x);
    }
  }
  const double room = std::max(high_x - low_x, 1.0) * 0.04;
  axes.x_low = low_x - room;
  axes.x_high = high_x + room;
  axes.y_high = std::max(high, 1e-9) * 1.08;
  axes.x_title = AxisName(sweep.axes[*state.look.across].name, language);
  axes.x_ticks = result.curves.values;
  axes.y_text = [](double y) { return y >= 1000 ? NumberText(y) : fmt::format("{:.4g}", y); };
  if (result.curves.places) {
    axes.x_text = [&values](double x) {
      const bool inside = x >= 0 && x < static_cast<double>(values.size());
      return inside ? PlainText(values[static_cast<std::size_t>(x)], 12) : std::string();
    };
  } else {
    axes.x_text = [](double x) { return x < 0 ? std::string() : fmt::format("{:.4g}", x); };
  }
  return result;
}

// Draws a line from the slowest to the fastest run of a cell.
void DrawSpread(const Ui& ui, const PlotFrame& frame, const SweepRate& rate, float x, Rgb colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float cap = ui.Px(3);
  const float low = frame.Y(rate.least);
  const float high = frame.Y(rate.most);
  list->AddLine({x, low}, {x, high}, Ink(colour, 0.75), ui.Px(1.3F));
  list->AddLine({x - cap, low}, {x + cap, low}, Ink(colour, 0.75), ui.Px(1.3F));
  list->AddLine({x - cap, high}, {x + cap, high}, Ink(colour, 0.75), ui.Px(1.3F));
}

}  // namespace

void DrawSweepCurves(const Ui& ui, const SweepViewState& state, Area area) {
  const Sweep& sweep = *state.file;
  const Palette& p = ui.palette();
  const Scaled scaled = Scale(sweep, state, ui.language);
  const auto& curves = scaled.curves.curves;
  if (curves.empty()) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(p.dim),
                    ui.T(Text::kCellPending));
    return;
  }
  std::vector<PlotLine> lines;
  for (const SweepCurve& curve : curves) {
    lines.push_back({curve.name, CurveColour(ui, curve.colour), {}, false});
  }
  if (scaled.curves.left_out > 0) {
    DrawTextRight(ImGui::GetWindowDrawList(), ui.small, area.max.x,
                  area.max.y - FontPixels(ui.small), Ink(p.dim),
                  ui.F(Text::kSweepMoreCurves, scaled.curves.left_out));
    area.max.y -= FontPixels(ui.small) + ui.Px(4);
  }
  const PlotFrame frame = BeginPlot(ui, area, scaled.axes, lines);
  ImDrawList* list = ImGui::GetWindowDrawList();
  // Without a shift, the spreads of several curves would cover each other. A single run has none.
  const auto shift = [&](std::size_t i) {
    if (sweep.repeats == 1) return 0.0F;
    return ui.Px(5) * (static_cast<float>(i) - (static_cast<float>(curves.size()) - 1) / 2);
  };
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::vector<ImVec2> path;
    for (const SweepPoint& point : curves[i].points) {
      const SweepRate& rate = *sweep.cells[point.cell].rate;
      const float x = frame.X(point.x) + shift(i);
      path.push_back({x, frame.Y(rate.median)});
      DrawSpread(ui, frame, rate, x, lines[i].colour);
    }
    list->AddPolyline(path.data(), static_cast<int>(path.size()), Ink(lines[i].colour), 0,
                      ui.Px(1.8F));
    for (std::size_t k = 0; k < path.size(); ++k) {
      const std::size_t cell = curves[i].points[k].cell;
      const bool best = sweep.best == cell;
      list->AddCircleFilled(path[k], ui.Px(best ? 5.5F : 3.5F), Ink(lines[i].colour));
      if (best) list->AddCircle(path[k], ui.Px(8), Ink(p.good), 0, ui.Px(2));
      if (state.chosen == cell) list->AddCircle(path[k], ui.Px(8), Ink(p.text), 0, ui.Px(1.5F));
    }
  }
}

void DrawSweepSteps(const Ui& ui, const SweepViewState& state, Area area) {
  const Sweep& sweep = *state.file;
  const Palette& p = ui.palette();
  double most_seconds = 0;
  float name_width = 0;
  for (const SweepCell& cell : sweep.cells) {
    most_seconds = std::max(most_seconds, cell.seconds_per_sample.value_or(0));
    name_width = std::max(name_width, TextWidth(ui.body, PlainText(cell.name, 48)));
  }
  if (most_seconds <= 0) {
    DrawTextCentred(ImGui::GetWindowDrawList(), ui.body, area, Ink(p.dim),
                    ui.T(Text::kSweepNothing));
    return;
  }
  name_width = std::min(name_width, area.width() * 0.32F) + ui.Px(12);
  BeginArea("steps", area, true);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const float longest = std::max(ui.Px(40), width - name_width - ui.Px(160));
  const float pitch = std::clamp(area.height() / static_cast<float>(sweep.cells.size()) - ui.Px(5),
                                 ui.Px(20), ui.Px(34));
  for (const SweepCell& cell : sweep.cells) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float text_y = at.y + (pitch - FontPixels(ui.body)) / 2;
    const float x = at.x + name_width;
    DrawText(list, ui.body, {at.x, text_y}, Ink(cell.rate ? p.text : p.dim),
             Elided(ui.body, PlainText(cell.name, 48), name_width - ui.Px(10)));
    ImGui::Dummy({width, pitch});
    if (!cell.seconds_per_sample) {
      DrawText(list, ui.body, {x, text_y}, Ink(p.dim),
               Elided(ui.body, CellText(sweep, cell, SweepColumn::kNote, ui.language),
                      width - name_width));
      continue;
    }
    const auto length = [&](double seconds) {
      return static_cast<float>(std::clamp(seconds / most_seconds, 0.0, 1.0)) * longest;
    };
    const float whole = length(*cell.seconds_per_sample);
    const float added = length(std::max(0.0, cell.increment.value_or(0)));
    const float top = at.y + ui.Px(2);
    const float bottom = at.y + pitch - ui.Px(2);
    list->AddRectFilled({x, top}, {x + whole, bottom}, Ink(p.accent, 0.35), ui.Px(3));
    if (added > 0) {
      list->AddRectFilled({x + whole - added, top}, {x + whole, bottom}, Ink(p.accent), ui.Px(3));
    }
    std::string figures = DurationText(*cell.seconds_per_sample);
    if (cell.increment) {
      figures += analyzer::InParentheses(
          CellText(sweep, cell, SweepColumn::kIncrement, ui.language), ui.language);
    }
    DrawText(list, ui.body, {x + whole + ui.Px(8), text_y}, Ink(p.dim), figures);
  }
  EndArea();
}

}  // namespace penstock::gui
