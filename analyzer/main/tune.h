// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as it is and with other settings, in turns, until it is known which of them gain.
// Runs nothing itself: how a run comes about is the caller's. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/tune/candidates.h"
#include "analyzer/tune/race.h"
#include "traces/base/result.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct TuneRun {
  std::unique_ptr<traces::Trace> trace;
  std::vector<double> losses;  // that the program printed, the first ones
};

// Runs the program under `setting` and returns what it left.
// Errors: that of the run. That of the program as it is ends the tuning, unless something was
// measured before; a setting under which it fails is tried no more.
using TuneRunner = std::function<Result<TuneRun>(const TuneSetting& setting)>;

enum class LossParity {
  kNotPrinted,
  kSame,    // the first losses of both
  kDiffer,  // and those of the program as it is do not, from run to run
  kVary,    // those of the program as it is differ from run to run, so that nothing follows
  kAlone,   // differ, and the program as it is ran only once
};

struct TuneTrial {
  std::size_t arm = 0;  // 0: the program as it is; else of TuneResult::arms, from 1
  double rate = 0;      // 0: it failed
  double seconds = 0;   // wall time of the run
};

struct TuneArm {
  TuneCandidate candidate;
  TuneVerdict verdict = TuneVerdict::kUndecided;
  Interval ratio;  // over the program as it is; high may be infinite
  std::size_t pairs = 0;
  bool left_behind = false;
  std::string failed;  // why its run came to nothing; "" it did not
  std::vector<double> losses;
};

struct TuneResult {
  TuneVerdict verdict = TuneVerdict::kNotEnough;  // of the arm that is taken; else of all
  std::string why;                                // kNotEnough: what is lacking
  std::string unit = "samples/s";
  std::vector<TuneArm> arms;
  std::vector<TuneTrial> trials;  // in the order in which they ran
  Interval as_is;         // rate of the program as it is: least, median and most of its runs
  std::size_t taken = 0;  // of `arms`, from 1; 0: none
  LossParity parity = LossParity::kNotPrinted;  // of the arm taken
  std::vector<double> losses;                   // of the program as it is
  Factor bottleneck = Factor::kNone;            // of the last run of what is taken
  std::string next;                             // what to do after it; "": nothing more is known
  std::string stopped;                          // why before all was decided; "" it was not
};

struct TuneOptions {
  std::size_t candidates = 3;  // settings to try, at most
  RaceOptions race;
  std::string loader;     // its name; "": the one that the loop waits for most, and all are changed
  double budget_ram = 0;  // bytes; 0: that of the machine
  double budget_time = 0;                                    // seconds of wall time; 0: no limit
  std::function<double()> now = [] { return 0.0; };          // seconds, monotonic
  std::function<bool()> interrupted = [] { return false; };  // the user wants to stop
  std::function<void(const TuneTrial&, const TuneSetting&, const std::string& unit)> on_trial =
      [](const TuneTrial&, const TuneSetting&, const std::string&) {};
};

[[nodiscard]] Result<TuneResult> Tune(const TuneRunner& run, const TuneOptions& options);

// The numbers behind "loss" in a line: "loss 0.5", "loss=0.5", "Loss: 0.5"; also of train_loss, not
// of lossless.
[[nodiscard]] std::vector<double> LossesIn(std::string_view line);

[[nodiscard]] std::string_view ParityName(LossParity parity);

// What the command prints: text, or one object of schema penstock.tune/1.
[[nodiscard]] std::string TuneText(const TuneResult& result, bool colour);
[[nodiscard]] std::string TuneJson(const TuneResult& result);

}  // namespace penstock::analyzer
