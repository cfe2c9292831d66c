// SPDX-License-Identifier: Apache-2.0
#include "gui/model/overview.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/report/limits.h"
#include "analyzer/report/plan_report.h"
#include "analyzer/report/stage_wholes.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/names.h"
#include "analyzer/words/page.h"
#include "analyzer/words/report.h"
#include "gui/model/forecast.h"

namespace penstock::gui {
namespace {

using analyzer::Batch;
using analyzer::Factor;
using analyzer::Report;
using traces::StageId;

// Mean seconds per batch.
struct Means {
  double read = 0, decode = 0, augment = 0, tokenize = 0, collate = 0, other = 0, put = 0;
  double beside = 0;  // part of `put`: on a thread beside the worker's next batch
  double wait = 0, others = 0, get = 0, pin = 0, h2d = 0, step = 0;
  // On a core. Known only if it is known of every batch.
  bool cpu_known = true;
  double decode_cpu = 0, augment_cpu = 0, tokenize_cpu = 0, collate_cpu = 0;
  // SplitAugment() moves this here from `augment` and `augment_cpu`.
  double rest = 0, rest_cpu = 0;
};

// The least share of its time that making a batch spends off the cores before the ribbon tells.
constexpr double kOffCores = 0.1;

// Whether the diagnosis uses the batches of the steady window, not all. Requires: diagnosis.loader.
bool UsesWindow(const analyzer::Diagnosis& diagnosis) {
  const analyzer::SteadyState& steady = diagnosis.loader->steady;
  return !diagnosis.whole_run && steady.batches > 0 &&
         steady.in_window.size() == diagnosis.run.loader().batches.size();
}

// By thread, when the loop asked for the first batch of an epoch.
using EpochBegins = std::set<std::pair<std::uint32_t, std::int64_t>>;
EpochBegins BeginsOf(const analyzer::RunModel& run) {
  EpochBegins begins;
  for (const analyzer::LoaderRun& loader : run.loaders) {
    for (const analyzer::Epoch& epoch : loader.epochs) {
      if (epoch.count == 0 || epoch.first >= loader.batches.size()) continue;
      const Batch& first = loader.batches[epoch.first];
      begins.emplace(first.wait_thread, first.wait_start);
    }
  }
  return begins;
}

// Means over the batches that the diagnosis uses. If the loop left an epoch without asking for
// another batch, the step before the next epoch is not known: the gap between epochs is no step.
// `pauses`: if these are all batches, the steps that were pauses count too. Requires:
// diagnosis.loader.
Means MeansOf(const analyzer::Diagnosis& diagnosis, bool pauses) {
  const analyzer::LoaderRun& run = diagnosis.run.loader();
  const analyzer::SteadyState& steady = diagnosis.loader->steady;
  const bool window = UsesWindow(diagnosis);
  const EpochBegins begins = window ? EpochBegins{} : BeginsOf(diagnosis.run);
  Means sum;
  double made = 0;
  double used = 0;
  double stepped = 0;
  for (std::size_t i = 0; i < run.batches.size(); ++i) {
    const Batch& batch = run.batches[i];
    if (window && !steady.in_window[i]) continue;
    if (batch.was_fetched() || batch.fetch.wall > 0) {
      made += 1;
      const double parts = batch.read.wall + batch.decode.wall + batch.augment.wall +
                           batch.tokenize.wall + batch.collate.wall;
      sum.read += batch.read.wall;
      sum.decode += batch.decode.wall;
      sum.augment += batch.augment.wall;
      sum.tokenize += batch.tokenize.wall;
      sum.collate += batch.collate.wall;
      sum.other += std::max(0.0, batch.fetch.wall - parts);
      sum.put += batch.put.wall;
      if (batch.put_thread != batch.fetch_thread) sum.beside += batch.put.wall;
      sum.cpu_known = sum.cpu_known && batch.cpu_known;
      sum.decode_cpu += std::min(batch.decode.cpu, batch.decode.wall);
      sum.augment_cpu += std::min(batch.augment.cpu, batch.augment.wall);
      sum.tokenize_cpu += std::min(batch.tokenize.cpu, batch.tokenize.wall);
      sum.collate_cpu += std::min(batch.collate.cpu, batch.collate.wall);
    }
    if (batch.was_delivered()) {
      used += 1;
      // The loop may get a batch while it waits for an older one.
      const bool inside = batch.get_thread == batch.wait_thread;
      sum.get += inside ? batch.get.wall : 0;
      sum.pin += inside ? batch.pin.wall : 0;
      sum.wait += batch.wait();
    }
    // In the window, the step before a batch belongs to its interval, unless it was a pause.
    const bool paused = !pauses && i < steady.paused.size() && steady.paused[i];
    const bool gap = begins.count({batch.wait_thread, batch.step_end}) > 0;
    const Batch* all = paused || gap ? nullptr : &batch;
    const Batch* step = window ? analyzer::StepBefore(run, steady, i) : all;
    if (step != nullptr && step->step_end != analyzer::kNever) {
      stepped += 1;
      const double copy = std::min(step->h2d, step->step());
      sum.h2d += copy;
      sum.step += step->step() - copy;
    }
  }
  sum.get = std::min(sum.get, sum.wait);
  sum.pin = std::min(sum.pin, sum.wait - sum.get);
  sum.wait -= sum.get + sum.pin;
  const auto divide = [](double& value, double by) { value = by > 0 ? value / by : 0; };
  for (double* value :
       {&sum.read, &sum.decode, &sum.augment, &sum.tokenize, &sum.collate, &sum.other, &sum.put,
        &sum.beside, &sum.decode_cpu, &sum.augment_cpu, &sum.tokenize_cpu, &sum.collate_cpu}) {
    divide(*value, made);
  }
  for (double* value : {&sum.wait, &sum.get, &sum.pin}) divide(*value, used);
  const double others = analyzer::WaitForOthers(diagnosis.run, run, window ? &steady : nullptr);
  sum.others = std::min(others, sum.step);
  sum.step -= sum.others;
  for (double* value : {&sum.others, &sum.h2d, &sum.step}) divide(*value, stepped);
  return sum;
}

// Splits augmenting into the named transforms and the rest of the samples if "augment" is no name
// for it (IsAugmentNamed). A CPU time below 0 is not known.
void SplitAugment(const analyzer::StageTable& stages, Means& means) {
  const analyzer::StageTotals& augment = stages[StageId::kAugment];
  const double unnamed = analyzer::UnnamedTime(StageId::kAugment, augment);
  if (analyzer::IsAugmentNamed(stages) || unnamed <= 0) return;
  means.rest = means.augment * unnamed / Seconds(augment.wall);
  means.augment -= means.rest;
  double named_cpu = 0;
  bool known = augment.cpu.value > 0;
  for (const auto& [name, part] : augment.children) {
    named_cpu += Seconds(part.cpu);
    known = known && part.cpu_known();
  }
  const double share = known ? std::min(1.0, named_cpu / Seconds(augment.cpu)) : 0;
  const double cpu = means.augment_cpu;
  means.augment_cpu = known ? std::min(cpu * share, means.augment) : -1;
  means.rest_cpu = known ? std::min(cpu * (1 - share), means.rest) : -1;
}

// Writes how much of each computing part passes on a core, if that is known and differs from its
// length: a longer part may then gain less than the bottleneck.
void TellComputing(const Means& means, const analyzer::StageTable& stages,
                   std::vector<RibbonPart>& making) {
  double wall = 0;
  double cpu = 0;
  std::vector<RibbonPart> told = making;
  for (RibbonPart& part : told) {
    const double* computing = part.name == Text::kDecode       ? &means.decode_cpu
                              : part.name == Text::kAugment    ? &means.augment_cpu
                              : part.name == Text::kTransforms ? &means.augment_cpu
                              : part.name == Text::kOtherCode  ? &means.rest_cpu
                              : part.name == Text::kTokenize   ? &means.tokenize_cpu
                              : part.name == Text::kCollate    ? &means.collate_cpu
                                                               : nullptr;
    if (computing == nullptr) continue;
    if (!stages[part.colour].cpu_known()) return;
    if (*computing < 0) continue;
    part.computing = *computing;
    wall += part.seconds;
    cpu += *computing;
  }
  if (means.cpu_known && cpu > 0 && cpu < (1 - kOffCores) * wall) making = std::move(told);
}

// What the loop does after a batch, until it asks for the next one. If steps were recorded as such,
// this may be more than the step. Single long steps, such as the last one of an epoch with the gap
// after it, do not count.
Text NameOfStep(const analyzer::RunModel& run) {
  constexpr double kNotable = 0.98;
  if (analyzer::DerivesSteps(run)) return Text::kStep;
  std::vector<double> all;
  for (const analyzer::LoaderRun& loader : run.loaders) {
    for (const Batch& batch : loader.batches) {
      if (batch.step() > 0) all.push_back(batch.step());
    }
  }
  const double recorded = run.stages[StageId::kStep].durations.Quantile(0.5);
  return recorded < kNotable * analyzer::Median(std::move(all)) ? Text::kStepAndRest : Text::kStep;
}

}  // namespace

InputBound Judge(const Report& report) {
  // Without a steady window there is no judgement: the first few batches only show how the queues
  // fill.
  if (!report.diagnosis.loader || !report.diagnosis.loader->steady.steady) {
    return InputBound::kUnknown;
  }
  const double wait = report.diagnosis.wait_fraction;
  return wait < 0.05  ? InputBound::kNot
         : wait < 0.2 ? InputBound::kModerately
                      : InputBound::kHighly;
}

Text NameOf(Factor factor) {
  switch (factor) {
    case Factor::kRead:
      return Text::kRead;
    case Factor::kDecode:
      return Text::kDecode;
    case Factor::kAugment:
      return Text::kAugment;
    case Factor::kTokenize:
      return Text::kTokenize;
    case Factor::kCollate:
      return Text::kCollate;
    case Factor::kTransfer:
      return Text::kHandover;
    case Factor::kH2d:
      return Text::kCopyToGpu;
    case Factor::kCompute:
      return Text::kStep;
    case Factor::kStartup:
      return Text::kStartup;
    case Factor::kPrefetch:
      return Text::kPrefetch;
    case Factor::kNone:
      break;
  }
  return Text::kNothing;
}

Text NameOfFree(Factor factor) {
  return factor == Factor::kPrefetch ? Text::kUnevenBatches : NameOf(factor);
}

double MeanStep(const analyzer::Diagnosis& diagnosis) {
  return MeansOf(diagnosis, false).step;
}

Ribbon BuildRibbon(const Report& report) {
  if (!report.diagnosis.run.has_loader()) return RibbonOfLoop(report.diagnosis);
  Ribbon ribbon;
  if (!report.diagnosis.loader) return ribbon;
  const analyzer::LoaderRun& run = report.diagnosis.run.loader();
  const Factor bottleneck = report.diagnosis.bottleneck;
  Means means = MeansOf(report.diagnosis, true);
  SplitAugment(report.diagnosis.run.stages, means);
  ribbon.workers = run.config.num_workers;
  ribbon.workers_known = run.config.workers_known;
  ribbon.window = UsesWindow(report.diagnosis);
  ribbon.steady = ribbon.window && report.diagnosis.loader->steady.steady;
  if (ribbon.window) ribbon.each = ribbon.steady ? Text::kEachSteadyBatch : Text::kEachBatch;
  const auto add = [&](std::vector<RibbonPart>& parts, StageId colour, Text name, double seconds,
                       Factor factor) {
    if (seconds > 0) parts.push_back({colour, name, seconds, factor == bottleneck});
  };
  auto& making = ribbon.making;
  add(making, StageId::kRead, Text::kRead, means.read, Factor::kRead);
  add(making, StageId::kDecode, Text::kDecode, means.decode, Factor::kDecode);
  // Augmenting is split only if most of it is other code, which is marked then. kStartup stands for
  // "none".
  const bool split = means.rest > 0;
  add(making, StageId::kAugment, split ? Text::kTransforms : Text::kAugment, means.augment,
      split ? Factor::kStartup : Factor::kAugment);
  add(making, StageId::kAugment, Text::kOtherCode, means.rest, Factor::kAugment);
  add(making, StageId::kTokenize, Text::kTokenize, means.tokenize, Factor::kTokenize);
  // The rest has no factor.
  add(making, StageId::kSample, Text::kOther, means.other, Factor::kStartup);
  add(making, StageId::kCollate, Text::kCollate, means.collate, Factor::kCollate);
  add(making, StageId::kPut, Text::kHandoverPut, means.put, Factor::kTransfer);
  if (means.beside > 0) making.back().beside = true;
  TellComputing(means, report.diagnosis.run.stages, making);
  ExplainBottleneck(report.diagnosis.loader->cpu, making);
  auto& loop = ribbon.loop;
  // The wait for data contains the time in which the loop takes the batch over, which is a part of
  // its own. The rest is marked if prefetching is the bottleneck: without workers, the training
  // process makes the batches during the wait.
  const double taking = means.get + means.pin;
  add(loop, StageId::kWait, taking > 0 ? Text::kWaitBeforeGet : Text::kWait, means.wait,
      Factor::kPrefetch);
  // The wait for other loaders has no factor of this loader.
  add(loop, StageId::kWait, Text::kWaitForOthers, means.others, Factor::kStartup);
  if (means.others > 0) loop.back().lighter = true;
  add(loop, StageId::kGet, Text::kHandoverGet, taking, Factor::kTransfer);
  add(loop, StageId::kH2d, Text::kCopyCall, means.h2d, Factor::kH2d);
  add(loop, StageId::kStep, NameOfStep(report.diagnosis.run), means.step, Factor::kCompute);
  for (const RibbonPart& part : making) ribbon.making_time += part.seconds;
  ribbon.worker_time = ribbon.making_time - means.beside;
  for (const RibbonPart& part : loop) ribbon.loop_time += part.seconds;
  if (bottleneck == Factor::kStartup) {
    for (RibbonPart& part : making) part.bottleneck = false;
    for (RibbonPart& part : loop) part.bottleneck = false;
  }
  return ribbon;
}

std::string VerdictText(const Report& report, Language language) {
  return Render(report.diagnosis.summary, language);
}

FindingText TextOf(const analyzer::Finding& finding, Language language) {
  const std::string seen = Render(finding.seen, language);
  const std::string action = Render(finding.action, language);
  if (language == Language::kEnglish) return {Typeset(seen), "", action};
  return {TitleOfRule(finding.id, language), seen, action};
}

std::string AdviceText(const Report& report, const analyzer::Finding& finding, Language language) {
  std::string advice = Render(finding.action, language);
  const auto add = [&](const std::string& sentence) {
    advice += analyzer::SentenceGap(language);
    advice += sentence;
  };
  if (analyzer::Statement place = PlaceInPlan(report.plan, finding.id); !place.empty()) {
    const auto clause =
        analyzer::Say<analyzer::words::kClause>(analyzer::Give<"what">(std::move(place)));
    add(Typeset(Render(clause, language)));
  }
  if (finding.predicted) {
    const Forecast forecast = ForecastOf(report.diagnosis, *finding.predicted);
    const analyzer::Interval& rate = forecast.after;
    const std::string estimate = analyzer::ShortNumber(rate.estimate);
    const std::string unit = Render(analyzer::RateUnit(report.diagnosis), language);
    add(forecast.at_most ? Filled(Text::kPredictedAtMost, language, estimate, unit)
                         : Filled(Text::kPredictedOf, language, estimate, unit,
                                  Filled(Text::kInterval, language, analyzer::ShortNumber(rate.low),
                                         analyzer::ShortNumber(rate.high))));
  }
  return advice;
}

std::string TitleOfRule(std::string_view id, Language language) {
  return std::string(analyzer::NameIn(id, language));
}

std::vector<std::string> InsteadOfFindings(const Report& report, Language language) {
  if (!report.findings.empty()) return {};
  const Text first = report.stages.empty() ? Text::kNothingChecked : Text::kNoFindings;
  std::vector<std::string> lines = {std::string(TextOf(first, language))};
  for (const analyzer::NotChecked& missing : report.not_checked) {
    lines.push_back(
        Filled(Text::kNeedsFor, language, Render(analyzer::Unchecked(missing), language)));
  }
  return lines;
}

std::vector<Change> ChangesOf(const Report& report) {
  std::vector<Change> changes;
  if (!report.diagnosis.loader || !report.diagnosis.loader->suggestion.changes) return changes;
  const analyzer::Suggestion& suggestion = report.diagnosis.loader->suggestion;
  const analyzer::LoaderConfig& config = report.diagnosis.run.loader().config;
  const auto add = [&](Text name, int before, int after) {
    if (before != after) changes.push_back({name, before, after});
  };
  add(Text::kNumWorkers, config.num_workers, suggestion.workers);
  if (suggestion.workers > 0 && (config.num_workers > 0 || suggestion.prefetch != 2)) {
    add(Text::kPrefetchFactor, config.prefetch_factor, suggestion.prefetch);
  }
  add(Text::kPersistent, config.persistent_workers ? 1 : 0, suggestion.persistent_workers ? 1 : 0);
  return changes;
}

std::vector<std::string> Warnings(const Report& report, Language language) {
  std::vector<std::string> lines;
  const std::string losses = Render(analyzer::Lost(report.losses, report.diagnosis.run), language);
  if (!losses.empty()) lines.push_back(Filled(Text::kIncomplete, language, losses));
  const std::string blind = Render(analyzer::PartlyBlind(report.coverage), language);
  if (!blind.empty()) lines.push_back(Filled(Text::kPartlyBlind, language, blind));
  return lines;
}

std::string CoverageText(const Report& report, Language language) {
  constexpr std::string_view kApart = "  ·  ";
  std::string text =
      Filled(Text::kSeen, language, Render(analyzer::Seen(report.coverage), language));
  // Where nothing was seen, there was nothing to lose.
  if (!report.stages.empty() && analyzer::Lost(report.losses, report.diagnosis.run).empty()) {
    text += kApart;
    text += TextOf(Text::kNothingLost, language);
  }
  for (const analyzer::Statement& blind : report.coverage.blind) {
    text += kApart;
    text += Filled(Text::kNotSeen, language, Render(blind, language));
  }
  return text;
}

}  // namespace penstock::gui
