// SPDX-License-Identifier: Apache-2.0
//
// The runs of a sweep as they come in: who is measured, what is kept, what is shown meanwhile.
// One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "benchmarks/sweep/result.h"
#include "benchmarks/sweep/runner.h"

namespace penstock::sweep {

class Session {
 public:
  // `view` is called after each run that counted or failed. References are kept.
  Session(SweepResult& result, Runner& runner, std::stop_token stop, std::function<void()> view);

  // Runs the first cell that can be measured `runs` times and forgets the figures: page cache,
  // clocks and compiled Python modules are then as they will be.
  //
  // Errors: those after which no run can succeed.
  Result<void> WarmUp(unsigned runs);

  // Measures a cell once more. A cell that has failed is not run again, and nothing is after an
  // interruption or an error that every run would meet.
  //
  // Returns the measurement, or an error whose message says why there is none.
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
