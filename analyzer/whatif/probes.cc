// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/probes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "analyzer/model/host.h"
#include "analyzer/predict/scenario.h"
#include "analyzer/stats/paired.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/probes.h"

namespace penstock::analyzer {
namespace {

// The factor that windows of each wire::ProbeFactor spare. Plain windows and the windows of the
// check spare none.
constexpr std::array<Factor, wire::kProbeFactors> kProbedFactors = {
    Factor::kNone,    Factor::kNone,    Factor::kRead,   Factor::kDecode,
    Factor::kAugment, Factor::kCollate, Factor::kCompute};

// Seconds. A longer step is not slowed down (agent/core/probe.cc).
constexpr double kLongestStep = 2;
constexpr double kOutside = 0.1;  // probability that the gain lies outside of its interval
// If the gain of the check lies outside of these bounds, the other gains do not hold. A gain below
// 1 means that work is slower after a delay (its data left the caches); the gains are corrected for
// this. A gain above 1 means that some work, such as a device's, is slowed down too little. It may
// be the next limit, and nothing corrects for that. Ours.
constexpr double kLowestCheck = 0.9;
constexpr double kHighestCheck = 1.05;
// If the upper end of an interval is more than this many times the lower end, the gain is not
// known. Ours.
constexpr double kWidest = 1.3;
// The largest share of the work that may run where the experiments cannot spare it. Ours.
constexpr double kMostBeside = 0.1;
// A factor with a smaller share of the loop's time counts as not seen. Ours.
constexpr double kLeastSeen = 1e-3;

// The batches of the loader in the order in which they were delivered.
std::vector<const Batch*> DeliveredBatches(const LoaderRun& run) {
  std::vector<const Batch*> batches;
  for (const Batch& batch : run.batches) {
    if (batch.was_delivered()) batches.push_back(&batch);
  }
  std::sort(batches.begin(), batches.end(),
            [](const Batch* a, const Batch* b) { return a->delivered < b->delivered; });
  return batches;
}

bool BegunAfter(const Batch& batch, std::int64_t time) {
  return batch.was_fetched() && batch.fetch_start >= time;
}

// Seconds between two batches: between their deliveries or between the ends of their fetches,
// whichever is longer. An emptying queue hides that batches are made more slowly, and a filling
// queue hides that they are taken more slowly. In the end the loop runs at the slower rate.
double TimeBetween(const Batch& from, const Batch& to) {
  return static_cast<double>(
             std::max(to.delivered - from.delivered, to.fetch_end - from.fetch_end)) *
         1e-9;
}

// A window with fewer batches than this has no rate.
constexpr std::size_t kFewestBatches = 4;

// Samples per second in a window; nullopt: it has too few batches.
std::optional<double> RateIn(const ProbeWindow& window, const LoaderRun& run,
                             const std::vector<const Batch*>& all) {
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](const Batch* batch) { return batch->delivered < window.from; });
  const auto last = std::partition_point(
      first, all.end(), [&](const Batch* batch) { return batch->delivered < window.to; });
  const auto workers = static_cast<std::size_t>(std::max(1, run.config.num_workers));
  std::size_t count = 0;
  double samples = 0;
  double time = 0;
  std::int64_t from = window.from;
  for (auto begin = first; begin != last;) {
    // [begin, end) is a part of the window within one epoch and without long steps.
    auto end = begin + 1;
    while (end != last && (*end)->key.generation == (*begin)->key.generation &&
           (*(end - 1))->step() <= kLongestStep) {
      ++end;
    }
    const Batch& behind = **(end - 1);
    // Batches that were begun before the part do not count, because they waited in queues.
    const auto old =
        std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(begin),
                     [&](const Batch* batch) { return !BegunAfter(*batch, from); });
    begin = old.base();
    // Workers deliver in turn, and sometimes together, so a rate needs whole turns of all workers.
    const std::size_t whole =
        begin == end ? 0 : static_cast<std::size_t>(end - begin - 1) / workers * workers;
    if (whole > 0) {
      for (std::size_t i = 1; i <= whole; ++i)
        samples += SamplesOf(run, **(begin + static_cast<std::ptrdiff_t>(i)));
      time += TimeBetween(**begin, **(begin + static_cast<std::ptrdiff_t>(whole)));
      count += whole;
    }
    if (behind.step_end != kNever) from = std::max(from, behind.step_end);
    begin = end;
  }
  if (count < kFewestBatches || !(time > 0) || !(samples > 0)) return std::nullopt;
  return samples / time;
}

