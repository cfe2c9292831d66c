// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/tune.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"
#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/plan/plan.h"
#include "analyzer/report/plan_report.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kLosses = 5;  // the number of first losses that two runs are compared by

std::string WhyNot(const Diagnosis& diagnosis) {
  std::string why = English(NotEnough(diagnosis));
  if (!why.empty()) return why;
  if (diagnosis.run.loader().config.kind == "pytorch") return "";
  return "not enough: needs a torch.utils.data.DataLoader, whose arguments it can change";
}

// Whether an override can select a loader by its line: no other loader is made in that line, and an
// override can contain the name.
bool HasLineOfItsOwn(const RunModel& run, const std::string& loader) {
  return loader.find_first_of("#,") == std::string::npos &&
         std::none_of(run.loaders.begin(), run.loaders.end(),
                      [&](const LoaderRun& one) { return one.name.starts_with(loader + " #"); });
}

// Whether printed losses agree, except for the last digits of a double.
bool SameLosses(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t count = std::min({a.size(), b.size(), kLosses});
  for (std::size_t i = 0; i < count; ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-9 * std::abs(a[i])) &&
        !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  }
  return true;
}

class Tuner {
 public:
  Tuner(const TuneRunner& run, const TuneOptions& options)
      : run_(run), options_(options), began_(options.now()) {}

  Result<TuneResult> Run() {
    const double before = options_.now();
    auto first = run_({});
    PENSTOCK_TRY(first);
    const Diagnosis diagnosis = Diagnose(*first->trace, options_.loader);
    if (const Statement unknown = UnknownLoader(diagnosis.run, options_.loader); !unknown.empty()) {
      return Fail(ErrorKind::kUsage, English(unknown));
    }
    if (!HasLineOfItsOwn(diagnosis.run, options_.loader)) {
      return Fail(ErrorKind::kUsage,
                  "--loader " + options_.loader +
                      ": one line makes several loaders, and only all of them can be changed");
    }
    result_.bottleneck = diagnosis.bottleneck;
    result_.why = WhyNot(diagnosis);
    if (!result_.why.empty()) return result_;
    result_.unit = English(RateUnit(diagnosis));
    result_.losses = first->losses;
    result_.whole_run = diagnosis.whole_run;
    const double rate = RateOf(diagnosis);
    Note({0, rate, options_.now() - before}, {});
    plain_.push_back(rate);
    for (TuneCandidate& one :
         TuneCandidates(*first->trace, diagnosis,
                        {options_.candidates, options_.budget_ram, options_.loader})) {
      if (one.predicted) one.predicted = OnBase(diagnosis, *one.predicted);
      result_.arms.emplace_back().candidate = std::move(one);
    }
    if (result_.arms.empty()) {
      result_.verdict =
          diagnosis.loader->cpu.crowded ? TuneVerdict::kCrowded : TuneVerdict::kNoAction;
      result_.as_is = {rate, rate, rate};
      return result_;
    }
    next_.resize(result_.arms.size() + 1);
    next_[0] = NextOf(*first->trace, diagnosis);
    bottleneck_.assign(next_.size(), diagnosis.bottleneck);
    RunRace(rate);
    return result_;
  }

 private:
  // The rate of a run, on the base that the predictions refer to. The first run decides whether
  // this is the steady part or the whole run.
  [[nodiscard]] double RateOf(const Diagnosis& diagnosis) const {
    return result_.whole_run ? diagnosis.whole_rate : diagnosis.samples_rate;
  }

