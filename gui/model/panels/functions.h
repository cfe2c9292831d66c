// SPDX-License-Identifier: Apache-2.0
//
// What the stages view shows about the program's functions: a flame graph, a row for each function,
// its source with the time of each line, and where slow samples take more time. Values, made on the
// thread that makes the report. BuildFunctions() reads source files; all else is pure.
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
#include "gui/model/words/texts.h"
#include "traces/trace.h"

namespace penstock::gui {

struct FunctionId {
  std::string file;        // "": not a Python function
  std::uint32_t line = 0;  // the first line of the function
  std::string name;
  auto operator<=>(const FunctionId&) const = default;
};

enum class FunctionKind : std::uint8_t { kProgram, kLibrary, kCompiled };
[[nodiscard]] FunctionKind KindOfFunction(const FunctionId& id);

// "dataset.py:47 Photos.__getitem__"; the name alone if the function is not Python's.
[[nodiscard]] std::string TitleOf(const FunctionId& id);
// "Photos.__getitem__": the name without Python's "<locals>." between nested functions.
[[nodiscard]] std::string ShortNameOf(const FunctionId& id);

// A unit is one sample, collated batch or step. Fractions are fractions of the time of a unit.
struct FlameFrame {
  FunctionId id;
  std::size_t parent = 0;  // index of a frame before this one; its own index: the unit called it
  std::size_t depth = 0;
  double left = 0;
  double width = 0;
  double own = 0;    // part of `width` outside the functions that it called
  double count = 0;  // calls in a unit
};

struct SourceLine {
  std::uint32_t number = 0;
  std::string text;  // without the indentation of the function
  double share = 0;  // including library functions that it called
  double count = 0;  // how often it was entered in a unit
};

// What is known of the file that a function's source comes from.
enum class SourceState : std::uint8_t {
  kAsRun,       // it has not changed since the run began
  kChanged,     // it was changed after the run began: the text is of now
  kUndated,     // the same text, but the trace does not say when the run began
  kUnreadable,  // it is here, but cannot be read
  kMissing,
};

struct FunctionLine {
  FunctionId id;
  double share = 0;         // including library functions that it called
  double total = 0;         // including all functions that it called
  double count = 0;         // calls in a unit
  bool lined = false;       // its lines were followed
  bool of_cut = false;      // its lines come from one unit that was cut
  bool takes_most = false;  // one of those whose lines are followed when they are known
  SourceState state = SourceState::kMissing;
  std::vector<SourceLine> source;  // not readable: the lines that took time, without their text

  [[nodiscard]] bool readable() const { return state <= SourceState::kUndated; }
};

// A stage of all samples, as in the table of stages.
struct StageShare {
  Text name{};
  double share = 0;  // of the workers' busy time
};

// Samples, collated batches or steps.
struct UnitProfile {
  traces::StageId stage = traces::StageId::kNone;
  std::size_t units = 0;  // number of followed units
  std::size_t lined = 0;  // part of `units`: their lines were followed
  std::uint64_t all = 0;  // units of the run, followed or not; 0: not known
  double unit_time = 0;   // seconds of one unit
  double mean_time = 0;   // mean seconds of all units, followed or not; 0: not known
  bool unusual = false;   // FunctionProfile::IsUnusual()
  double spread = 0;      // fraction by which `unit_time` may be off
  double of_stage = 1;    // share of this stage in the time of the workers, or of the loop
  double core_wait = 0;   // the share of the workers' time that waits for a core; 0: little
  // For samples: the stages that take most in all of them, followed or not, the largest first.
  std::vector<StageShare> of_all;
  std::vector<FlameFrame> frames;   // callers before what they call
  std::vector<FunctionLine> lines;  // the largest share first
  analyzer::SlowUnits slow;
  // The slow units as one profile, with frames only; empty if slow units are not compared.
  std::vector<UnitProfile> slow_profile;

