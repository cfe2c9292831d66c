// SPDX-License-Identifier: Apache-2.0
//
// Decides which runs to make next, and gives the verdict on each setting. Settings are compared
// with the program as it is, in rounds of alternating order (A B C, C B A, ...). This file knows
// only rates: it depends on neither settings nor traces. Pure.
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
  kConfirmed,  // surely faster, and the interval reaches the promised gain, or nothing was promised
  kPartly,     // surely faster, but surely by less than promised
  kRefuted,    // not surely faster, and surely gains less than 5 %
  kUndecided,  // the interval includes both a gain of 0 and a gain of 5 %
  kCrowded,    // other programs use the cores, so nothing can be predicted
  kNotEnough,  // the recording does not suffice
};

struct RaceOptions {
  double error = 0.1;      // probability that any interval of any setting misses; two-sided
  std::size_t least = 3;   // rounds before the first verdict
  std::size_t rounds = 6;  // at most
};

struct RaceArm {
  double promised = 0;  // the low end of the predicted ratio; 0: nothing was predicted
};

// Arm 0 is the program as it is. The others stand in order of their cost, the cheapest first.
//
// The ratio of each setting has its own interval, with the error divided by the number of settings.
// So the probability that any verdict is wrong is at most `error`. The probability that any setting
// is wrongly called faster is half of that. If a setting reaches less than four fifths of the best
// in both of the first two rounds, it is left behind: it runs no more, and its verdict stays open.
// The setting to take is the cheapest one that is surely faster than the program as it is and
// surely at most 5 % slower than the fastest setting. The comparison with the fastest setting uses
// an interval with the same error.
class Race {
 public:
  Race(std::vector<RaceArm> settings, RaceOptions options);

  // The arms to run next, in order; empty: everything is decided, or all rounds were run.
  [[nodiscard]] std::vector<std::size_t> NextRound() const;
  // Adds the results of a round, in samples per second; 0: that run is missing.
  // Shapes: [settings + 1].
  void Add(const std::vector<double>& rates);
  // Removes an arm whose run failed.
  void Drop(std::size_t arm) { arms_[arm].dropped = true; }

  // The verdict on `arm`, which is 1 or more.
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
  // Whether it is still undecided that a cheaper arm is as good as the fastest one.
  [[nodiscard]] bool Open(std::size_t arm, std::size_t fastest) const;
  void LeaveBehind();

  RaceOptions options_;
  double share_ = 0;  // part of the error that each interval may use
  std::vector<Arm> arms_;
  std::vector<std::vector<double>> rounds_;
};

[[nodiscard]] std::string_view VerdictName(TuneVerdict verdict);

}  // namespace penstock::analyzer
