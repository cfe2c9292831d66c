// SPDX-License-Identifier: Apache-2.0
//
// Plots with axes, drawn into the current window.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gui/widgets/draw.h"

namespace penstock::gui {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string name;  // in the legend; "" for none
  Rgb colour;
  std::vector<PlotPoint> points;  // ascending x
  bool steps = false;             // a value holds until the next point
};

// A region between two curves over the same x.
struct PlotBand {
  Rgb colour;
  std::vector<double> x, low, high;
  bool steps = false;  // values hold until the next x
};

struct PlotAxes {
  double x_low = 0, x_high = 1;
  double y_low = 0, y_high = 1;
  std::vector<double> x_ticks;  // the only places of ticks, ascending; empty: round values
  bool whole_x = false;         // ticks at whole numbers only
  bool whole_y = false;
  std::string x_title;
  std::function<std::string(double)> x_text;
  std::function<std::string(double)> y_text;
};

// The area inside the axes, for views that draw something more into it.
struct PlotFrame {
  Area area;
  PlotAxes axes;
  [[nodiscard]] float X(double x) const;
  [[nodiscard]] float Y(double y) const;
  // The inverse of X().
  [[nodiscard]] double ValueAt(float x) const;
};

// Draws axes, grid and legend; returns the area inside them.
PlotFrame BeginPlot(const Ui& ui, Area area, const PlotAxes& axes,
                    const std::vector<PlotLine>& lines);
// The lowest and the highest value of the band between two x. Requires: band.x is not empty.
[[nodiscard]] std::pair<double, double> ReachOf(const PlotBand& band, double from, double to);
void DrawBand(const PlotFrame& frame, const PlotBand& band);
void DrawLine(const Ui& ui, const PlotFrame& frame, const PlotLine& line);

}  // namespace penstock::gui
