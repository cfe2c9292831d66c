// SPDX-License-Identifier: Apache-2.0
//
// What the stages view shows of the program's functions: a flame graph, a row for each function,
// its source with the time of each line, and what slow samples do more. Values; made on the thread
// that makes the report; all else is pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/function_report.h"
#include "analyzer/report/report.h"
#include "traces/trace.h"

namespace penstock::gui {

struct FunctionId {
  std::string file;        // "" of what is not Python
  std::uint32_t line = 0;  // its first
  std::string name;
  auto operator<=>(const FunctionId&) const = default;
};

enum class FunctionKind : std::uint8_t { kProgram, kLibrary, kCompiled };
[[nodiscard]] FunctionKind KindOfFunction(const FunctionId& id);

// "dataset.py:47 Photos.__getitem__"; of what is not Python, the name alone.
[[nodiscard]] std::string TitleOf(const FunctionId& id);
// "Photos.__getitem__", without the functions that it is defined in.
[[nodiscard]] std::string ShortNameOf(const FunctionId& id);

// Fractions are of the time of one sample, collated batch or step: of a unit.
struct FlameFrame {
  FunctionId id;
  std::size_t parent = 0;  // index of a frame before this one; itself: a unit called it
  std::size_t depth = 0;
  double left = 0;
  double width = 0;
  double own = 0;    // of its width, what it did not call
  double count = 0;  // calls in a unit
};

struct SourceLine {
  std::uint32_t number = 0;
  std::string text;  // without the indentation of the function
  double share = 0;  // with what it called that is not the program's
  double count = 0;  // times in a unit that it was entered
};

struct FunctionLine {
  FunctionId id;
  double share = 0;                // with what it called that is not the program's
  double total = 0;                // with all that it called
  double count = 0;                // calls in a unit
  bool lined = false;              // its lines were followed
  bool readable = false;           // `source` is its text, from its first line to its last
  std::vector<SourceLine> source;  // else the lines that took time, without their text
};

// Samples, collated batches or steps.
struct UnitProfile {
  traces::StageId stage = traces::StageId::kNone;
  std::size_t units = 0;  // that were followed
  double unit_time = 0;   // seconds of one
  double spread = 0;      // by this fraction it may be wrong
  double of_stage = 1;    // time of this stage over that of all that makes data, or of the loop
  std::vector<FlameFrame> frames;   // callers before what they call
  std::vector<FunctionLine> lines;  // the largest share first
  analyzer::SlowUnits slow;

  [[nodiscard]] const FunctionLine* Find(const FunctionId& id) const;
};

enum class NoFunctions : std::uint8_t {
  kNone,         // there are some
  kNotSeen,      // a short run, no Python, no loader, another tool's file
  kSwitchedOff,  // by PENSTOCK_FUNCTIONS
  kPython,       // an interpreter in which they are not followed
  kOtherTool,    // the program has a debugger, profiler or coverage of its own
};

struct FunctionsModel {
  std::vector<UnitProfile> profiles;
  NoFunctions missing = NoFunctions::kNotSeen;
  std::string unusual_text;  // of names and sources, for the fonts
};
// Cost: the sources of the functions shown are read.
[[nodiscard]] FunctionsModel BuildFunctions(const traces::Trace& trace,
                                            const analyzer::Report& report,
                                            const analyzer::LineReader& read);

// The function that a finding is about; nullopt: it is about none.
[[nodiscard]] std::optional<FunctionId> FunctionOf(const analyzer::Finding& finding);

// A frame by the functions from the unit to it: it stays the same when the trace grows.
using FramePath = std::vector<FunctionId>;
[[nodiscard]] FramePath FramePathOf(const UnitProfile& profile, std::size_t frame);
[[nodiscard]] std::optional<std::size_t> FrameAt(const UnitProfile& profile, const FramePath& path);
// The widest frame of a function.
[[nodiscard]] std::optional<std::size_t> WidestFrame(const UnitProfile& profile,
                                                     const FunctionId& id);

// What is drawn when `zoomed` (nullopt: the unit) is as wide as the window: it, all above it at
// full width, all below it. Units: fractions of the window's width.
struct FlameRect {
  std::size_t frame = 0;
  double left = 0;
  double width = 0;
  bool above = false;  // of the zoomed one
};
[[nodiscard]] std::vector<FlameRect> FlameRects(const UnitProfile& profile,
                                                std::optional<std::size_t> zoomed);

// Where an arrow key leads: to the caller, to the widest of what it calls, to the frame beside it.
enum class FlameWay : std::uint8_t { kUp, kDown, kLeft, kRight };
[[nodiscard]] std::optional<std::size_t> NextFrame(const UnitProfile& profile, std::size_t frame,
                                                   FlameWay way);

}  // namespace penstock::gui
