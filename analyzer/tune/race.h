// SPDX-License-Identifier: Apache-2.0
//
// Which runs to make next, and what they have shown: settings against a program as it is, in rounds
// that alternate their order (A B C, C B A, ...). Knows nothing of settings and traces. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/stats/paired.h"

namespace penstock::analyzer {

inline constexpr double kWorthIt = 1.05;  // a smaller gain is not worth a change: docs/design.md 6

enum class TuneVerdict {
  kNoAction,   // nothing is predicted to gain 5 %
  kConfirmed,  // surely faster, and the interval reaches what was promised
  kPartly,     // surely faster, and surely less so than promised
  kRefuted,    // surely gains less than 5 %
  kUndecided,  // the interval allows for both
  kCrowded,    // other programs compete for the cores: nothing can be predicted
  kNotEnough,  // the recording does not suffice
};

struct RaceOptions {
  double error = 0.1;      // that any interval misses, all settings together; two-sided
  std::size_t least = 3;   // rounds before anything is said
  std::size_t rounds = 6;  // at most
};

struct RaceArm {
  double promised = 0;  // the low end of the predicted ratio; 0: nothing was predicted
};

// Arm 0 is the program as it is; the others stand in order of their cost, the cheapest first.
//
// Each setting's ratio has an interval of its own at error / settings, so that some verdict is
// wrong with probability `error` at most, and some "faster" with half of that. A setting that is at
// less than four fifths of the best in each of the first two rounds is left behind, undecided: that
// saves its runs and claims nothing.
// The cheapest setting is taken that is surely faster than the program as it is and surely at most
// 5 % slower than the fastest of them (its own interval at error / settings).
class Race {
 public:
  Race(std::vector<RaceArm> settings, RaceOptions options);

  // The arms to run next, in their order; empty: everything is decided, or the rounds are used up.
  [[nodiscard]] std::vector<std::size_t> NextRound() const;
  // What the arms of a round came to, in samples per second; 0: that run is missing.
  // Shapes: [settings + 1].
  void Add(const std::vector<double>& rates);
  // An arm whose run failed runs no more.
  void Drop(std::size_t arm) { arms_[arm].dropped = true; }

  // `arm`: from 1.
  [[nodiscard]] TuneVerdict verdict(std::size_t arm) const;
  [[nodiscard]] Interval ratio(std::size_t arm) const { return arms_[arm].ratio.ratio(); }
  [[nodiscard]] std::size_t pairs(std::size_t arm) const { return arms_[arm].ratio.pairs(); }
  [[nodiscard]] bool dropped(std::size_t arm) const { return arms_[arm].dropped; }
  // The arm to take; 0: the program as it is.
  [[nodiscard]] std::size_t taken() const;
  [[nodiscard]] std::size_t rounds() const { return rounds_.size(); }

 private:
  struct Arm {
    double promised = 0;
    bool dropped = false;
    PairedRatio ratio;
  };
  [[nodiscard]] bool Runs(std::size_t arm) const;
  [[nodiscard]] bool Faster(std::size_t arm) const;
  [[nodiscard]] std::size_t Fastest() const;
  // The ratio of a cheaper arm to the fastest.
  [[nodiscard]] Interval Against(std::size_t arm, std::size_t fastest) const;
  // A cheaper arm may or may not be as good as the fastest one.
  [[nodiscard]] bool Open(std::size_t arm, std::size_t fastest) const;
  void LeaveBehind();

  RaceOptions options_;
  double share_ = 0;  // of the error, each interval's
  std::vector<Arm> arms_;
  std::vector<std::vector<double>> rounds_;
};

[[nodiscard]] std::string_view VerdictName(TuneVerdict verdict);

}  // namespace penstock::analyzer
