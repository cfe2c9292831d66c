// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/sweep/session.h"

#include <algorithm>
#include <utility>

namespace penstock::sweep {

Session::Session(SweepResult& result, Runner& runner, std::stop_token stop,
                 std::function<void()> view)
    : result_(result), runner_(runner), stop_(std::move(stop)), view_(std::move(view)) {}

Result<void> Session::WarmUp(unsigned runs) {
  const auto first =
      std::find_if(result_.cells.begin(), result_.cells.end(),
                   [](const CellResult& cell) { return cell.state == CellState::kPending; });
  for (unsigned run = 0; run < runs && first != result_.cells.end(); ++run) {
    if (stop_.stop_requested()) break;
    const Result<Measurement> measured = runner_.Run(first->cell, stop_);
    // An error of this configuration alone does not matter here: Measure() will find it.
    if (!measured && measured.error().kind != ErrorKind::kInput && !stop_.stop_requested()) {
      fatal_ = measured.error();
      return tl::unexpected<Error>(measured.error());
    }
  }
  return {};
}

Result<Measurement> Session::Measure(std::size_t index) {
  CellResult& cell = result_.cells[index];
  if (fatal_) return tl::unexpected<Error>(*fatal_);
  if (cell.state == CellState::kFailed || cell.state == CellState::kUnavailable) {
    return Fail(ErrorKind::kInput, cell.error);
  }
  if (stop_.stop_requested()) return Fail(ErrorKind::kEnvironment, "interrupted");
  Result<Measurement> measured = runner_.Run(cell.cell, stop_);
  if (stop_.stop_requested()) return Fail(ErrorKind::kEnvironment, "interrupted");
  ++runs_done_;
  if (measured) {
    cell.state = CellState::kMeasured;
    cell.runs.push_back(*measured);
  } else {
    cell.state = CellState::kFailed;
    cell.error = measured.error().message;
    cell.kind = measured.error().kind;
    if (measured.error().kind != ErrorKind::kInput) fatal_ = measured.error();
  }
  view_();
  return measured;
}

}  // namespace penstock::sweep
