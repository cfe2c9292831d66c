// SPDX-License-Identifier: Apache-2.0
//
// Plots over the time of a trace: areas and lines, the values under the pointer, a click that
// chooses a time. Drawn into the current window.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/widgets/plot.h"

namespace penstock::gui {

// Units: seconds since the trace began. The data of the spans must outlive the drawing.
struct TimeLine {
  std::string name;
  Rgb colour;
  std::span<const double> at;     // times of the values; empty: bins of `width` from `from` on
  std::span<const double> value;  // each holds until the next one
  double from = 0;
  double width = 0;
  bool filled = false;
  std::optional<std::string> legend{};  // instead of `name`; "": not in the legend
};

// A time at which something changed.
struct TimeMark {
  double at = 0;
  std::string text;     // beside the line; "" for none
  bool shaded = false;  // the plot is shaded from here on: a part of the data is missing
};

struct TimePlot {
  double from = 0;
  double to = 1;
  double most = 1;  // upper end of the axis
  std::function<std::string(double)> text;
  std::vector<TimeLine> lines;
  std::vector<TimeMark> marks;
  std::string hint;  // below the values under the pointer
};

// The time at `pointer`, in a plot that lies in `area`. If the pointer is elsewhere, because the
// plot was chosen with the keyboard, the time in the middle of the plot.
[[nodiscard]] double TimeAt(const TimePlot& plot, Area area, ImVec2 pointer);

// Returns the time that was clicked, or the middle if the keyboard pressed the plot.
std::optional<double> DrawTimePlot(const Ui& ui, const char* id, Area area, const TimePlot& plot);

}  // namespace penstock::gui