  void RunRace(double first) {
    std::vector<RaceArm> settings;
    for (const TuneArm& arm : result_.arms) {
      const auto& predicted = arm.candidate.predicted;
      const bool known = predicted && predicted->rate.estimate > 0;
      settings.push_back(
          {known ? predicted->speedup * predicted->rate.low / predicted->rate.estimate : 0});
    }
    Race race(settings, options_.race);
    for (std::vector<std::size_t> round = race.NextRound(); !round.empty();
         round = race.NextRound()) {
      std::vector<double> rates(result_.arms.size() + 1);
      if (race.rounds() == 0) rates[0] = first;
      for (const std::size_t arm : round) {
        if (rates[arm] > 0) continue;
        if (MustStop()) break;
        rates[arm] = RunArm(arm);
        if (arm == 0 && !(rates[0] > 0)) result_.stopped = "the program as it is failed: " + why_;
        if (arm > 0 && !(rates[arm] > 0) && !options_.interrupted()) {
          result_.arms[arm - 1].failed = why_;
          race.Drop(arm);
        }
      }
      if (options_.interrupted()) result_.stopped = "interrupted";
      race.Add(rates);
      if (!result_.stopped.empty()) break;
    }
    Conclude(race);
  }

  // Whether to stop: after an interrupt, or if the time left is shorter than the longest run.
  bool MustStop() {
    if (!result_.stopped.empty()) return true;
    if (options_.interrupted()) result_.stopped = "interrupted";
    if (options_.budget_time > 0 && options_.now() - began_ + longest_ > options_.budget_time) {
      result_.stopped = "the time is used up";
    }
    return !result_.stopped.empty();
  }

  // Returns the rate; 0: the run failed, and why_ says why.
  double RunArm(std::size_t arm) {
    const double before = options_.now();
    TuneSetting setting;
    if (arm > 0) setting = result_.arms[arm - 1].candidate.setting;
    auto run = run_(setting);
    why_.clear();
    double rate = 0;
    if (!run) {
      why_ = run.error().message;
    } else {
      const Diagnosis diagnosis = Diagnose(*run->trace, options_.loader);
      why_ = WhyNot(diagnosis);
      if (why_.empty()) {
        rate = RateOf(diagnosis);
        next_[arm] = NextOf(*run->trace, diagnosis);
        bottleneck_[arm] = diagnosis.bottleneck;
        TakeLosses(arm, std::move(run->losses));
      }
      if (why_.empty() && !(rate > 0)) why_ = "it had no steady part";
    }
    if (arm == 0 && rate > 0) plain_.push_back(rate);
    Note({arm, rate, options_.now() - before}, setting);
    return rate;
  }

  void TakeLosses(std::size_t arm, std::vector<double> losses) {
    if (losses.empty()) return;
    if (arm > 0) {
      if (result_.arms[arm - 1].losses.empty()) result_.arms[arm - 1].losses = std::move(losses);
      return;
    }
    if (result_.losses.empty()) {
      result_.losses = std::move(losses);
      return;
    }
    plain_again_ = true;
    vary_ = vary_ || !SameLosses(result_.losses, losses);
  }

  void Note(const TuneTrial& trial, const TuneSetting& setting) {
    longest_ = std::max(longest_, trial.seconds);
    result_.trials.push_back(trial);
    options_.on_trial(trial, setting, result_.unit);
  }

  void Conclude(const Race& race) {
    // Arms that failed or were left behind are not judged. The latter are slower than a judged arm.
    std::size_t judged = 0;
    bool refuted = true;
    for (std::size_t arm = 1; arm <= result_.arms.size(); ++arm) {
      TuneArm& one = result_.arms[arm - 1];
      one.verdict = race.verdict(arm);
      one.ratio = race.ratio(arm);
      one.pairs = race.pairs(arm);
      one.left_behind = race.dropped(arm) && one.failed.empty();
      if (one.left_behind || !one.failed.empty()) continue;
      ++judged;
      refuted = refuted && one.verdict == TuneVerdict::kRefuted;
    }
    result_.taken = race.taken();
    result_.verdict = result_.taken > 0       ? result_.arms[result_.taken - 1].verdict
                      : judged > 0 && refuted ? TuneVerdict::kRefuted
                                              : TuneVerdict::kUndecided;
    result_.next = next_[result_.taken];
    result_.bottleneck = bottleneck_[result_.taken];
    std::sort(plain_.begin(), plain_.end());
    const std::size_t last = plain_.size() - 1;
    const double median = 0.5 * (plain_[last / 2] + plain_[plain_.size() / 2]);
    result_.as_is = {median, plain_.front(), plain_.back()};
    if (result_.taken > 0) result_.parity = Parity(result_.arms[result_.taken - 1].losses);
  }

