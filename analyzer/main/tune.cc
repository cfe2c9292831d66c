// SPDX-License-Identifier: Apache-2.0
#include "analyzer/main/tune.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/compare.h"
#include "analyzer/whatif/grid.h"

namespace penstock::analyzer {
namespace {

constexpr double kAsGood = 0.98;  // settings within 2 % are as good as each other: docs/design.md 6
constexpr double kLeastGain = 1.05;  // below it a change is not worth making: docs/design.md 6

std::string WhyNot(const Diagnosis& diagnosis) {
  std::string why = English(NotEnough(diagnosis));
  if (!why.empty()) return why;
  if (diagnosis.run.loader().config.kind == "pytorch") return "";
  return "not enough: needs a torch.utils.data.DataLoader, whose arguments it can change";
}

// Loaders that the loop drains together are predicted with the same setting, so all get it.
TuneSetting SettingOf(const Suggestion& suggestion, const Diagnosis& diagnosis,
                      const std::string& loader) {
  const bool alone = diagnosis.run.loader().use != LoopUse::kInterleaved;
  return {suggestion.workers, suggestion.prefetch, suggestion.persistent_workers,
          alone ? loader : ""};
}

// Whether a loader can be told from the others by the line that makes it, in an override.
bool HasLineOfItsOwn(const RunModel& run, const std::string& loader) {
  return loader.find_first_of("#,") == std::string::npos &&
         std::none_of(run.loaders.begin(), run.loaders.end(),
                      [&](const LoaderRun& one) { return one.name.starts_with(loader + " #"); });
}

bool Tried(const std::vector<TuneTrial>& trials, const TuneSetting& setting) {
  return std::any_of(trials.begin(), trials.end(),
                     [&](const TuneTrial& trial) { return trial.setting == setting; });
}

class Tuner {
 public:
  Tuner(const TuneRunner& run, const TuneOptions& options) : run_(run), options_(options) {}

  Result<TuneResult> Run() {
    auto trace = run_(std::nullopt);
    PENSTOCK_TRY(trace);
    const Diagnosis first = Diagnose(**trace, options_.loader);
    if (const Statement unknown = UnknownLoader(first.run, options_.loader); !unknown.empty()) {
      return Fail(ErrorKind::kUsage, English(unknown));
    }
    if (!HasLineOfItsOwn(first.run, options_.loader)) {
      return Fail(ErrorKind::kUsage,
                  "--loader " + options_.loader +
                      ": one line makes several loaders, and only all of them can be changed");
    }
    if (!Suffices(first)) return result_;
    result_.unit = English(RateUnit(first));
    result_.verdict = TuneVerdict::kNoAction;
    Report(TuneTrial{std::nullopt, std::nullopt, first.loader->steady.rate, 1});
    Diagnosis latest;  // of the last run with another setting
    const Diagnosis* current = &first;
    for (int t = 0; t < options_.trials; ++t) {
      const Suggestion suggestion = SuggestFrom(*current);
      const TuneSetting setting = SettingOf(suggestion, *current, options_.loader);
      if (!suggestion.changes || suggestion.predicted.speedup < kLeastGain ||
          Tried(result_.trials, setting)) {
        if (t == 0 && first.loader->cpu.crowded) result_.verdict = TuneVerdict::kCrowded;
        break;
      }
      auto next = run_(setting);
      if (!next && result_.code.empty()) return tl::unexpected<Error>(next.error());
      if (!next) return Ended(setting, next.error().message);
      Diagnosis diagnosis = Diagnose(**next, options_.loader);
      if (!result_.code.empty() && !WhyNot(diagnosis).empty()) {
        return Ended(setting, WhyNot(diagnosis));
      }
      if (!Suffices(diagnosis)) return result_;
      result_.verdict = Judge(first, diagnosis, suggestion);
      if (result_.verdict != TuneVerdict::kPartly) break;
      latest = std::move(diagnosis);
      current = &latest;
    }
    return result_;
  }

 private:
  bool Suffices(const Diagnosis& diagnosis) {
    result_.why = WhyNot(diagnosis);
    result_.bottleneck = diagnosis.bottleneck;
    if (!result_.why.empty()) result_.verdict = TuneVerdict::kNotEnough;
    return result_.why.empty();
  }

  // A run that came to nothing after one that had gained: what was gained stays.
  TuneResult Ended(const TuneSetting& setting, const std::string& why) {
    result_.verdict = TuneVerdict::kPartly;
    result_.why = fmt::format("The run with {} came to nothing: {}", setting.Override(), why);
    return result_;
  }

  void Report(TuneTrial trial) {
    result_.trials.push_back(std::move(trial));
    options_.on_trial(result_.trials.back(), result_.unit);
  }

  [[nodiscard]] Suggestion SuggestFrom(const Diagnosis& diagnosis) const {
    const LoaderDiagnosis& loader = *diagnosis.loader;
    Budget budget = BudgetOf(diagnosis.run.host);
    if (options_.budget_ram > 0) budget.ram = options_.budget_ram;
    return Suggest(loader.pipeline, loader.facts, loader.replay, budget);
  }

  TuneVerdict Judge(const Diagnosis& first, const Diagnosis& now, const Suggestion& suggestion) {
    const auto comparison = Compare(Baseline{first, ""}, Candidate{now, ""});
    const Interval& ratio = comparison->throughput.ratio;
    const Interval& measured = now.loader->steady.rate;
    Report(TuneTrial{SettingOf(suggestion, first, options_.loader), suggestion.predicted, measured,
                     ratio.estimate});
    if (ratio.low <= 1) {  // what an earlier trial has gained stays gained
      if (!result_.code.empty()) return TuneVerdict::kPartly;
      return ratio.high >= suggestion.predicted.rate.estimate / first.loader->steady.rate.estimate
                 ? TuneVerdict::kUndecided
                 : TuneVerdict::kRefuted;
    }
    if (ratio.estimate > best_) {
      best_ = ratio.estimate;
      result_.code = LoaderCode(first.run.loader().config, suggestion);
      result_.note = NoteOnWorkers(first.loader->sharding, first.run.loader().config.num_workers,
                                   suggestion.workers);
    }
    const Interval& promised = suggestion.predicted.rate;
    const bool reached =
        measured.high >= kAsGood * promised.estimate && measured.estimate >= promised.low;
    return reached ? TuneVerdict::kConfirmed : TuneVerdict::kPartly;
  }

  const TuneRunner& run_;
  const TuneOptions& options_;
  TuneResult result_;
  double best_ = 1;
};

}  // namespace

std::string TuneSetting::Override() const {
  const std::string at = loader.empty() ? "" : ",at=" + loader;
  if (workers == 0) return "workers=0" + at;
  return fmt::format("workers={},prefetch={},persistent={}{}", workers, prefetch,
                     persistent ? 1 : 0, at);
}

Result<TuneResult> Tune(const TuneRunner& run, const TuneOptions& options) {
  return Tuner(run, options).Run();
}

}  // namespace penstock::analyzer
