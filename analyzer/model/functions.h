// SPDX-License-Identifier: Apache-2.0
//
// Which functions and lines of the program samples, batches and steps spend their time in, from the
// units that were followed (traces/FORMAT.md, "Followed units"). Values; pure functions.
//
// Time is charged to the program's own functions: what a library does for one of them belongs to
// it, under the name of the function that it called. A library function that no function of the
// program called, as of a dataset that comes with a library, stands for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/trace.h"

namespace penstock::analyzer {

// Fractions are of the time of all units of the stage, followed as it would be without following.
struct CalledTime {
  std::string name;  // "copy.deepcopy", "numpy.random.choice"
  std::string file;  // "" of what is not Python
  double share = 0;  // with all that it called
  double count = 0;  // calls in a unit
};

struct LineTime {
  std::uint32_t line = 0;
  double share = 0;  // with what it called that is not the program's
  double own = 0;    // of that, in the interpreter
  double count = 0;  // times in a unit that it was entered
};

struct FunctionTime {
  std::string name;
  std::string file;
  std::uint32_t line = 0;          // its first
  bool is_library = false;         // no part of the program
  double share = 0;                // with what it called that is not the program's
  double own = 0;                  // of that, in the interpreter
  double total = 0;                // with all that it called
  double count = 0;                // calls in a unit
  std::vector<LineTime> lines;     // the largest share first; none where no line was followed
  std::vector<CalledTime> called;  // the largest share first
};

// A function as called along one path.
struct CallPath {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  std::size_t parent = 0;  // index of a path before this one; itself: a unit called it
  double total = 0;        // fraction, as above
};

struct FunctionProfile {
  traces::StageId stage = traces::StageId::kNone;
  std::size_t units = 0;  // followed from beginning to end, without outliers
  double unit_time = 0;   // seconds of one, as it would be without following
  double spread = 0;      // by this fraction the time of a unit may be wrong
  double of_stage = 1;    // time of this stage over that of all that makes data, or of the loop
  std::vector<FunctionTime> functions;  // the largest share first
  std::vector<CallPath> paths;          // parents before their children
};

// One for each stage that was followed: samples, collated batches, steps.
using FunctionProfiles = std::vector<FunctionProfile>;

[[nodiscard]] FunctionProfiles ProfileFunctions(const traces::Trace& trace);

// Whether `file` belongs to the interpreter or to a package that was installed.
[[nodiscard]] bool IsLibrary(std::string_view file);

// "dataset.py:47"; "numpy.random" parts of names are not files.
[[nodiscard]] std::string PlaceOf(std::string_view file, std::uint32_t line);

}  // namespace penstock::analyzer