// By factor: for each of its windows, the log of the speed relative to the plain windows beside it.
std::array<std::vector<double>, wire::kProbeFactors> LogGains(const LoaderRun& run) {
  const std::vector<const Batch*> all = DeliveredBatches(run);
  std::vector<std::optional<double>> rates;
  for (const ProbeWindow& window : run.probes) rates.push_back(RateIn(window, run, all));
  std::array<std::vector<double>, wire::kProbeFactors> gains;
  for (std::size_t i = 0; i < run.probes.size(); ++i) {
    const ProbeWindow& window = run.probes[i];
    if (window.factor == wire::kProbePlain || !rates[i] || !(window.slowed > 1)) continue;
    double sum = 0;
    double count = 0;
    for (const std::size_t beside : {i - 1, i + 1}) {
      if (beside >= rates.size() || run.probes[beside].factor != wire::kProbePlain) continue;
      if (!rates[beside]) continue;
      sum += std::log(*rates[beside]);
      ++count;
    }
    if (count > 0)
      gains[window.factor].push_back(std::log(window.slowed * *rates[i]) - sum / count);
  }
  return gains;
}

// The mean of logs and its error.
struct MeanLog {
  double mean = 0;
  double squared_error = 0;  // the square of the standard error
  std::size_t freedom = 0;   // degrees of freedom

  explicit MeanLog(const std::vector<double>& logs) : freedom(logs.size() - 1) {
    const auto count = static_cast<double>(logs.size());
    for (const double log : logs) mean += log / count;
    for (const double log : logs) squared_error += (log - mean) * (log - mean);
    squared_error /= (count - 1) * count;
  }
};

// Sets the gain from the logs, or why it is not known. `check`: the logs of the windows that spare
// nothing. All windows slow the run down by a little more than intended, so a gain is relative to
// the check. `check` is empty if `factor` is the check itself.
void TakeLogs(const std::vector<double>& logs, const std::vector<double>& check,
              ProbedFactor& factor) {
  factor.windows = logs.size();
  if (logs.size() < kFewestProbes) {
    factor.unknown =
        Say<words::kProbeFewWindows>(Give<"windows">(logs.size()), Give<"fewest">(kFewestProbes));
    return;
  }
  MeanLog log(logs);
  if (check.size() >= kFewestProbes) {
    const MeanLog common(check);
    log.mean -= common.mean;
    log.squared_error += common.squared_error;
    log.freedom += common.freedom;
  }
  const double half = StudentBound(kOutside, log.freedom) * std::sqrt(log.squared_error);
  factor.gain = {std::exp(log.mean), std::exp(log.mean - half), std::exp(log.mean + half)};
  if (2 * half > std::log(kWidest)) {
    factor.unknown =
        Say<words::kProbeNoise>(Give<"low">(factor.gain.low), Give<"high">(factor.gain.high));
  }
}

// Seconds that a factor takes in the loop's batches.
double TimeOf(const LoaderRun& run, Factor factor) {
  double time = 0;
  for (const Batch& batch : run.batches) {
    switch (factor) {
      case Factor::kRead:
        time += batch.read.wall;
        break;
      case Factor::kDecode:
        time += batch.decode.wall;
        break;
      case Factor::kAugment:
        time += batch.augment.wall;
        break;
      case Factor::kCollate:
        time += batch.collate.wall;
        break;
      default:
        time += std::max(0.0, batch.step());
    }
  }
  return time;
}

// Whether the program's own threads do much of the samples' work. Experiments spare or delay only
// the work of the makers, so they do not show the whole cost of a stage then.
bool ThreadsHelp(const LoaderRun& run) {
  double makers = 0;
  for (const Batch& batch : run.batches) makers += batch.fetch.wall;
  return run.threads_stages.sum() > kMostBeside * makers;
}

// Why the measured gain of a faster loader does not hold: a device computes beside the loop, was
// not slowed down, and may be the next limit. Empty: the gain holds.
Statement LimitedByDevice(const DeviceActivity& device, const Interval& gain) {
  const bool known = device.kernels && device.window > 0;
  if (!known && device.copies.empty()) return {};
  const double busy = known ? device.Share(device.computing) : 0;
  const double most = known ? 1 / std::max(busy, 1e-9) : kHighestCheck;
  if (gain.high <= most) return {};
  return Say<words::kProbeDevice>(GiveIf<"busy">(known, busy), Give<"low">(gain.low),
                                  Give<"high">(gain.high));
}