  [[nodiscard]] LossParity Parity(const std::vector<double>& losses) const {
    if (losses.empty() || result_.losses.empty()) return LossParity::kNotPrinted;
    if (vary_) return LossParity::kVary;
    if (SameLosses(result_.losses, losses)) return LossParity::kSame;
    return plain_again_ ? LossParity::kDiffer : LossParity::kAlone;
  }

  // The next step of a plan that starts from this run.
  [[nodiscard]] std::string NextOf(const traces::Trace& trace, const Diagnosis& diagnosis) const {
    PlanRequest request;
    request.budget_ram = options_.budget_ram;
    const Plan plan = BuildPlan(trace, diagnosis, RunRules(trace, diagnosis).findings, request);
    std::string text;
    for (const PlanStep& step : plan.steps) {
      text += (text.empty() ? "" : "; ") + English(step.change);
      if (step.with_next) continue;
      const std::string risk = English(step.risk);
      if (!risk.empty()) text += " (" + risk + ")";
      return text + fmt::format(": predicted {:.2f}x, {}", step.predicted.speedup,
                                English(LimitAfter(step)));
    }
    const int workers = diagnosis.run.loader().config.num_workers;
    const std::string limit = English(LimitNow(plan));
    return fmt::format("no other change is predicted to gain; with {} it is {}",
                       workers == 1 ? "1 worker" : fmt::format("{} workers", workers),
                       limit.empty() ? "limited by no single part" : limit);
  }

  const TuneRunner& run_;
  const TuneOptions& options_;
  double began_;
  double longest_ = 0;
  TuneResult result_;
  std::vector<double> plain_;       // rates of the runs of the program as it is
  std::vector<std::string> next_;   // by arm, from its last run
  std::vector<Factor> bottleneck_;  // by arm, from its last run
  std::string why_;                 // why the last run failed; "": it did not
  bool plain_again_ = false;        // two runs of the program as it is have printed losses
  bool vary_ = false;               // losses differ between runs of the program as it is
};

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Result<TuneResult> Tune(const TuneRunner& run, const TuneOptions& options) {
  return Tuner(run, options).Run();
}

std::vector<double> LossesIn(std::string_view line) {
  std::vector<double> losses;
  constexpr std::string_view kLoss = "loss";
  // Requires: `line` has at least one more character after the four letters from `at` on.
  const auto is_loss = [&](std::size_t at) {
    for (std::size_t i = 0; i < kLoss.size(); ++i) {
      if ((line[at + i] | 0x20) != kLoss[i]) return false;
    }
    return (at == 0 || !IsWord(line[at - 1])) && !IsWord(line[at + kLoss.size()]);
  };
  for (std::size_t at = 0; at + kLoss.size() < line.size(); ++at) {
    if (!is_loss(at)) continue;
    std::size_t number = at + kLoss.size();
    while (number < line.size() &&
           std::string_view(" \t=:'\"").find(line[number]) != std::string_view::npos) {
      ++number;
    }
    const std::string text(line.substr(number, 40));
    const bool digits =
        !text.empty() && (text[0] == '-' || text[0] == '.' || (text[0] >= '0' && text[0] <= '9') ||
                          text.compare(0, 3, "nan") == 0);
    if (number == at + kLoss.size() || !digits) continue;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str()) losses.push_back(value);
  }
  return losses;
}

std::string_view ParityName(LossParity parity) {
  switch (parity) {
    case LossParity::kSame:
      return "same";
    case LossParity::kDiffer:
      return "differ";
    case LossParity::kVary:
      return "vary";
    case LossParity::kAlone:
      return "differ_once";
    case LossParity::kNotPrinted:
      break;
  }
  return "not_printed";
}

}  // namespace penstock::analyzer
