// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tune/race.h"

#include <algorithm>
#include <utility>

namespace penstock::analyzer {
namespace {

constexpr double kLeftBehind = 0.8;
constexpr std::size_t kRoundsToKeepUp = 2;
constexpr double kReached = 0.98;  // of the promised ratio; rates within 2 % count as equal

}  // namespace

Race::Race(std::vector<RaceArm> settings, RaceOptions options) : options_(options) {
  share_ = options_.error / static_cast<double>(std::max<std::size_t>(settings.size(), 1));
  arms_.resize(settings.size() + 1);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    arms_[i + 1].promised = settings[i].promised;
    arms_[i + 1].ratio = PairedRatio({share_, options_.least});
  }
}

bool Race::Faster(std::size_t arm) const {
  return arms_[arm].ratio.known() && ratio(arm).low > 1;
}

TuneVerdict Race::verdict(std::size_t arm) const {
  if (!arms_[arm].ratio.known()) return TuneVerdict::kUndecided;
  const Interval at = ratio(arm);
  if (at.low > 1) {
    return at.high >= kReached * arms_[arm].promised ? TuneVerdict::kConfirmed
                                                     : TuneVerdict::kPartly;
  }
  return at.high < kWorthIt ? TuneVerdict::kRefuted : TuneVerdict::kUndecided;
}

std::size_t Race::Fastest() const {
  std::size_t best = 0;
  for (std::size_t arm = 1; arm < arms_.size(); ++arm) {
    if (!arms_[arm].dropped && Faster(arm) &&
        (best == 0 || ratio(arm).estimate > ratio(best).estimate)) {
      best = arm;
    }
  }
  return best;
}

Interval Race::Against(std::size_t arm, std::size_t fastest) const {
  PairedRatio ratio({share_, options_.least});
  for (const auto& round : rounds_) {
    if (round[arm] > 0 && round[fastest] > 0) ratio.Add(round[arm], round[fastest]);
  }
  return ratio.ratio();
}

bool Race::Open(std::size_t arm, std::size_t fastest) const {
  const Interval against = Against(arm, fastest);
  return against.low < 1 / kWorthIt && against.high > 1;
}

std::size_t Race::taken() const {
  const std::size_t fastest = Fastest();
  for (std::size_t arm = 1; arm < fastest; ++arm) {
    if (!arms_[arm].dropped && Faster(arm) && Against(arm, fastest).low >= 1 / kWorthIt) {
      return arm;
    }
  }
  return fastest;
}

bool Race::Runs(std::size_t arm) const {
  if (arms_[arm].dropped) return false;
  const TuneVerdict now = verdict(arm);
  if (now == TuneVerdict::kUndecided) return true;
  if (now == TuneVerdict::kRefuted) return false;
  const std::size_t fastest = Fastest();
  if (arm < fastest) return Open(arm, fastest);
  for (std::size_t cheaper = 1; arm == fastest && cheaper < fastest; ++cheaper) {
    if (!arms_[cheaper].dropped && Faster(cheaper) && Open(cheaper, fastest)) return true;
  }
  return false;
}

std::vector<std::size_t> Race::NextRound() const {
  std::vector<std::size_t> next;
  if (rounds_.size() >= options_.rounds) return next;
  bool undecided = false;
  for (std::size_t arm = 1; arm < arms_.size(); ++arm) {
    if (!Runs(arm)) continue;
    next.push_back(arm);
    undecided = undecided || verdict(arm) == TuneVerdict::kUndecided;
  }
  if (next.empty()) return next;
  // If no verdict is open, settings are only compared with each other, without arm 0.
  if (undecided) next.insert(next.begin(), 0);
  if (rounds_.size() % 2 == 1) std::reverse(next.begin(), next.end());
  return next;
}

void Race::LeaveBehind() {
  for (std::size_t arm = 1; arm < arms_.size(); ++arm) {
    const bool behind = std::all_of(rounds_.begin(), rounds_.end(), [&](const auto& round) {
      const double best = *std::max_element(round.begin() + 1, round.end());
      return round[arm] > 0 && round[arm] < kLeftBehind * best;
    });
    // The last arm always stays, because otherwise nothing would be left to judge.
    const auto left =
        std::count_if(arms_.begin() + 1, arms_.end(), [](const Arm& one) { return !one.dropped; });
    if (behind && left > 1) arms_[arm].dropped = true;
  }
}

void Race::Add(const std::vector<double>& rates) {
  rounds_.push_back(rates);
  for (std::size_t arm = 1; arm < arms_.size(); ++arm) {
    if (rates[arm] > 0 && rates[0] > 0) arms_[arm].ratio.Add(rates[arm], rates[0]);
  }
  if (rounds_.size() == kRoundsToKeepUp) LeaveBehind();
}

std::string_view VerdictName(TuneVerdict verdict) {
  switch (verdict) {
    case TuneVerdict::kNoAction:
      return "no_action";
    case TuneVerdict::kConfirmed:
      return "confirmed";
    case TuneVerdict::kPartly:
      return "confirmed_in_part";
    case TuneVerdict::kRefuted:
      return "refuted";
    case TuneVerdict::kUndecided:
      return "not_decided";
    case TuneVerdict::kCrowded:
      return "crowded";
    case TuneVerdict::kNotEnough:
      break;
  }
  return "not_enough";
}

}  // namespace penstock::analyzer
