// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/core.h>

#include "analyzer/diagnosis/summary.h"
#include "analyzer/report/program_name.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"

namespace penstock::analyzer {
namespace {

constexpr double kRepeatNoise = 0.02;  // between runs of one program: compare.h
constexpr double kConfidence = 0.95;

// The steady batches of one run as series. Without `samples_known`, `samples` counts batches,
// because both runs must be counted in the same unit.
struct Series {
  Series(const Diagnosis& diagnosis, bool samples_known) : run(diagnosis.run.loader()) {
    const SteadyState& steady = diagnosis.loader->steady;
    for (std::size_t i = 0; i < run.batches.size(); ++i) {
      if (!steady.in_window[i]) continue;
      batches.push_back(&run.batches[i]);
      samples.push_back(samples_known ? SamplesOf(run, run.batches[i]) : 1);
    }
    intervals = steady.intervals;
    waits = steady.waits;
    // The interval of a batch contains the step before the batch, and no pause. Batch::step() is
    // the step after the batch, and may be a pause.
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      steps.push_back(std::max(0.0, intervals[i] - waits[i]));
    }
    // Long runs get longer blocks, so fewer blocks have to be drawn. The intervals are as good.
    const auto credits = static_cast<std::size_t>(std::max(1, run.config.credits()));
    options.block = std::max(credits, batches.size() / 200);
    options.resamples = 400;
  }

  const LoaderRun& run;
  std::vector<const Batch*> batches;
  std::vector<double> samples, intervals, waits, steps;
  BootstrapOptions options;
};

double Total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double Rate(const std::vector<double>& amount, const std::vector<double>& time) {
  const double total = Total(time);
  return total > 0 ? Total(amount) / total : 0;
}

enum class Kind { kRatio, kDifference };

// The change of `amount` over `time` between both runs.
Change ChangeOf(std::string name, Kind kind, const Series& before, const Series& after,
                const std::vector<double>& amount_before, const std::vector<double>& time_before,
                const std::vector<double>& amount_after, const std::vector<double>& time_after) {
  Change change;
  change.name = std::move(name);
  change.before = Rate(amount_before, time_before);
  change.after = Rate(amount_after, time_after);
  const auto relation = [kind](double a, double b) {
    if (kind == Kind::kDifference) return b - a;
    return a > 0 ? b / a : 0.0;
  };
  const double estimate = relation(change.before, change.after);
  change.ratio = {estimate, estimate, estimate};
  BootstrapOptions options = after.options;
  options.seed = 2;  // independent of the other series
  const std::vector<double> a = ResampleRate(amount_before, time_before, before.options);
  const std::vector<double> b = ResampleRate(amount_after, time_after, options);
  std::vector<double> drawn;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (kind == Kind::kDifference || a[i] > 0) drawn.push_back(relation(a[i], b[i]));
  }
  if (drawn.empty()) return change;
  std::sort(drawn.begin(), drawn.end());
  const double tail = (1 - kConfidence) / 2;
  const double noise = kRepeatNoise * (kind == Kind::kRatio ? estimate : 1);
  const double below = std::max(0.0, estimate - Quantile(drawn, tail));
  const double above = std::max(0.0, Quantile(drawn, 1 - tail) - estimate);
  change.ratio.low = estimate - std::hypot(below, noise);
  change.ratio.high = estimate + std::hypot(above, noise);
  const double none = kind == Kind::kRatio ? 1 : 0;
  change.significant = change.ratio.low > none || change.ratio.high < none;
  return change;
}

