// SPDX-License-Identifier: Apache-2.0
//
// Does the runs of a sweep, keeps their results, and shows them after each run. To be used by one
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "benchmarks/sweep/result.h"
#include "benchmarks/sweep/runner.h"

namespace penstock::sweep {

class Session {
 public:
  // `view` is called after each run that counted or failed. Keeps the references.
  Session(SweepResult& result, Runner& runner, std::stop_token stop, std::function<void()> view);

  // Runs the first cell that can be measured `runs` times and forgets the figures. After that the
  // page cache, clocks and compiled Python modules are in the state of later runs.
  //
  // Errors: only errors after which no run can succeed.
  Result<void> WarmUp(unsigned runs);

  // Measures a cell once more. A cell that has failed is not run again. After an interruption, or
  // after an error that every run would have, no cell is run.
  //
  // Returns the measurement, or an error that says why there is none.
  Result<Measurement> Measure(std::size_t index);

  // The error that ended the sweep, if one did.
  [[nodiscard]] const std::optional<Error>& fatal() const { return fatal_; }
  [[nodiscard]] std::size_t runs_done() const { return runs_done_; }

 private:
  SweepResult& result_;
  Runner& runner_;
  std::stop_token stop_;
  std::function<void()> view_;
  std::optional<Error> fatal_;
  std::size_t runs_done_ = 0;
};

}  // namespace penstock::sweep