  // As FunctionProfile::scale().
  [[nodiscard]] double scale() const { return unusual ? 1 : of_stage; }
  // The units whose time `unit_time` is: those without lines, if there are any.
  [[nodiscard]] std::size_t timed() const { return lined < units ? units - lined : units; }
  [[nodiscard]] const FunctionLine* Find(const FunctionId& id) const;
};

enum class NoFunctions : std::uint8_t {
  kNone,          // functions were recorded
  kNoLoader,      // no loader of PyTorch
  kImported,      // another program's file, which has no calls
  kUnfollowed,    // a loader of PyTorch, but not with hooks that can follow calls
  kShort,         // the run was too short for a followed unit
  kTooManyCalls,  // the run was long enough, but a unit has too many calls
  kSwitchedOff,   // by PENSTOCK_FUNCTIONS
  kPython,        // this version or build of Python is not followed
  kOtherTool,     // the program has a debugger, profiler or coverage of its own
};

struct FunctionsModel {
  std::vector<UnitProfile> profiles;
  NoFunctions missing = NoFunctions::kNoLoader;
  bool without_samples = false;  // samples were recorded and other units followed, but no sample
  std::string unusual_text;      // names and sources with characters beyond ASCII, for the fonts
};
// `read`: of files that have not changed since the run began. A file that it does not read is shown
// as it is now. Cost: reads the sources of the functions.
[[nodiscard]] FunctionsModel BuildFunctions(const traces::Trace& trace,
                                            const analyzer::Report& report,
                                            const analyzer::LineReader& read);

// Says how long a unit takes, and in how many of all units that was measured.
struct UnitNote {
  std::string text;
  bool warns = false;  // the followed units are few or unusual
};
[[nodiscard]] UnitNote UnitNoteOf(const UnitProfile& profile, analyzer::Language language);
// Says from which units a function's split among lines comes, if other units made the flame graph;
// else, and if it comes from one unit that was cut, "".
[[nodiscard]] std::string LinesNoteOf(const UnitProfile& profile, const FunctionLine& function,
                                      analyzer::Language language);
// Says why the source of a function has no text, or not surely the text that ran; "": it has.
[[nodiscard]] std::string SourceNoteOf(const FunctionLine& function, analyzer::Language language);
// Says why the lines of a function have no times; "": they have.
[[nodiscard]] std::string UnlinedNoteOf(const UnitProfile& profile, const FunctionLine& function,
                                        analyzer::Language language);

// The function that a finding is about; nullopt if it is not about a function.
[[nodiscard]] std::optional<FunctionId> FunctionOf(const analyzer::Finding& finding);

// The functions from the unit down to a frame. They identify the frame also after the trace has
// grown; an index does not.
using FramePath = std::vector<FunctionId>;
[[nodiscard]] FramePath FramePathOf(const UnitProfile& profile, std::size_t frame);
[[nodiscard]] std::optional<std::size_t> FrameAt(const UnitProfile& profile, const FramePath& path);
// The widest frame of a function.
[[nodiscard]] std::optional<std::size_t> WidestFrame(const UnitProfile& profile,
                                                     const FunctionId& id);

// A drawn frame. The frame `zoomed` (nullopt: the unit) and its callers are as wide as the window.
// Below `zoomed` are the frames that it calls. Units: fractions of the window's width.
struct FlameRect {
  std::size_t frame = 0;
  double left = 0;
  double width = 0;
  bool above = false;  // a caller of the zoomed frame
};
[[nodiscard]] std::vector<FlameRect> FlameRects(const UnitProfile& profile,
                                                std::optional<std::size_t> zoomed);
// Where the drawn frames that call others are in none of these calls, in the row below the frame.
[[nodiscard]] std::vector<FlameRect> OwnRects(const UnitProfile& profile,
                                              std::optional<std::size_t> zoomed);

// Where an arrow key leads: up to the caller, down to the widest called frame, left or right to the
// next frame.
enum class FlameWay : std::uint8_t { kUp, kDown, kLeft, kRight };
[[nodiscard]] std::optional<std::size_t> NextFrame(const UnitProfile& profile, std::size_t frame,
                                                   FlameWay way);

}  // namespace penstock::gui
