// SPDX-License-Identifier: Apache-2.0
#include "gui/model/files/sweep_grid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include <fmt/core.h>

namespace penstock::gui {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostCurves = 8;
// If the largest value is more than this many times the least one above zero, the values are drawn
// at equal distances instead of to scale.
constexpr double kWidestScale = 16;

std::size_t PlaceOf(const SweepAxis& axis, const std::string& value) {
  const auto found = std::find(axis.values.begin(), axis.values.end(), value);
  return found == axis.values.end() ? kNone : static_cast<std::size_t>(found - axis.values.begin());
}

// Steps through all combinations of the axes in `free`, while the others stay. Returns false after
// the last one.
bool NextPlaces(const Sweep& sweep, const std::vector<bool>& free,
                std::vector<std::size_t>& places) {
  for (std::size_t a = places.size(); a-- > 0;) {
    if (!free[a]) continue;
    if (++places[a] < sweep.axes[a].values.size()) return true;
    places[a] = 0;
  }
  return false;
}

// The text as a number; nullopt if any part of it is not a number.
std::optional<double> NumberOf(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

// The places of an axis's values on a plot to scale; empty if such a plot would show little.
std::vector<double> ScaleOf(const SweepAxis& axis) {
  std::vector<double> scale;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const std::string& value : axis.values) {
    const auto number = NumberOf(value);
    if (!number || *number < 0 || (!scale.empty() && *number <= scale.back())) return {};
    scale.push_back(*number);
    most = std::max(most, *number);
    if (*number > 0) least = std::min(least, *number);
  }
  if (most > least * kWidestScale) return {};
  return scale;
}

std::vector<std::size_t> PlacesOf(const Sweep& sweep, std::size_t cell) {
  std::vector<std::size_t> places(sweep.axes.size(), 0);
  for (std::size_t a = 0; a < places.size(); ++a) {
    const std::size_t place = PlaceOf(sweep.axes[a], sweep.cells[cell].values[a]);
    if (place != kNone) places[a] = place;
  }
  return places;
}

// The rows of the map that get a curve: all, or evenly spread ones including the row of the best
// cell.
std::vector<std::size_t> RowsWithCurves(const Sweep& sweep, const SweepLook& look,
                                        std::size_t rows) {
  std::vector<std::size_t> chosen;
  if (rows <= kMostCurves) {
    chosen.resize(rows);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  const std::size_t best =
      sweep.best && look.down ? PlacesOf(sweep, *sweep.best)[*look.down] : std::size_t{0};
  for (std::size_t i = 0; i + 1 < kMostCurves; ++i) {
    chosen.push_back(i * (rows - 1) / (kMostCurves - 2));
  }
  if (std::find(chosen.begin(), chosen.end(), best) == chosen.end()) chosen.push_back(best);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

SweepGrid::SweepGrid(const Sweep& sweep) : sweep_(sweep) {
  std::size_t places = 1;
  for (const SweepAxis& axis : sweep.axes) places *= axis.values.size();
  cells_.assign(places, kNone);
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const SweepCell& cell = sweep.cells[i];
    // A cell for which an axis makes no difference stands at all places of that axis.
    std::vector<bool> free(sweep.axes.size(), false);
    std::vector<std::size_t> at = PlacesOf(sweep, i);
    for (std::size_t a = 0; a < free.size(); ++a) {
      free[a] = PlaceOf(sweep.axes[a], cell.values[a]) == kNone;
      if (free[a]) at[a] = 0;
    }
    do {
      std::size_t index = 0;
      for (std::size_t a = 0; a < at.size(); ++a) {
        index = index * sweep.axes[a].values.size() + at[a];
      }
      if (cells_[index] == kNone) cells_[index] = i;
    } while (NextPlaces(sweep, free, at));
  }
}

std::optional<std::size_t> SweepGrid::At(const std::vector<std::size_t>& places) const {
  std::size_t index = 0;
  for (std::size_t a = 0; a < places.size(); ++a) {
    index = index * sweep_.axes[a].values.size() + places[a];
  }
  if (cells_[index] == kNone) return std::nullopt;
  return cells_[index];
}

std::vector<double> Influence(const Sweep& sweep, const SweepGrid& grid) {
  std::vector<double> influence(sweep.axes.size(), 0);
  double best = 0;
  for (const SweepCell& cell : sweep.cells) {
    if (cell.rate) best = std::max(best, cell.rate->median);
  }
  if (best <= 0) return influence;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    std::vector<bool> others(sweep.axes.size(), true);
    others[a] = false;
    std::vector<std::size_t> places(sweep.axes.size(), 0);
    double sum = 0;
    std::size_t lines = 0;
    do {
      double least = std::numeric_limits<double>::infinity();
      double most = 0;
      std::size_t known = 0;
      for (places[a] = 0; places[a] < sweep.axes[a].values.size(); ++places[a]) {
        const auto cell = grid.At(places);
        if (!cell || !sweep.cells[*cell].rate) continue;
        least = std::min(least, sweep.cells[*cell].rate->median);
        most = std::max(most, sweep.cells[*cell].rate->median);
        ++known;
      }
      places[a] = 0;
      if (known < 2) continue;
      sum += (most - least) / best;
      ++lines;
    } while (NextPlaces(sweep, others, places));
    if (lines > 0) influence[a] = sum / static_cast<double>(lines);
  }
  return influence;
}

SweepLook FirstLook(const Sweep& sweep, const SweepGrid& grid) {
  SweepLook look;
  const std::vector<double> influence = Influence(sweep, grid);
  std::vector<std::size_t> order(sweep.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // An axis with one value can only be a filter.
  const auto several = [&](std::size_t a) { return sweep.axes[a].values.size() > 1; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (several(a) != several(b)) return several(a);
    return influence[a] > influence[b];
  });
  if (!order.empty()) look.across = order[0];
  if (order.size() > 1) look.down = order[1];
  look.fixed = sweep.best ? PlacesOf(sweep, *sweep.best)
                          : std::vector<std::size_t>(sweep.axes.size(), std::size_t{0});
  return look;
}

SweepLook WithAcross(SweepLook look, std::size_t axis) {
  if (look.down == axis) look.down = look.across;
  look.across = axis;
  return look;
}

SweepLook WithDown(SweepLook look, std::size_t axis) {
  if (look.across == axis) look.across = look.down;
  look.down = axis;
  return look;
}

double HeatMap::Part(double rate) const {
  return high > low ? std::clamp((rate - low) / (high - low), 0.0, 1.0) : 1;
}

HeatMap MapOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look) {
  HeatMap map;
  if (!look.across) return map;
  map.columns = sweep.axes[*look.across].values.size();
  map.rows = look.down ? sweep.axes[*look.down].values.size() : 1;
  std::vector<std::size_t> places = look.fixed;
  for (std::size_t row = 0; row < map.rows; ++row) {
    for (std::size_t column = 0; column < map.columns; ++column) {
      if (look.down) places[*look.down] = row;
      places[*look.across] = column;
      map.cells.push_back(grid.At(places));
    }
  }
  bool any = false;
  for (const SweepCell& cell : sweep.cells) {
    if (!cell.rate) continue;
    map.low = any ? std::min(map.low, cell.rate->median) : cell.rate->median;
    map.high = std::max(map.high, cell.rate->median);
    any = true;
  }
  return map;
}

SweepCurves CurvesOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look,
                     Language language) {
  SweepCurves result;
  const HeatMap map = MapOf(sweep, grid, look);
  if (map.columns == 0) return result;
  result.values = ScaleOf(sweep.axes[*look.across]);
  result.places = result.values.empty();
  if (result.places) {
    result.values.resize(map.columns);
    std::iota(result.values.begin(), result.values.end(), 0.0);
  }
  const std::vector<std::size_t> rows = RowsWithCurves(sweep, look, map.rows);
  result.left_out = map.rows - rows.size();
  for (const std::size_t row : rows) {
    SweepCurve curve;
    curve.colour = row;
    if (look.down) {
      const SweepAxis& axis = sweep.axes[*look.down];
      curve.name = fmt::format("{} {}", AxisName(axis.name, language), axis.values[row]);
    }
    for (std::size_t column = 0; column < map.columns; ++column) {
      const auto cell = map.cells[row * map.columns + column];
      if (!cell || !sweep.cells[*cell].rate) continue;
      curve.points.push_back({result.values[column], *cell});
    }
    if (!curve.points.empty()) result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace penstock::gui
