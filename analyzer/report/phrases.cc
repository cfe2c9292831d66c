// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/phrases.h"

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/words/format.h"
#include "analyzer/words/verdict.h"

namespace penstock::analyzer {

std::string UnitText(const Diagnosis& diagnosis) {
  return English(RateUnit(diagnosis));
}

std::string ThroughputText(const Diagnosis& diagnosis) {
  if (diagnosis.samples_rate <= 0) {
    return diagnosis.loader ? "not known: no batch followed another"
                            : "not known: no batch and no image was seen";
  }
  std::string text = fmt::format("{} {}", ShortNumber(diagnosis.samples_rate), UnitText(diagnosis));
  if (!diagnosis.loader) return text;
  const SteadyState& steady = diagnosis.loader->steady;
  text += fmt::format(" ({}..{})", ShortNumber(steady.rate.low), ShortNumber(steady.rate.high));
  if (diagnosis.run.loader().samples_known) {
    text += fmt::format(", {} batches/s", ShortNumber(diagnosis.batch_rate));
  }
  text += steady.steady
              ? fmt::format(", steady over {} of {} batches", steady.batches,
                            diagnosis.run.loader().batches.size())
              : fmt::format(", NOT steady: {} batches", diagnosis.run.loader().batches.size());
  text += fmt::format("; whole run {}", ShortNumber(diagnosis.whole_rate));
  if (!steady.pauses.empty()) {
    text += fmt::format("; {} pauses of {} left out", steady.pauses.size(),
                        DurationText(steady.pauses_time));
  }
  return text;
}

std::string LoaderText(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return "";
  const LoaderRun& run = diagnosis.run.loader();
  const LoaderConfig& config = run.config;
  const char* const crew = config.sample_tasks ? "thread" : "worker";
  const std::string& kind = config.package.empty() ? config.kind : config.package;
  std::string text = run.name.empty() ? "" : run.name + ": ";
  text += config.workers_known ? fmt::format("{}, {}", kind, CountedText(config.num_workers, crew))
                               : fmt::format("{}, number of {}s not known", kind, crew);
  if (config.num_workers > 0) text += fmt::format(", prefetch {}", config.prefetch_factor);
  if (config.batch_size > 0) text += fmt::format(", batch {}", config.batch_size);
  if (config.pin_memory) text += ", pinned";
  if (config.persistent_workers && !config.sample_tasks) text += ", persistent";
  if (run.epochs.size() > 1) text += fmt::format(", {} epochs", run.epochs.size());
  if (config.made_anew) text += ", made anew for each epoch";
  if (run.inferred) text += " (guessed from the spans)";
  const Signals& signals = diagnosis.loader->signals;
  if (config.num_workers > 0) {
    text += fmt::format("; {}s busy {}, idle {}", config.sample_tasks ? "thread" : "worker",
                        PercentText(signals.worker_busy), PercentText(signals.worker_idle));
  }
  const CpuLoad& cpu = diagnosis.loader->cpu;
  if (cpu.known) {
    text += fmt::format("; CPU {:.2g} of {:.3g} cores", cpu.used, cpu.cores);
    if (cpu.core_wait >= 0.05) {
      text += fmt::format(", workers wait for one {} of a batch", PercentText(cpu.core_wait));
    }
    if (cpu.crowded) text += " (other programs compete for them)";
  }
  return text;
}

std::vector<std::string> OtherLoaderTexts(const Diagnosis& diagnosis) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> texts;
  const std::vector<LoaderRun>& loaders = diagnosis.run.loaders;
  std::size_t of_process = 0;
  for (std::size_t i = 1; i < loaders.size(); ++i) {
    const LoaderRun& run = loaders[i];
    if (run.config.consumer != loaders.front().config.consumer || ++of_process > kShown) continue;
    std::string text = run.name.empty() ? "" : run.name + ": ";
    text += CountedText(run.config.num_workers, run.config.sample_tasks ? "thread" : "worker");
    if (run.config.batch_size > 0) text += fmt::format(", batch {}", run.config.batch_size);
    text += fmt::format(", {}", fmt::format("{} batches", run.batches.size()));
    if (run.epochs.size() > 1) text += fmt::format(" in {} epochs", run.epochs.size());
    text += run.use == LoopUse::kInterleaved ? ", by turns with the first" : ", after the first";
    text += fmt::format("; the loop waited {} of {} with it", DurationText(run.waited),
                        DurationText(run.lasted));
    texts.push_back(std::move(text));
  }
  if (of_process > kShown) texts.push_back(fmt::format("{} more", of_process - kShown));
  return texts;
}

std::string PredictionText(const Prediction& prediction, std::string_view unit) {
  return fmt::format("{} {} ({}..{}), {:.2f}x over the whole run",
                     ShortNumber(prediction.rate.estimate), unit, ShortNumber(prediction.rate.low),
                     ShortNumber(prediction.rate.high), prediction.speedup);
}

std::string SurenessText(const Diagnosis& diagnosis) {
  std::string text = fmt::format("confidence {}", PercentText(diagnosis.confidence));
  const bool replayed = diagnosis.loader && diagnosis.loader->fetched >= 0.5 &&
                        IsSimulated(*diagnosis.loader, diagnosis.run.loader());
  if (replayed && diagnosis.loader->replay.measured > 0) {
    text += fmt::format("; the simulation repeats the run with an error of {:+.1f} %",
                        100 * diagnosis.loader->replay.error());
  }
  return text;
}

Statement Keep(const Diagnosis& diagnosis) {
  if (!diagnosis.needs.empty()) return Say<words::kKeepNeeds>(Give<"needs">(diagnosis.needs));
  return diagnosis.loader->cpu.crowded ? Say<words::kKeepCrowded>() : Say<words::kKeep>();
}

}  // namespace penstock::analyzer