// What the replay predicts for the same change.
std::optional<Interval> PredictedGain(const LoaderDiagnosis& loader, Factor factor, double speed) {
  if (!loader.suggestion.missing.empty()) return std::nullopt;
  Setting setting;
  setting.workers = loader.pipeline.workers;
  setting.prefetch = loader.pipeline.prefetch;
  const Pipeline now = Apply(loader.pipeline, setting, loader.facts);
  setting.scale = {{factor, 1 / speed}};
  const Pipeline changed = Apply(loader.pipeline, setting, loader.facts);
  const auto before = PredictSteady(SteadyPart(now), loader.replay);
  const auto after = PredictSteady(SteadyPart(changed), loader.replay);
  if (!before || !after || !(before->estimate > 0)) return std::nullopt;
  return Interval{after->estimate / before->estimate, after->low / before->estimate,
                  after->high / before->estimate};
}

// `reason`: the value of the fact probe.off, which penstock_hooks/probe.py sets.
Statement EndedFor(const std::string& reason) {
  return Say<words::kProbesEnded>(Give<"timeout">(reason == "timeout"),
                                  Give<"ahead">(reason == "look-ahead"),
                                  Give<"long">(reason == "long-delays"), Give<"why">(reason));
}

// Why a process ended the experiments of its run; "": none did.
std::string EndedBecause(const traces::Trace& trace) {
  for (const traces::ProcessInfo& process : trace.processes()) {
    std::string reason = TextFact(process.facts, "probe.off");
    if (!reason.empty()) return reason;
  }
  return "";
}

// Whether the loader computes on cores that other programs use. Then a delay has not the same
// effect as work: a thread that has slept gets a core sooner than one that has computed.
bool OnCrowdedCores(const LoaderDiagnosis& loader) {
  constexpr double kComputes = 4;  // wall over CPU time, below which a fetch is mostly computing
  const double ratio = loader.signals.wall_per_cpu;
  return loader.cpu.crowded && ratio > 0 && ratio < kComputes;
}

// Why the experiments show no gain, as far as it is known before any window is examined; empty:
// they may show gains.
Statement WhyNone(const Diagnosis& diagnosis, const std::string& ended) {
  if (!ended.empty()) return EndedFor(ended);  // experiments ended in the middle of a window
  if (!diagnosis.loader || diagnosis.run.loader().probes.empty()) {
    return Say<words::kNoProbeBegan>();
  }
  const RankLayout& ranks = diagnosis.run.ranks;
  if (ranks.hosts.size() > 1 || ranks.world_size > static_cast<int>(ranks.places.size())) {
    return Say<words::kProbeOtherRanks>();
  }
  if (OnCrowdedCores(*diagnosis.loader)) return Say<words::kProbesCrowded>();
  return {};
}

// Seconds that a window needs to have enough batches: the queued batches are taken first, then one
// is made, and whole turns of the workers follow. All this takes `slower` times as long as usual.
double NeededWindow(const LoaderRun& run, double slower) {
  const std::vector<const Batch*> all = DeliveredBatches(run);
  double between = 0;
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i]->key.generation != all[i - 1]->key.generation) continue;
    if (all[i - 1]->step() > kLongestStep) continue;
    between += TimeBetween(*all[i - 1], *all[i]);
    ++pairs;
  }
  std::vector<double> fetches;
  for (const Batch* batch : all) {
    if (batch->was_fetched()) fetches.push_back(batch->fetch.wall);
  }
  if (pairs == 0 || fetches.empty()) return 0;
  const auto workers = static_cast<std::size_t>(std::max(1, run.config.num_workers));
  const auto queued = static_cast<std::size_t>(std::max(0, run.config.credits()));
  const std::size_t turns = (kFewestBatches + workers - 1) / workers * workers;
  return slower * (Median(fetches) +
                   static_cast<double>(queued + turns) * between / static_cast<double>(pairs));
}

// Seconds: the longest window that --probe-window takes.
constexpr double kLongestWindow = 600;

