// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/phrases.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/outside_experiments.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/report.h"
#include "analyzer/words/verdict.h"

namespace penstock::analyzer {

Statement ThroughputOf(const Diagnosis& diagnosis) {
  if (diagnosis.samples_rate <= 0) {
    return diagnosis.loader ? Say<words::kNoBatchFollowed>() : Say<words::kNoBatchAndNoImage>();
  }
  const bool loader = diagnosis.loader.has_value();
  const SteadyState none;
  const SteadyState& steady = loader ? diagnosis.loader->steady : none;
  const bool paused = !steady.pauses.empty();
  return Say<words::kThroughput>(
      Give<"rate">(diagnosis.samples_rate), Give<"unit">(RateUnit(diagnosis)),
      GiveIf<"low">(loader, steady.rate.low), GiveIf<"high">(loader, steady.rate.high),
      GiveIf<"batch_rate">(loader && diagnosis.run.loader().samples_known, diagnosis.batch_rate),
      GiveIf<"steady">(steady.lasts(), steady.batches),
      Give<"when">(loader ? OutsideExperiments(diagnosis.run.loader(), steady) : std::nullopt),
      GiveIf<"batches">(loader, loader ? diagnosis.run.loader().batches.size() : 0),
      GiveIf<"whole">(loader, diagnosis.whole_rate),
      Give<"probed">(loader && !diagnosis.run.loader().probes.empty()),
      GiveIf<"pauses">(paused, steady.pauses.size()), GiveIf<"paused">(paused, steady.pauses_time));
}

Statement WaitOf(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  const std::size_t loaders = diagnosis.run.loaders.size();
  const auto row =
      std::find_if(report.stages.begin(), report.stages.end(),
                   [](const StageRow& one) { return one.stage == traces::StageId::kWait; });
  const bool same_base = diagnosis.whole_run && loaders == 1;
  const bool differs = row != report.stages.end() && !same_base &&
                       PercentText(row->share) != PercentText(diagnosis.wait_fraction);
  return Say<words::kLoopWaited>(
      Give<"wait">(diagnosis.wait_fraction), Give<"whole">(diagnosis.whole_run),
      Give<"steady">(diagnosis.loader->steady.lasts()),
      GiveIf<"all">(differs, differs ? row->share : 0), GiveIf<"loaders">(loaders > 1, loaders),
      Give<"both">(loaders == 2));
}

Statement RateChangeOf(const Diagnosis& diagnosis) {
  if (!diagnosis.loader || !diagnosis.loader->steady.change) return {};
  const RegimeChange& change = *diagnosis.loader->steady.change;
  return Say<words::kRateChanged>(Give<"at">(Seconds(TimeNs{change.at} - diagnosis.run.begin)),
                                  Give<"before">(change.before), Give<"after">(change.after),
                                  Give<"unit">(RateUnit(diagnosis)));
}

Statement RateDriftOf(const Diagnosis& diagnosis) {
  if (!diagnosis.loader || !diagnosis.loader->steady.drift) return {};
  const SteadyState& steady = diagnosis.loader->steady;
  return Say<words::kRateDrifts>(
      Give<"rises">(steady.drift->rises()), Give<"first">(steady.drift->first),
      Give<"last">(steady.drift->last), Give<"unit">(RateUnit(diagnosis)),
      Give<"cache">(steady.fills_cache));
}

Statement LoaderOf(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return {};
  const LoaderRun& run = diagnosis.run.loader();
  const LoaderConfig& config = run.config;
  const Signals& signals = diagnosis.loader->signals;
  const CpuLoad& cpu = diagnosis.loader->cpu;
  const bool workers = config.num_workers > 0;
  // Without spans of the workers, both shares are 0, and nothing is known of them.
  const bool seen = workers && signals.worker_busy + signals.worker_idle > 0;
  const bool windows = !diagnosis.whole_run;  // the busy time is of steady windows
  const bool lasts = diagnosis.loader->steady.lasts();
  return Say<words::kLoader>(
      GiveIf<"name">(!run.name.empty(), run.name),
      Give<"kind">(config.package.empty() ? config.kind : config.package),
      GiveIf<"workers">(config.workers_known, config.num_workers),
      Give<"threads">(config.sample_tasks), GiveIf<"prefetch">(workers, config.prefetch_factor),
      GiveIf<"batch">(config.batch_size > 0, config.batch_size), Give<"pinned">(config.pins),
      Give<"persistent">(config.persistent_workers && !config.sample_tasks),
      GiveIf<"epochs">(run.epochs.size() > 1, run.epochs.size()),
      Give<"made_anew">(config.made_anew), Give<"inferred">(run.inferred),
      GiveIf<"busy">(seen, signals.worker_busy), GiveIf<"idle">(seen, signals.worker_idle),
      Give<"steady">(windows && lasts), Give<"filled">(windows && !lasts), Give<"lives">(!windows),
      GiveIf<"cpu">(cpu.known, cpu.used), Give<"at_least">(!cpu.from_counters),
      GiveIf<"cores">(cpu.known, cpu.cores),
      GiveIf<"core_wait">(cpu.core_wait >= kToldCoreWait, cpu.core_wait),
      Give<"crowded">(cpu.crowded));
}

Statements OtherLoaders(const Diagnosis& diagnosis) {
  constexpr std::size_t kShown = 4;
  Statements others;
  const std::vector<LoaderRun>& loaders = diagnosis.run.loaders;
  std::size_t of_process = 0;
  for (std::size_t i = 1; i < loaders.size(); ++i) {
    const LoaderRun& run = loaders[i];
    if (run.config.consumer != loaders.front().config.consumer || ++of_process > kShown) continue;
    others.push_back(Say<words::kOtherLoader>(
        GiveIf<"name">(!run.name.empty(), run.name),
        GiveIf<"workers">(run.config.workers_known, run.config.num_workers),
        Give<"threads">(run.config.sample_tasks),
        GiveIf<"batch">(run.config.batch_size > 0, run.config.batch_size),
        Give<"batches">(run.batches.size()),
        GiveIf<"epochs">(run.epochs.size() > 1, run.epochs.size()),
        Give<"in_turn">(run.use == LoopUse::kInterleaved), Give<"waited">(run.waited),
        Give<"lasted">(run.lasted)));
  }
  if (of_process > kShown) others.push_back(Say<words::kMore>(Give<"more">(of_process - kShown)));
  return others;
}

Statement PredictionOf(const Prediction& prediction, const Diagnosis& diagnosis) {
  const Prediction told = OnBase(diagnosis, prediction);
  // Below an upper bound, any gain is possible, so it has no confidence interval.
  return Say<words::kPrediction>(Give<"bound">(told.at_most), Give<"rate">(told.rate.estimate),
                                 Give<"unit">(RateUnit(diagnosis)),
                                 GiveIf<"low">(!told.at_most, told.rate.low),
                                 GiveIf<"high">(!told.at_most, told.rate.high),
                                 Give<"speedup">(told.speedup), Give<"whole">(diagnosis.whole_run));
}

bool IsReplayed(const Diagnosis& diagnosis) {
  return diagnosis.loader && diagnosis.loader->steady.steady && diagnosis.loader->fetched >= 0.5 &&
         IsSimulated(*diagnosis.loader, diagnosis.run.loader()) &&
         !diagnosis.run.loader().handed_on && diagnosis.loader->replay.measured > 0 &&
         !TellsReplayError(diagnosis);
}

Statement ConfidenceOf(const Diagnosis& diagnosis) {
  const bool replayed = IsReplayed(diagnosis);
  const double error = replayed ? diagnosis.loader->replay.error() : 0;
  return Say<words::kConfidence>(Give<"confidence">(100 * diagnosis.confidence),
                                 Give<"replayed">(replayed), Give<"exact">(RepeatsClosely(error)),
                                 Give<"error">(error));
}

Statement SuggestedSetting(const Suggestion& suggestion) {
  return Say<words::kSetting>(Give<"workers">(suggestion.workers),
                              Give<"prefetch">(suggestion.prefetch));
}

Statement ReasonOnce(const Diagnosis& diagnosis, const Statement& why) {
  // Only a hint repeats the need; other verdicts leave it out.
  const bool told = diagnosis.summary.Is(words::kHint);
  return told && !why.empty() && why == diagnosis.needs ? Say<words::kVerdictSays>() : why;
}

Statement Keep(const Report& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  const Statement& missing = diagnosis.loader->suggestion.missing;
  if (!missing.empty()) {
    const bool advised =
        std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
          return finding.severity != Severity::kInfo && !finding.action.empty();
        });
    Statement needs = ReasonOnce(diagnosis, missing);
    if (needs == report.plan.missing) needs = Say<words::kPlanSays>();
    return Say<words::kKeepNeeds>(Give<"needs">(std::move(needs)), Give<"advised">(advised));
  }
  if (diagnosis.loader->cpu.crowded) return Say<words::kKeepCrowded>();
  const Finding* best = nullptr;
  double gain = 1;
  for (const Finding& finding : report.findings) {
    if (!finding.predicted || finding.predicted->at_most || !finding.predicted->SurelyGains()) {
      continue;
    }
    const double speedup = OnBase(diagnosis, *finding.predicted).speedup;
    if (speedup <= gain) continue;
    best = &finding;
    gain = speedup;
  }
  if (best == nullptr) return Say<words::kKeep>();
  return Say<words::kKeepBeside>(Give<"finding">(best->id), Give<"gain">(gain));
}

}  // namespace penstock::analyzer
