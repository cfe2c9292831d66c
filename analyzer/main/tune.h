// SPDX-License-Identifier: Apache-2.0
//
// Record, suggest, run again with the suggestion, compare: until a prediction is confirmed or
// refuted. Runs nothing itself: how a run comes about is the caller's. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::analyzer {

// DataLoader arguments to run with.
struct TuneSetting {
  int workers = 0;
  int prefetch = 2;
  bool persistent = false;
  std::string loader;  // the line that makes the loader to change, "train.py:88"; "": all loaders

  // "workers=4,prefetch=2,persistent=1": what penstock record --override reads.
  [[nodiscard]] std::string Override() const;
  bool operator==(const TuneSetting&) const = default;
};

// Runs the program, with other arguments if some are given, and returns its trace.
// Errors: that of the run; tuning ends with it, unless an earlier run has gained something.
using TuneRunner =
    std::function<Result<std::unique_ptr<traces::Trace>>(const std::optional<TuneSetting>&)>;

enum class TuneVerdict {
  kNoAction,   // nothing is predicted to gain 5 %
  kConfirmed,  // faster beyond noise; its interval holds what was promised, or lies above it
  kPartly,     // faster beyond noise, but less than predicted
  kRefuted,    // not faster beyond noise, and surely less than predicted
  kUndecided,  // the interval of the ratio holds both: no gain, and the promised one
  kCrowded,    // other programs compete for the cores: nothing can be predicted
  kNotEnough,  // the recording does not suffice: `why` says what it needs
};

struct TuneTrial {
  std::optional<TuneSetting> setting;   // nullopt: as the program has it
  std::optional<Prediction> predicted;  // none for the first
  Interval measured;                    // samples per second
  double speedup = 1;                   // measured, over the first
};

struct TuneResult {
  std::vector<TuneTrial> trials;
  TuneVerdict verdict = TuneVerdict::kNotEnough;
  std::string why;  // kNotEnough: what is lacking; kPartly: why a later run came to nothing, or ""
  std::string unit = "samples/s";
  std::string code;                   // the line to paste; "" if nothing was gained
  Statement note;                     // what `code` changes for the network
  Factor bottleneck = Factor::kNone;  // of the last run
};

struct TuneOptions {
  int trials = 3;         // runs with other settings, at most
  double budget_ram = 0;  // bytes; 0: that of the machine
  std::string loader;     // its name; "": that which the loop waits for most, and all are changed
  // Told of each run that is done, and of the unit of its rates.
  std::function<void(const TuneTrial&, const std::string& unit)> on_trial =
      [](const TuneTrial&, const std::string&) {};
};

// A suggestion that gains less than predicted, yet beyond noise, is improved upon from its own
// trace while trials last.
[[nodiscard]] Result<TuneResult> Tune(const TuneRunner& run, const TuneOptions& options);

}  // namespace penstock::analyzer