struct Stage {
  const char* name;
  double (*cost)(const Batch& batch);
  bool cpu = false;  // `cost` is CPU time, which not every recording has
};
constexpr std::array kComparedStages = {
    Stage{"read", [](const Batch& b) { return b.read.wall; }},
    Stage{"decode", [](const Batch& b) { return b.decode.wall; }},
    Stage{"decode CPU", [](const Batch& b) { return b.decode.cpu; }, true},
    Stage{"augment", [](const Batch& b) { return b.augment.wall; }},
    Stage{"augment CPU", [](const Batch& b) { return b.augment.cpu; }, true},
    Stage{"tokenize", [](const Batch& b) { return b.tokenize.wall; }},
    Stage{"tokenize CPU", [](const Batch& b) { return b.tokenize.cpu; }, true},
    Stage{"collate", [](const Batch& b) { return b.collate.wall; }},
    Stage{"put", [](const Batch& b) { return b.put.wall; }},
    Stage{"get", [](const Batch& b) { return b.get.wall; }},
    Stage{"pin", [](const Batch& b) { return b.pin.wall; }},
    Stage{"h2d", [](const Batch& b) { return b.h2d; }},
};

bool CpuKnown(const Series& series) {
  return std::any_of(series.batches.begin(), series.batches.end(),
                     [](const Batch* batch) { return batch->cpu_known; });
}

std::vector<double> Costs(const Series& series, const Stage& stage) {
  std::vector<double> costs;
  for (const Batch* batch : series.batches) costs.push_back(stage.cost(*batch));
  return costs;
}

template <class Side>
SideFacts FactsOfSide(const Side& of) {
  const Diagnosis& diagnosis = of.diagnosis;
  SideFacts side;
  side.name = of.name;
  side.program = ProgramOf(of.command);
  side.config = diagnosis.run.loader().config;
  if (side.config.batch_size == 0 && diagnosis.run.loader().samples_known) {
    side.config.batch_size = static_cast<int>(diagnosis.run.loader().samples_per_batch);
  }
  side.bottleneck = diagnosis.bottleneck;
  side.batches = diagnosis.loader->steady.batches;
  return side;
}

}  // namespace

double ShownPoints(const Change& wait) {
  const auto shown = [](double share) { return std::strtod(PercentText(share).c_str(), nullptr); };
  return shown(wait.after) - shown(wait.before);
}

Predicted<Comparison> Compare(const Baseline& baseline, const Candidate& candidate) {
  for (const auto& [diagnosis, name] : {std::pair(&baseline.diagnosis, &baseline.name),
                                        std::pair(&candidate.diagnosis, &candidate.name)}) {
    if (diagnosis->loader) continue;
    return Refuse(Say<words::kNeedsLoaderIn>(Give<"trace">(*name)));
  }
  const bool samples_known = baseline.diagnosis.run.loader().samples_known &&
                             candidate.diagnosis.run.loader().samples_known;
  const Series before(baseline.diagnosis, samples_known);
  const Series after(candidate.diagnosis, samples_known);
  Comparison result;
  result.before = FactsOfSide(baseline);
  result.after = FactsOfSide(candidate);
  result.enough =
      baseline.diagnosis.loader->steady.steady && candidate.diagnosis.loader->steady.steady;
  result.unit = RateUnit(samples_known);
  result.throughput = ChangeOf("throughput", Kind::kRatio, before, after, before.samples,
                               before.intervals, after.samples, after.intervals);
  result.wait = ChangeOf("wait", Kind::kDifference, before, after, before.waits, before.intervals,
                         after.waits, after.intervals);
  const bool cpu_known = CpuKnown(before) && CpuKnown(after);
  const auto add = [&](const char* name, const std::vector<double>& costs_before,
                       const std::vector<double>& costs_after) {
    Change change = ChangeOf(name, Kind::kRatio, before, after, costs_before, before.samples,
                             costs_after, after.samples);
    if (change.before > 0 || change.after > 0) result.stages.push_back(std::move(change));
  };
  for (const Stage& stage : kComparedStages) {
    if (stage.cpu && !cpu_known) continue;
    add(stage.name, Costs(before, stage), Costs(after, stage));
  }
  add("wait", before.waits, after.waits);
  add("step", before.steps, after.steps);
  if (!result.enough) {
    result.throughput.significant = result.wait.significant = false;
    for (Change& change : result.stages) change.significant = false;
  }
  return result;
}

}  // namespace penstock::analyzer