// The next of 1, 2, 3, 5 times a power of ten above `seconds`, as --probe-window takes it.
// Requires: at most kLongestWindow.
std::string LengthOfWindow(double seconds) {
  double length = std::pow(10, std::floor(std::log10(seconds)));
  const double power = length;
  for (const double times : {2, 3, 5, 10}) {
    if (length < seconds) length = times * power;
  }
  length = std::clamp(length, 0.1, kLongestWindow);
  return length < 1 ? fmt::format("{:.0f}ms", 1000 * length) : fmt::format("{:.0f}s", length);
}

// Why no gain can be trusted; empty: the check holds. `window`: seconds that a window lasts.
Statement WhyUnchecked(const ProbedFactor& check, const LoaderRun& run, double window,
                       double slower) {
  if (check.windows < kFewestProbes) {
    const double needed = NeededWindow(run, slower);
    if (needed > kLongestWindow) return Say<words::kLongBatches>();
    if (window < needed) {
      return Say<words::kShortProbes>(Give<"window">(window),
                                      Give<"length">(LengthOfWindow(needed)));
    }
    const auto all = static_cast<std::size_t>(
        std::count_if(run.probes.begin(), run.probes.end(),
                      [](const ProbeWindow& each) { return each.factor == wire::kProbeNothing; }));
    return Say<words::kTooFewProbes>(Give<"windows">(check.windows), GiveIf<"all">(all > 0, all),
                                     Give<"fewest">(kFewestProbes));
  }
  const Interval& gain = check.gain;
  if (!check.known()) {
    return Say<words::kNoisyProbes>(Give<"low">(gain.low), Give<"high">(gain.high));
  }
  if (gain.estimate >= kLowestCheck && gain.estimate <= kHighestCheck) return {};
  return Say<words::kProbesUnsound>(Give<"gain">(gain.estimate), Give<"low">(gain.low),
                                    Give<"high">(gain.high));
}

ProbedFactor MeasureFactor(const LoaderDiagnosis& loader, const LoaderRun& run, Factor which,
                           const std::vector<double>& logs, const std::vector<double>& check,
                           double speed) {
  ProbedFactor factor;
  factor.name = FactorName(which);
  factor.speed = speed;
  const double whole = TimeOf(run, Factor::kCompute) + run.waited;
  factor.seen = TimeOf(run, which) > kLeastSeen * whole;
  TakeLogs(logs, check, factor);
  if (!factor.known()) return factor;
  factor.predicted = PredictedGain(loader, which, speed);
  if (which == Factor::kCompute) return factor;
  if (which != Factor::kCollate && ThreadsHelp(run)) {
    factor.unknown = Say<words::kProbeThreads>();
  } else {
    factor.unknown = LimitedByDevice(loader.device, factor.gain);
  }
  return factor;
}

}  // namespace

bool Probes::disagree() const {
  return std::any_of(factors.begin(), factors.end(),
                     [](const ProbedFactor& factor) { return factor.disagrees; });
}

Probes MeasureProbes(const traces::Trace& trace, const Diagnosis& diagnosis) {
  Probes probes;
  const std::string ended = EndedBecause(trace);
  probes.any = !ended.empty() || !TextFact(trace.facts(), "record.probe_ns").empty();
  probes.check.name = "nothing";
  if (!probes.any) return probes;
  probes.missing = WhyNone(diagnosis, ended);
  if (!probes.missing.empty()) {
    probes.check.unknown = probes.missing;
    return probes;
  }
  const LoaderRun& run = diagnosis.run.loader();
  double speed = 1;
  for (const ProbeWindow& window : run.probes) speed = std::max(speed, window.slowed);
  const auto gains = LogGains(run);
  const std::vector<double>& check = gains[wire::kProbeNothing];
  TakeLogs(check, {}, probes.check);
  probes.missing = WhyUnchecked(
      probes.check, run, NumberFact(trace.facts(), "record.probe_ns").value_or(0) * 1e-9, speed);
  probes.sound = probes.missing.empty();
  for (std::size_t i = wire::kProbeRead; i < gains.size(); ++i) {
    ProbedFactor factor =
        MeasureFactor(*diagnosis.loader, run, kProbedFactors[i], gains[i], check, speed);
    if (!probes.sound && factor.known()) factor.unknown = Say<words::kProbeUnchecked>();
    factor.disagrees =
        factor.known() && factor.predicted &&
        (factor.predicted->low > factor.gain.high || factor.predicted->high < factor.gain.low);
    probes.factors.push_back(std::move(factor));
  }
  return probes;
}

}  // namespace penstock::analyzer
