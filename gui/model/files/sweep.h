// SPDX-License-Identifier: Apache-2.0
//
// What `penstock sweep --json` wrote: schema penstock.sweep/1 (benchmarks/sweep/result.h). The file
// comes from anywhere: whatever is wrong with it is said, nothing in it is believed unchecked.
// Values; reading is the only thing here that touches a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "gui/model/words/texts.h"
#include "traces/base/result.h"

namespace penstock::gui {

// A value of an axis in a cell where the axis makes no difference.
inline constexpr std::string_view kAnyValue = "-";

struct SweepAxis {
  std::string name;                 // "workers", "prefetch", "batch", "io", ...
  std::vector<std::string> values;  // at least one, as the sweep ordered them
};

enum class SweepState : std::uint8_t { kPending, kMeasured, kFailed, kUnavailable };

// Units: samples per second and seconds. Not known: an empty optional.
struct SweepRate {
  double median = 0;
  double least = 0;
  double most = 0;
  double p25 = 0;
  double p75 = 0;
};

struct SweepCell {
  std::string name;
  std::vector<std::string> values;  // one for each axis
  SweepState state = SweepState::kPending;
  std::string error;  // why there is no figure
  std::optional<SweepRate> rate;
  std::vector<double> runs;
  std::optional<double> of_best;  // fraction
  bool within_noise = false;
  std::optional<double> wall;
  std::optional<double> first_batch;
  std::optional<double> seconds_per_sample;   // ablation
  std::optional<double> increment;            // ablation: more than in the cell before it
  std::string bottleneck;                     // as the report names it
  std::vector<std::filesystem::path> traces;  // recordings that were kept, one for each run
};

struct Sweep {
  std::filesystem::path path;
  std::string mode;  // loader, command, ablation
  std::vector<std::string> subject;
  int repeats = 0;
  bool interrupted = false;
  double tie = 0.02;  // fraction of the best within which a cheaper cell is suggested
  int cores = 0;
  std::string cpu;
  std::vector<SweepAxis> axes;
  std::vector<SweepCell> cells;
  std::optional<std::size_t> best;       // highest median
  std::optional<std::size_t> suggested;  // the cheapest that ties with it

  [[nodiscard]] bool ablation() const { return mode == "ablation"; }
  [[nodiscard]] std::size_t measured() const;  // cells with a figure
};

// What is wrong with a file that should hold a sweep.
enum class SweepFault : std::uint8_t {
  kUnreadable,  // `what`: why
  kEmpty,       // no bytes
  kTooLarge,    // no sweep is
  kNotJson,     // damaged, or never was JSON
  kForeign,     // JSON of something else; `what`: its schema, "" without one
  kNewer,       // a later version of the schema; `what`: which
  kDamaged,     // says it is a sweep, but is not; `what`: what is missing or wrong
  kNoCells,     // a sweep of nothing
};
struct SweepProblem {
  SweepFault fault = SweepFault::kUnreadable;
  std::string what;
};
// One line for a person; `name` is the file.
[[nodiscard]] std::string ProblemText(const SweepProblem& problem, const std::string& name,
                                      Language language);

// Cost: one pass over the text; a sweep has at most 10,000 cells.
[[nodiscard]] tl::expected<Sweep, SweepProblem> ParseSweep(std::string_view text);
// At most 64 MiB. Relative names of traces are taken from the folder of the file.
[[nodiscard]] tl::expected<Sweep, SweepProblem> ReadSweep(const std::filesystem::path& path);

// By its first bytes, or by its name where it has none that tell. kForeign: another tool's
// recording, which is opened as a trace; other JSON is none.
enum class FileKind : std::uint8_t { kTrace, kForeign, kJson };
[[nodiscard]] FileKind KindOf(const std::filesystem::path& path);

}  // namespace penstock::gui
