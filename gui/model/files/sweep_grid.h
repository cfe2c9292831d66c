// SPDX-License-Identifier: Apache-2.0
//
// How the sweep view shows a sweep: two axes as a map, one of them as curves, the other axes held
// fixed; the result in a sentence; the table. Values; pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/files/sweep.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// Finds cells by their places on the axes; a place is the index of a value. Keeps a reference to
// the sweep.
class SweepGrid {
 public:
  explicit SweepGrid(const Sweep& sweep);
  // `places`: the index of a value for each axis. nullopt where the sweep has no cell.
  [[nodiscard]] std::optional<std::size_t> At(const std::vector<std::size_t>& places) const;

 private:
  const Sweep& sweep_;
  std::vector<std::size_t> cells_;  // by combination, the last axis fastest; kNone: no cell
};

// Which part of the grid is shown. Axes are indices into Sweep::axes.
struct SweepLook {
  std::optional<std::size_t> across;  // columns of the map, and of the curves
  std::optional<std::size_t> down;    // rows of the map, one curve each; never `across`
  std::vector<std::size_t> fixed;     // place on each axis; used for the other axes
  bool operator==(const SweepLook&) const = default;
};

// How much each axis changes the throughput while the others stay the same: the mean difference
// between the fastest and the slowest cell, as a fraction of the best rate.
[[nodiscard]] std::vector<double> Influence(const Sweep& sweep, const SweepGrid& grid);

// The first view: the two axes with most influence, the others held where the best cell is. Axes
// with a single value come last.
[[nodiscard]] SweepLook FirstLook(const Sweep& sweep, const SweepGrid& grid);
// The same view with `axis` across (or down). If `axis` is now down (or across), the two axes swap.
[[nodiscard]] SweepLook WithAcross(SweepLook look, std::size_t axis);
[[nodiscard]] SweepLook WithDown(SweepLook look, std::size_t axis);

struct HeatMap {
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::vector<std::optional<std::size_t>> cells;  // [rows][columns]
  double low = 0;  // over all cells, so that colours mean the same in every slice
  double high = 0;
  // The place of a rate between `low` and `high`, 0 to 1; 1 if all rates are alike.
  [[nodiscard]] double Part(double rate) const;
};
[[nodiscard]] HeatMap MapOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look);

struct SweepPoint {
  double x = 0;  // a value of the axis, or its place: SweepCurves::places
  std::size_t cell = 0;
};
struct SweepCurve {
  std::string name;  // "prefetch 2"; "" for a single curve
  std::vector<SweepPoint> points;
  std::size_t colour = 0;  // the row of the map: a curve keeps its colour
};
struct SweepCurves {
  std::vector<SweepCurve> curves;  // at most eight
  std::size_t left_out = 0;        // rows of the map that have no curve
  std::vector<double> values;      // x of each value of the axis, measured or not
  // Whether x is a place 0, 1, ... on the axis instead of a value. This is so if the values are not
  // numbers, do not ascend, or lie so far apart that a plot to scale would show little.
  bool places = false;
};
[[nodiscard]] SweepCurves CurvesOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look,
                                   Language language);

// The axis in the language, such as "prefetch" or "预取". Unknown axes keep their names.
[[nodiscard]] std::string AxisName(const std::string& axis, Language language);
// The settings of a cell: "workers 4, prefetch 2, batch 64".
[[nodiscard]] std::string DescribeCell(const Sweep& sweep, const SweepCell& cell,
                                       Language language);
// A rate as it is shown: "2.41", "41.2", "412", "1,234".
[[nodiscard]] std::string NumberText(double rate);
// The same with its unit: "1,234 samples/s".
[[nodiscard]] std::string RateText(double rate, Language language);

// The result of a sweep: the best cell, how far its runs lie apart, and the cheaper cell that comes
// close to it. The result of an ablation: its most expensive step.
struct SweepAnswer {
  std::string sentence;
  std::string second;  // what to do, or what is missing; may be empty
};
[[nodiscard]] SweepAnswer AnswerOf(const Sweep& sweep, Language language);
// What was run, how often and on what machine; what failed or is missing.
[[nodiscard]] std::string SweepNote(const Sweep& sweep, Language language);

// The columns of the table that follow the columns of the axes.
enum class SweepColumn : std::uint8_t {
  kRate,
  kSpread,
  kOfBest,
  kFirstBatch,
  kBottleneck,
  kPerSample,
  kIncrement,
  kNote
};
// The columns that hold something in this sweep.
[[nodiscard]] std::vector<SweepColumn> ColumnsOf(const Sweep& sweep);
[[nodiscard]] std::string CellText(const Sweep& sweep, const SweepCell& cell, SweepColumn column,
                                   Language language);
// The note of a cell in full, with its meaning.
[[nodiscard]] std::string NoteTip(const Sweep& sweep, const SweepCell& cell, Language language);
// The order of the rows by a column of the table (axes first, then ColumnsOf); a column < 0 keeps
// the measured order. Cells without a rate come last.
[[nodiscard]] std::vector<std::size_t> SortedCells(const Sweep& sweep, int column, bool descending);

// The settings of a cell as text to paste: arguments of a DataLoader, or the command of the loader.
[[nodiscard]] std::string SettingsLine(const Sweep& sweep, const SweepCell& cell);

// The recording of the run whose rate is nearest to the median; empty if none was kept.
[[nodiscard]] std::filesystem::path TraceOf(const SweepCell& cell);

}  // namespace penstock::gui
