// SPDX-License-Identifier: Apache-2.0
//
// What the sweep view shows of a sweep: two axes as a map, one as curves, the rest held fixed; the
// answer in a sentence; the table. Values; pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/files/sweep.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

// Cells by their places on the axes. Keeps a reference to the sweep.
class SweepGrid {
 public:
  explicit SweepGrid(const Sweep& sweep);
  // `places`: for each axis the index of a value. nullopt where the sweep has no cell.
  [[nodiscard]] std::optional<std::size_t> At(const std::vector<std::size_t>& places) const;

 private:
  const Sweep& sweep_;
  std::vector<std::size_t> cells_;  // all combinations, the last axis fastest; kNone
};

// How one looks at the grid. Axes are indices into Sweep::axes.
struct SweepLook {
  std::optional<std::size_t> across;  // columns of the map, and of the curves
  std::optional<std::size_t> down;    // rows of the map, one curve each; never `across`
  std::vector<std::size_t> fixed;     // value of each axis; counts where it is neither of them
  bool operator==(const SweepLook&) const = default;
};

// How much throughput changes along an axis with everything else the same: the mean of the
// differences between most and least, as a fraction of the best. One for each axis.
[[nodiscard]] std::vector<double> Influence(const Sweep& sweep, const SweepGrid& grid);

// The two axes of most influence, the others where the best cell is.
[[nodiscard]] SweepLook FirstLook(const Sweep& sweep, const SweepGrid& grid);
// The look with another axis across (or down); the two change places where they would be one.
[[nodiscard]] SweepLook WithAcross(SweepLook look, std::size_t axis);
[[nodiscard]] SweepLook WithDown(SweepLook look, std::size_t axis);

struct HeatMap {
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::vector<std::optional<std::size_t>> cells;  // [rows][columns]
  double low = 0;  // of all that was measured, so that colours mean the same in every slice
  double high = 0;
  // 0 to 1 between the two; 1 where all are alike.
  [[nodiscard]] double Part(double rate) const;
};
[[nodiscard]] HeatMap MapOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look);

struct SweepPoint {
  double x = 0;  // a value, or its place where values are no numbers or lie far apart
  std::size_t cell = 0;
};
struct SweepCurve {
  std::string name;  // "prefetch 2"; "" for the only one
  std::vector<SweepPoint> points;
  std::size_t colour = 0;  // the row of the map, so that a curve keeps it
};
struct SweepCurves {
  std::vector<SweepCurve> curves;  // at most eight
  std::size_t left_out = 0;
  bool places = false;  // x are places 0, 1, ... on the axis
};
[[nodiscard]] SweepCurves CurvesOf(const Sweep& sweep, const SweepGrid& grid, const SweepLook& look,
                                   Language language);

// "prefetch", "预取"; unknown axes keep their names.
[[nodiscard]] std::string AxisName(const std::string& axis, Language language);
// "workers 4, prefetch 2, batch 64".
[[nodiscard]] std::string DescribeCell(const Sweep& sweep, const SweepCell& cell,
                                       Language language);
// "1,234", with as many figures as a rate deserves.
[[nodiscard]] std::string NumberText(double rate);
// "1,234 samples/s".
[[nodiscard]] std::string RateText(double rate, Language language);

// What the sweep says: the best cell, how sure, and what comes as close for less.
struct SweepAnswer {
  std::string sentence;
  std::string second;  // what to do, or what is missing; may be empty
};
[[nodiscard]] SweepAnswer AnswerOf(const Sweep& sweep, Language language);
// What was run, how often, on what; what failed or is missing.
[[nodiscard]] std::string SweepNote(const Sweep& sweep, Language language);

// Columns of the table after the axes.
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
// Those that hold something in this sweep.
[[nodiscard]] std::vector<SweepColumn> ColumnsOf(const Sweep& sweep);
[[nodiscard]] std::string CellText(const Sweep& sweep, const SweepCell& cell, SweepColumn column,
                                   Language language);
// What its note says in full, and what it means.
[[nodiscard]] std::string NoteTip(const Sweep& sweep, const SweepCell& cell, Language language);
// Order of the rows by a column of the table (axes first, then ColumnsOf); < 0: as measured.
// Cells without a figure come last.
[[nodiscard]] std::vector<std::size_t> SortedCells(const Sweep& sweep, int column, bool descending);

// Settings of a cell to paste: arguments of a DataLoader, or the command of the loader.
[[nodiscard]] std::string SettingsLine(const Sweep& sweep, const SweepCell& cell);

// The recording of the run next to the median; empty: none was kept.
[[nodiscard]] std::filesystem::path TraceOf(const SweepCell& cell);

}  // namespace penstock::gui
