// SPDX-License-Identifier: Apache-2.0
//
// The result of `penstock sweep --json`: schema penstock.sweep/1 (benchmarks/sweep/result.h). The
// file may come from anywhere, so everything in it is checked and every fault gets a message.
// Values; only the reading touches a file.
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

// A cell has this value on each axis that makes no difference to the cell.
inline constexpr std::string_view kAnyValue = "-";

struct SweepAxis {
  std::string name;                 // "workers", "prefetch", "batch", "io", ...
  std::vector<std::string> values;  // at least one, as the sweep ordered them
};

enum class SweepState : std::uint8_t { kPending, kMeasured, kFailed, kUnavailable };

// Units: samples per second, and seconds. An empty optional is not known.
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
  std::string error;  // why there is no rate
  std::optional<SweepRate> rate;
  std::vector<double> runs;
  std::optional<double> of_best;  // fraction
  bool within_noise = false;
  std::optional<double> wall;
  std::optional<double> first_batch;
  std::optional<double> seconds_per_sample;   // ablation
  std::optional<double> increment;            // ablation: s per sample added to an earlier cell
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

// Why a file could not be read as a sweep.
enum class SweepFault : std::uint8_t {
  kUnreadable,  // `what`: why
  kEmpty,       // no bytes
  kTooLarge,    // larger than any sweep
  kNotJson,     // damaged, or not JSON
  kForeign,     // JSON of something else; `what`: its schema, "" without one
  kNewer,       // a later version of the schema; `what`: which
  kDamaged,     // names the schema of a sweep, but breaks it; `what`: where
  kNoCells,     // a sweep without cells
};
struct SweepProblem {
  SweepFault fault = SweepFault::kUnreadable;
  std::string what;
};
// The problem as one line for the user; `name` is the file.
[[nodiscard]] std::string ProblemText(const SweepProblem& problem, const std::string& name,
                                      Language language);

// Cost: one pass over the text; a sweep has at most 10,000 cells.
[[nodiscard]] tl::expected<Sweep, SweepProblem> ParseSweep(std::string_view text);
// Reads at most 64 MiB. Relative names of traces are resolved in the folder of the file.
[[nodiscard]] tl::expected<Sweep, SweepProblem> ReadSweep(const std::filesystem::path& path);

// The kind of a file, by its first bytes, or by its name where these do not decide. kForeign: a
// recording of another tool, which is opened as a trace. kJson: other JSON, such as a sweep.
enum class FileKind : std::uint8_t { kTrace, kForeign, kJson };
[[nodiscard]] FileKind KindOf(const std::filesystem::path& path);

}  // namespace penstock::gui
