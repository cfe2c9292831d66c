// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as it is and with other settings, in turns, until it is known which settings gain
// or a limit is reached.
// The caller supplies the function that runs the program. Not thread-safe.
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
  std::vector<double> losses;  // the first ones that the program printed
};

// Runs the program under `setting` and returns its trace and losses.
// Errors: those of the run. A failure of the program as it is ends tuning: with the error if it
//         is the first run, else with a result from the runs so far. A setting that fails is not
//         tried again.
using TuneRunner = std::function<Result<TuneRun>(const TuneSetting& setting)>;

enum class LossParity {
  kNotPrinted,
  kSame,    // the arm taken and the program as it is have the same first losses
  kDiffer,  // their losses differ, but runs of the program as it is agree with each other
  kVary,    // runs of the program as it is also differ from each other, so nothing follows
  kAlone,   // their losses differ, and only one run of the program as it is printed losses
};

struct TuneTrial {
  std::size_t arm = 0;  // 0: the program as it is; else index into TuneResult::arms, plus 1
  double rate = 0;      // 0: it failed
  double seconds = 0;   // wall time of the run
};

struct TuneArm {
  TuneCandidate candidate;
  TuneVerdict verdict = TuneVerdict::kUndecided;
  Interval ratio;         // rate over the rate of the program as it is; high may be infinite
  std::size_t pairs = 0;  // number of its runs that are paired with a run of the program as it is
  bool left_behind = false;  // much slower than another setting, so no longer run (see Race)
  std::string failed;        // why its run failed; "": it did not
  std::vector<double> losses;
};

struct TuneResult {
  // The verdict on the arm taken; if none is taken, on all arms together.
  TuneVerdict verdict = TuneVerdict::kNotEnough;
  std::string why;  // what is lacking, if the verdict is kNotEnough
  std::string unit = "samples/s";
  bool whole_run = false;  // rates are of whole runs, because the start of epochs counts
  std::vector<TuneArm> arms;
  std::vector<TuneTrial> trials;  // in the order in which they ran
  Interval as_is;         // rate of the program as it is: median, least and greatest of its runs
  std::size_t taken = 0;  // index into `arms`, plus 1; 0: none
  LossParity parity = LossParity::kNotPrinted;  // of the arm taken
  std::vector<double> losses;                   // of the program as it is
  Factor bottleneck = Factor::kNone;            // in the last run of the setting taken
  std::string next;                             // what to do next; "": not known
  std::string stopped;  // why it ended before all was decided; "": it did not
};

struct TuneOptions {
  std::size_t candidates = 3;  // settings to try, at most
  RaceOptions race;
  // The line that makes the loader to change, "train.py:88". "": all loaders are changed, to the
  // settings that are chosen for the loader that the training loop waits for most.
  std::string loader;
  double budget_ram = 0;                                     // bytes; 0: the machine's budget
  double budget_time = 0;                                    // seconds of wall time; 0: no limit
  std::function<double()> now = [] { return 0.0; };          // seconds, monotonic
  std::function<bool()> interrupted = [] { return false; };  // the user wants to stop
  std::function<void(const TuneTrial&, const TuneSetting&, const std::string& unit)> on_trial =
      [](const TuneTrial&, const TuneSetting&, const std::string&) {};
};

[[nodiscard]] Result<TuneResult> Tune(const TuneRunner& run, const TuneOptions& options);

// The numbers after "loss" in a line: "loss 0.5", "loss=0.5", "Loss: 0.5". train_loss counts,
// lossless does not.
[[nodiscard]] std::vector<double> LossesIn(std::string_view line);

[[nodiscard]] std::string_view ParityName(LossParity parity);

// The output of the command: text, or one object of the schema penstock.tune/1.
[[nodiscard]] std::string TuneText(const TuneResult& result, bool colour);
[[nodiscard]] std::string TuneJson(const TuneResult& result);

}  // namespace penstock::analyzer
