// SPDX-License-Identifier: Apache-2.0
//
// The functions and lines of the program in which samples, batches and steps spend their time, from
// the units that were followed (traces/FORMAT.md, "Followed units"). Values; pure functions.
//
// Time counts for the program's own functions. Time in a library counts for the function of the
// program that called the library, under the name of the called library function. A library
// function that no function of the program called, such as a dataset that comes with a library,
// stands for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/stage_totals.h"
#include "analyzer/model/unit_neighbours.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// Fractions are of the time of all followed units of the stage, corrected for the cost of
// following.
struct CalledTime {
  std::string name;  // "copy.deepcopy", "numpy.random.choice"
  std::string file;  // "": not Python
  double share = 0;  // with all that it called
  double count = 0;  // calls per unit
};

struct LineTime {
  std::uint32_t line = 0;
  double share = 0;                // with library functions that it called
  double own = 0;                  // part of `share` in the interpreter
  double count = 0;                // times per unit that it was entered
  std::vector<CalledTime> called;  // library functions and functions of C, the largest share first
};

struct FunctionTime {
  std::string name;
  std::string file;
  std::uint32_t line = 0;          // its first line
  bool is_library = false;         // it belongs to a library
  double share = 0;                // with library functions that it called
  double own = 0;                  // part of `share` in the interpreter
  double total = 0;                // with all that it called
  double count = 0;                // calls per unit
  std::vector<LineTime> lines;     // the largest share first; none where no line was followed
  bool of_cut = false;             // `lines` come from one unit that was cut
  std::vector<CalledTime> called;  // the largest share first
};

// A function as it was called along one path.
struct CallPath {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  std::size_t parent = 0;  // index of the path above it; its own index: the unit itself called it
  double total = 0;        // fraction, as above
  double count = 0;        // calls per unit
};

// Seconds per unit in a line of a function, with all but the program's functions that it called.
struct MoreLine {
  std::uint32_t line = 0;
  double slow = 0;
  double others = 0;
};

// Seconds per unit in a function, with the library functions that it called.
struct MoreTime {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  double slow = 0;
  double others = 0;
  // Lines with more time in a slow unit, the largest gap first; none where lines of this function
  // were not followed in both kinds of units.
  std::vector<MoreLine> lines;
};

// Compares slow units with the others. A unit is slow if it takes more than kSlow times the median
// of the units that were drawn at random. A slow unit may also be one that was chosen because its
// sample was slow before. The others are the drawn units that are not slow. There must be at least
// three slow units and twelve drawn units (four if others were chosen). Units with lines do not
// count for these numbers.
struct SlowUnits {
  static constexpr double kSlow = 1.5;
  std::size_t units = 0;  // 0: too few are slow or were drawn
  std::size_t others = 0;
  double slow_time = 0;  // mean seconds of a slow unit
  double other_time = 0;
  std::vector<MoreTime> functions;  // those with more time in a slow unit, the largest gap first
  std::vector<CallPath> paths;      // of the slow units, parents before their children
};

struct FunctionProfile {
  traces::StageId stage = traces::StageId::kNone;
  std::size_t units = 0;  // units followed from beginning to end that count
  std::size_t lined = 0;  // part of `units`: with lines, which alone tell the split among lines
  std::uint64_t all = 0;  // units of the run, followed or not; 0: not known
  double unit_time = 0;   // seconds of one unit, corrected for the cost of following
  double mean_time = 0;   // mean seconds of all units, followed or not; 0: not known
  double spread = 0;      // fraction by which the time of a unit may be off
  double of_stage = 1;    // the stage's share of the time of the workers, or of the loop
  std::vector<FunctionTime> functions;  // the largest share first
  std::vector<CallPath> paths;          // parents before their children
  SlowUnits slow;

  // Whether the followed units took so much longer than all that shares of them may mislead.
  [[nodiscard]] bool IsUnusual() const {
    return mean_time > 0 && unit_time > SlowUnits::kSlow * mean_time;
  }
  // A share of a unit's time times this is the share to show: of the time of the workers or of the
  // loop; of the followed units alone if these tell nothing about the others.
  [[nodiscard]] double scale() const { return IsUnusual() ? 1 : of_stage; }
};

// One for each stage that was followed: samples, collated batches, steps.
using FunctionProfiles = std::vector<FunctionProfile>;

// `stages`: of the trace. They tell the mean time of all units, and which part of a stage's time is
// in units that take more than three times the median; empty: no such unit counts. `samples`: tell
// how long the neighbours of a followed sample took; without them, the trace tells it less well.
[[nodiscard]] FunctionProfiles ProfileFunctions(const traces::Trace& trace,
                                                const StageTable& stages = {},
                                                const SampleTimeLists& samples = {});

// Whether `file` belongs to the interpreter or to a package that was installed.
[[nodiscard]] bool IsLibrary(std::string_view file);

// "dataset.py:47"; the name alone if `line` is 0.
[[nodiscard]] std::string PlaceOf(std::string_view file, std::uint32_t line);

}  // namespace penstock::analyzer
