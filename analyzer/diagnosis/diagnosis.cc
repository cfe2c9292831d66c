// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/signals.h"
#include "analyzer/diagnosis/summary.h"
#include "analyzer/diagnosis/whole_run.h"
#include "analyzer/diagnosis/without_loader.h"
#include "analyzer/measure/build_interleaved.h"
#include "analyzer/measure/build_pipeline.h"
#include "analyzer/measure/core_waits.h"
#include "analyzer/measure/helpers.h"
#include "analyzer/measure/steps.h"
#include "analyzer/memory/measure_memory.h"
#include "analyzer/memory/page_faults.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/words/findings_workers.h"
#include "analyzer/words/needs.h"

namespace penstock::analyzer {
namespace {

using traces::StageId;

// The replay simulates the whole run. The other simulations, about fifty, simulate at most this
// many batches or samples of the run.
constexpr std::size_t kDiagnosisBatches = 8192;
constexpr std::size_t kDiagnosisTasks = 131072;

double Confidence(const LoaderDiagnosis& loader, const LoaderRun& run) {
  constexpr double kNoConfidence = 0.5;
  const double replay = std::clamp(1 - std::abs(loader.replay.error()) / kNoConfidence, 0.05, 1.0);
  // In a tie the bottleneck's name is uncertain, but the figures are not.
  const double name = 0.55 + 0.45 * loader.attribution.margin;
  const double batches = std::min(1.0, static_cast<double>(loader.steady.batches) / 64.0);
  const double amount = loader.steady.steady ? 0.6 + 0.4 * batches : 1.2 * batches;
  const std::optional<Drift>& drift = loader.steady.drift;
  const double level = drift ? std::min(drift->ratio(), 1 / drift->ratio()) : 1;
  const double seen = IsSimulated(loader, run) && !run.handed_on
                          ? 0.2 + 0.8 * std::min(1.0, loader.fetched / 0.98)
                          : 0.2;
  return std::clamp(replay * name * amount * level * seen, 0.0, 0.99);
}

// Whether the start-up of epochs takes so much of the run that its steady part does not represent
// it. Start-up that comes only once does not count, since a longer run has no more of it. `whole`:
// all batches of the run.
bool StartCounts(const LoaderDiagnosis& loader, const LoaderRun& run, const Pipeline& whole,
                 const Diagnosis& diagnosis) {
  constexpr double kCounts = 0.95;
  // The part of a run before its rate changed is not start-up.
  if (loader.steady.change) return false;
  if (!run.probes.empty()) return false;  // the whole run includes experiments
  // The simulation of several loaders together has no start-up of epochs.
  const bool together = run.use == LoopUse::kInterleaved && IsSimulated(loader, run);
  if (together || !StartRecurs(whole) || !(diagnosis.whole_rate > 0)) return false;
  double samples = 0;
  for (const EpochDemand& epoch : whole.epochs) {
    for (const Demand& demand : epoch.batches) samples += demand.own_samples();
  }
  const double time = samples / diagnosis.whole_rate - StartOnce(whole);
  return samples < kCounts * diagnosis.samples_rate * time;
}

// Names the bottleneck of a run that the simulation does not explain. Either the fetches of most
// batches were not recorded, or the loop interleaves loaders that could not be simulated together.
// If the loop waits for data, the bottleneck is not the step, but the stage in which the data
// threads spend most time, if they were seen. If it does not wait, the simulation, which takes
// unseen fetches for free, still names the bottleneck, but no gain. Returns whether the run is of
// this kind.
bool NameUnseen(Diagnosis& diagnosis, LoaderDiagnosis& loader) {
  constexpr double kWaits = 0.05;  // kineto's and xprof's threshold of note
  const bool simulated = loader.fetched >= 0.5 && IsSimulated(loader, diagnosis.run.loader());
  if (simulated) return false;
  const double headroom = 1 / std::max(1e-3, 1 - diagnosis.wait_fraction);
  if (diagnosis.wait_fraction < kWaits) {
    loader.attribution.gains.clear();
    loader.attribution.headroom = headroom;
    return true;
  }
  Attribution found;
  found.gains = GainsByThreadTime(diagnosis.run.stages, diagnosis.run.data_life);
  if (!found.gains.empty() && found.gains.front().speedup >= 1.05) {
    found.bottleneck = found.gains.front().factor;
    found.headroom = headroom;
  }
  loader.attribution = std::move(found);
  return true;
}

// The verdict names the stage that gains most in the part of the run that the reported gains refer
// to. Where two stages gain about the same, the stage that gains most in the steady part may differ
// from the one in the whole run.
void NameByToldGains(LoaderDiagnosis& loader, Diagnosis& diagnosis) {
  constexpr std::array kStages = {Factor::kRead,     Factor::kDecode,  Factor::kAugment,
                                  Factor::kTokenize, Factor::kCollate, Factor::kTransfer};
  const auto is_stage = [&](Factor factor) {
    return std::find(kStages.begin(), kStages.end(), factor) != kStages.end();
  };
  const auto most = std::find_if(diagnosis.gains.begin(), diagnosis.gains.end(),
                                 [&](const Gain& gain) { return is_stage(gain.factor); });
  Attribution& found = loader.attribution;
  if (most == diagnosis.gains.end() || !is_stage(found.bottleneck)) return;
  if (most->factor == found.bottleneck) return;
  if (found.runner_up == most->factor) found.runner_up = found.bottleneck;
  found.bottleneck = diagnosis.bottleneck = most->factor;
}

// The simulation may name a part that the measured step leaves no room for, because the
// simulation is wrong by more than the part could gain. Then no part holds the run back.
void KeepBelowCeiling(LoaderDiagnosis& loader, Diagnosis& diagnosis) {
  constexpr double kWorthSaying = 1.05;  // as Attribute()
  Attribution& found = loader.attribution;
  const bool of_loop = found.bottleneck == Factor::kNone || found.bottleneck == Factor::kCompute ||
                       found.bottleneck == Factor::kH2d || found.bottleneck == Factor::kStartup;
  if (of_loop || diagnosis.whole_run || diagnosis.headroom() >= kWorthSaying) return;
  found.headroom = diagnosis.headroom();
  found.runner_up = found.bottleneck;
  const bool step = GainOf(diagnosis, Factor::kCompute) >= kWorthSaying;
  found.bottleneck = diagnosis.bottleneck = step ? Factor::kCompute : Factor::kNone;
}

// The time between two batches is not the training step, so neither the gain of a part nor the
// ceiling is known. The stage that takes most of the threads' time stays, as a hint.
void ForgetStep(LoaderDiagnosis& loader, Diagnosis& diagnosis) {
  diagnosis.ceiling = 0;
  diagnosis.gains.clear();
  Attribution found;
  const auto gains = GainsByThreadTime(diagnosis.run.stages, diagnosis.run.data_life);
  if (!gains.empty() && gains.front().speedup >= 1.05) found.bottleneck = gains.front().factor;
  loader.attribution = std::move(found);
  diagnosis.bottleneck = loader.attribution.bottleneck;
}

// Suggests the recorded setting for a loader for which no other setting can be predicted. Requires:
// the bottleneck is named.
void KeepRecorded(LoaderDiagnosis& loader, const LoaderRun& run) {
  Suggestion& kept = loader.suggestion;
  kept.workers = run.config.num_workers;
  kept.enough_workers = kept.workers;
  kept.prefetch = std::max(1, run.config.prefetch_factor);
  kept.enough_prefetch = kept.prefetch;
  kept.persistent_workers = run.config.persistent_workers;
  kept.predicted.rate = loader.steady.rate;
  Setting setting;
  setting.workers = loader.pipeline.workers;
  setting.prefetch = loader.pipeline.prefetch;
  kept.predicted.ram = RamOf(loader.pipeline, setting, loader.facts);
  kept.next_bottleneck = loader.attribution.bottleneck;
}

void DiagnoseLoader(const traces::Trace& trace, Diagnosis& diagnosis) {
  const LoaderRun& run = diagnosis.run.loader();
  LoaderDiagnosis loader;
  loader.steady = FindSteadyState(run);
  loader.device = MeasureDevice(diagnosis.run.device, run, loader.steady.windows);
  loader.cpu = MeasureCpuLoad(diagnosis.run, run, loader.steady);
  loader.sample_tail = FindSampleTail(trace, run.sample_times, ContentionOutsideReads(loader.cpu));
  loader.signals = MeasureSignals(diagnosis.run, run, loader.steady);
  const std::optional<Pipeline> together =
      BuildInterleaved(diagnosis.run, run, loader.steady, loader.cpu);
  Pipeline whole =
      together ? *together : BuildPipeline(diagnosis.run, run, loader.steady, loader.cpu);
  // The run goes on at its last rate, so predictions leave out the batches before the change of
  // rate.
  if (!together && loader.steady.change) whole = Without(whole, loader.steady.change->batch);
  whole.own_processes = !together && MadeByOwnProcesses(diagnosis.run, loader.steady);
  loader.pipeline = Shortened(whole, kDiagnosisBatches, kDiagnosisTasks);
  loader.replay = ReplayOf(whole, loader.pipeline, loader.steady.rate.estimate);
  loader.facts = FactsOf(diagnosis.run, run);
  loader.memory = MeasureMemory(diagnosis.run, run, loader.steady.batch_rate());
  const std::optional<FaultCost> cost = FaultCostOf(trace);
  loader.memory.copied = MeasureCopiedMemory(diagnosis.run, run, cost ? cost->page : 4096);
  loader.facts.growth = loader.memory.growth;
  // Memory grows from the workers' private memory, which holds no pages of files.
  if (loader.memory.attributed) {
    loader.facts.worker_bytes = loader.memory.private_bytes;
    loader.facts.read = {};
  }
  loader.facts.shares = !loader.memory.shared.unused;
  loader.material = MaterialOf(trace, diagnosis.run, run);
  if (!(loader.facts.batch_bytes > 0)) loader.facts.batch_bytes = loader.material.batch_bytes();
  loader.facts.fresh =
      MeasureFreshMemory(trace, diagnosis.run, run, loader.material, loader.memory);
  loader.facts.fresh.touch =
      FirstTouch(trace, diagnosis.run, run, loader.steady, loader.facts.batch_bytes,
                 loader.facts.shares, ReadsBatches(diagnosis.run, loader.pipeline));
  loader.starts_once = StartOnce(whole) > 0;
  loader.attribution = Attribute(OfLongerRun(loader));
  std::size_t fetched = 0;
  for (const Batch& batch : run.batches) fetched += batch.was_fetched() ? 1u : 0u;
  loader.fetched = static_cast<double>(fetched) / static_cast<double>(run.batches.size());
  loader.sharding = ShardingOf(trace, diagnosis.run);
  loader.suggestion.missing = Missing(loader, run);
  if (loader.suggestion.missing.empty() && loader.pipeline.own_processes) {
    loader.suggestion.missing = Say<words::kNeedsOwnProcesses>();
  }
  if (loader.suggestion.missing.empty()) {
    loader.suggestion =
        Suggest(loader.pipeline, loader.facts, loader.replay, BudgetOf(diagnosis.run.host));
    if (const Statement& law = loader.suggestion.predicted.refused; !law.empty()) {
      Statement missing = Say<words::kNothingLeft>(Give<"why">(law));
      loader.suggestion = {};
      loader.suggestion.missing = std::move(missing);
    }
  }
  if (loader.suggestion.missing.empty()) {
    loader.suggestion.note =
        NoteOnWorkers(loader.sharding, run.config.num_workers, loader.suggestion.workers);
  }

  diagnosis.wait_fraction = std::clamp(WaitFraction(diagnosis.run, run, loader.steady), 0.0, 1.0);
  const bool unseen = NameUnseen(diagnosis, loader);
  diagnosis.bottleneck = loader.attribution.bottleneck;
  diagnosis.whole_rate = WholeRate(diagnosis.run, run);
  diagnosis.samples_rate = loader.steady.rate.estimate;
  diagnosis.whole_run = StartCounts(loader, run, whole, diagnosis);
  if (diagnosis.whole_run) {
    diagnosis.wait_fraction = WholeWait(diagnosis.run, run);
    CountWholeLives(run, loader.signals);
  }
  TellGains(loader, !unseen, diagnosis);
  NameByToldGains(loader, diagnosis);
  if (!unseen) KeepBelowCeiling(loader, diagnosis);
  if (run.handed_on) ForgetStep(loader, diagnosis);
  if (!loader.suggestion.missing.empty()) KeepRecorded(loader, run);
  diagnosis.batch_rate = loader.steady.batch_rate();
  diagnosis.confidence = Confidence(loader, run);
  diagnosis.loader = std::move(loader);
}

// Diagnoses the other loaders in the main loader's process, each as if it were the main loader.
// Loaders that were simulated together with the main one get its suggestion.
void DiagnoseOthers(const traces::Trace& trace, Diagnosis& diagnosis) {
  constexpr std::size_t kMostLoaders = 8;
  std::vector<LoaderRun>& loaders = diagnosis.run.loaders;
  for (std::size_t i = 1; i < loaders.size() && diagnosis.others.size() < kMostLoaders; ++i) {
    if (loaders[i].config.consumer != loaders.front().config.consumer) continue;
    OtherLoader other{i, {}, diagnosis.whole_run};
    const LoaderRun& main = loaders.front();
    const bool together = loaders[i].use == LoopUse::kInterleaved &&
                          main.use == LoopUse::kInterleaved && IsSimulated(*diagnosis.loader, main);
    if (together) {
      other.suggestion = diagnosis.loader->suggestion;
      other.suggestion.predicted = OnBase(diagnosis, other.suggestion.predicted);
    } else {
      std::swap(loaders.front(), loaders[i]);
      Diagnosis as_main;
      as_main.run = std::move(diagnosis.run);
      as_main.run.reads.turns = as_main.run.loader().turns;
      DiagnoseLoader(trace, as_main);
      diagnosis.run = std::move(as_main.run);
      other.suggestion = as_main.loader->suggestion;
      other.suggestion.predicted = OnBase(as_main, other.suggestion.predicted);
      other.whole_run = as_main.whole_run;
      std::swap(loaders.front(), loaders[i]);
      diagnosis.run.reads.turns = diagnosis.run.loader().turns;
    }
    diagnosis.others.push_back(std::move(other));
  }
}

}  // namespace

Pipeline OfLongerRun(const LoaderDiagnosis& loader) {
  Pipeline pipeline = loader.pipeline;
  if (loader.starts_once && !pipeline.epochs.empty()) {
    std::vector<double>& starts = pipeline.epochs.front().worker_start;
    std::fill(starts.begin(), starts.end(), 0.0);
  }
  return pipeline;
}

bool IsSimulated(const LoaderDiagnosis& loader, const LoaderRun& run) {
  return run.use != LoopUse::kInterleaved || !loader.pipeline.beside.empty();
}

Statement Missing(const LoaderDiagnosis& loader, const LoaderRun& run) {
  if (run.config.fixed_batch) return Say<words::kNeedsRunningLoader>();
  if (!IsSimulated(loader, run)) return Say<words::kNeedsOneLoader>();
  if (loader.steady.batches == 0) {
    return Say<words::kNeedsBatches>(Give<"batches">(run.batches.size()));
  }
  if (loader.fetched < 0.5 && run.config.sample_tasks && run.config.num_workers > 0) {
    return Say<words::kNeedsWholeSamples>();
  }
  if (loader.fetched < 0.5 && !run.config.package.empty()) {
    return Say<words::kNeedsMaking>(Give<"package">(run.config.package));
  }
  if (loader.fetched < 0.5) return Say<words::kNeedsSight>(Give<"none">(loader.fetched == 0));
  if (run.handed_on) return Say<words::kNeedsStep>();
  if (!loader.steady.steady) {
    return Say<words::kNeedsSteady>(Give<"batches">(loader.steady.batches),
                                    Give<"more">(16 - loader.steady.batches));
  }
  // A larger drift makes predictions from the mean of the run wrong.
  constexpr double kMostDrift = 1.25;
  if (const std::optional<Drift>& drift = loader.steady.drift;
      drift && std::max(drift->ratio(), 1 / drift->ratio()) >= kMostDrift) {
    return Say<words::kNeedsLevel>(
        Give<"rises">(drift->rises()), Give<"first">(drift->first), Give<"last">(drift->last),
        Give<"unit">(RateUnit(run.samples_known)), Give<"cache">(loader.steady.fills_cache));
  }
  constexpr double kMostOfTime = 0.5;
  double longest = 0;
  for (const double wait : loader.steady.waits) longest = std::max(longest, wait);
  if (longest > kMostOfTime * loader.steady.time) {
    return Say<words::kNeedsOrdinaryWaits>(Give<"longest">(longest),
                                           Give<"share">(longest / loader.steady.time));
  }
  if (std::abs(loader.replay.error()) > kUselessReplay) {
    return Say<words::kNeedsExplained>(Give<"error">(loader.replay.error()));
  }
  return {};
}

// One worker delivers the same samples as the training process itself; several may repeat them.
Statement NoteOnWorkers(Sharding sharding, int recorded, int workers) {
  if (workers <= std::max(1, recorded)) return {};
  if (sharding == Sharding::kByIndex || sharding == Sharding::kShards) return {};
  return Say<words::kRepeatsSamples>(Give<"known">(sharding == Sharding::kRepeats));
}

Statement NotEnough(const Diagnosis& diagnosis) {
  const Feed& feed = diagnosis.feed;
  if (!diagnosis.loader && feed.doubt == FeedDoubt::kNone && feed.makers == 0) {
    return Say<words::kNeedsWorkers>(Give<"headroom">(feed.headroom));
  }
  if (!diagnosis.loader && diagnosis.run.threads == 0) return Say<words::kNeedsRecords>();
  if (!diagnosis.loader) return Say<words::kNeedsLoader>();
  return Missing(*diagnosis.loader, diagnosis.run.loader());
}

Statement UnknownLoader(const RunModel& run, std::string_view loader) {
  if (loader.empty()) return {};
  std::string known;
  for (const LoaderRun& one : run.loaders) {
    if (one.name == loader) return {};
    if (!one.name.empty()) known += (known.empty() ? "" : ", ") + one.name;
  }
  return Say<words::kUnknownLoader>(Give<"given">(loader), GiveIf<"known">(!known.empty(), known));
}

Diagnosis Diagnose(const traces::Trace& trace, std::string_view loader) {
  Diagnosis diagnosis;
  diagnosis.run = BuildRunModel(trace, loader);
  diagnosis.ranks = SummariseRanks(trace, diagnosis.run);
  if (diagnosis.run.has_loader()) {
    DiagnoseLoader(trace, diagnosis);
    DiagnoseOthers(trace, diagnosis);
  } else {
    DiagnoseWithoutLoader(trace, diagnosis);
  }
  SampleTimeLists samples;
  for (const LoaderRun& run : diagnosis.run.loaders) samples.emplace_back(run.sample_times);
  diagnosis.functions = ProfileFunctions(trace, diagnosis.run.stages, samples);
  for (FunctionProfile& profile : diagnosis.functions) {
    const double whole = diagnosis.run.stages.DataTime();
    if (profile.stage == StageId::kStep) {
      if (diagnosis.run.has_loader()) profile.of_stage = StepFraction(diagnosis.run);
    } else if (whole > 0) {
      const StageTotals& stage = diagnosis.run.stages[profile.stage];
      profile.of_stage = std::min(1.0, Seconds(stage.wall + stage.inside) / whole);
    }
  }
  diagnosis.needs = NotEnough(diagnosis);
  diagnosis.summary = Summarise(diagnosis);
  return diagnosis;
}

}  // namespace penstock::analyzer
