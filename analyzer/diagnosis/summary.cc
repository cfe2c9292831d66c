// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analyzer/diagnosis/base.h"
#include "analyzer/diagnosis/outside_experiments.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/format.h"
#include "analyzer/words/needs.h"
#include "analyzer/words/one_loader.h"
#include "analyzer/words/probes.h"
#include "analyzer/words/ranks.h"
#include "analyzer/words/verdict.h"
#include "analyzer/words/verdict_feed.h"

namespace penstock::analyzer {
namespace {

constexpr double kWaits = 0.05;        // waiting worth reporting, as in kineto and xprof
constexpr double kHeldBack = 0.2;      // waiting that holds the run back, as in xprof
constexpr double kWorthSaying = 1.05;  // smallest speedup worth reporting

Statement PartOf(Factor factor, const Diagnosis& diagnosis) {
  return PartOf(factor, diagnosis.run.stages, diagnosis.loader && diagnosis.loader->cpu.helped);
}

// Whether the simulation explains the run too badly for the headline to name a gain.
bool IsUnsure(const LoaderDiagnosis& loader) {
  return loader.fetched >= 0.5 && std::abs(loader.replay.error()) > kUselessReplay;
}

Statement Headline(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  const Attribution& found = loader.attribution;
  const Factor bottleneck = found.bottleneck;
  const auto wait = Give<"wait">(diagnosis.wait_fraction);
  const double base = diagnosis.base_rate();
  const auto rate = Give<"rate">(base);
  const auto unit = Give<"unit">(SteadyUnit(diagnosis, loader));
  if (loader.fetched < 0.5 && bottleneck == Factor::kNone && diagnosis.wait_fraction >= kWaits) {
    return Say<words::kUnseen>(wait, rate, unit, Give<"much">(diagnosis.wait_fraction >= kHeldBack),
                               Give<"unsure">(diagnosis.confidence < kLittleConfidence));
  }
  // The stage was found by its share of the data threads' time, which does not tell the gain.
  if (loader.fetched < 0.5 && bottleneck != Factor::kNone && bottleneck != Factor::kCompute) {
    return Say<words::kBusiest>(Give<"part">(PartOf(bottleneck, diagnosis)), wait, rate, unit);
  }
  if (IsUnsure(loader) && IsPart(bottleneck)) {
    return Say<words::kHoldsBackUnsure>(Give<"part">(PartOf(bottleneck, diagnosis)),
                                        Give<"error">(loader.replay.error()), wait, rate, unit);
  }
  const double speedup = GainOf(diagnosis, bottleneck);
  const auto gain = Give<"gain">(speedup);
  const auto free = GiveIf<"free">(speedup <= kMostTimes, base * speedup);
  const auto headroom = Give<"headroom">(diagnosis.headroom());
  const auto least = Give<"least">(diagnosis.ceiling_is_least());
  const auto few = GiveIf<"few">(!loader.steady.steady, loader.steady.batches);
  switch (bottleneck) {
    case Factor::kNone:
      return Say<words::kNothing>(wait, rate, unit);
    case Factor::kCompute:
      if (const Suggestion& better = loader.suggestion; loader.pipeline.workers == 0 &&
                                                        better.workers > 0 &&
                                                        better.predicted.speedup >= kWorthSaying) {
        const double times = OnBase(diagnosis, better.predicted).speedup;
        return Say<words::kInTurn>(wait, rate, unit, Give<"workers">(better.workers),
                                   Give<"gain">(times),
                                   GiveIf<"free">(times <= kMostTimes, base * times));
      }
      if (!diagnosis.needs.empty()) {  // nothing can be predicted
        return Say<words::kStepNotData>(wait, rate, unit, few, least,
                                        Give<"headroom">(std::optional<double>{}));
      }
      if (diagnosis.headroom() >= speedup) {  // free data would gain at least as much
        return Say<words::kStepBeforeAnyPart>(wait, rate, unit, gain, free, headroom, least);
      }
      return Say<words::kStepNotData>(wait, rate, unit, few, headroom, least);
    case Factor::kStartup:
      return Say<words::kStartingUp>(
          Give<"startup">(loader.signals.startup), gain, Give<"rate">(diagnosis.whole_rate),
          GiveIf<"free">(speedup <= kMostTimes, diagnosis.whole_rate * speedup),
          Give<"unit">(RateUnit(diagnosis)));
    case Factor::kPrefetch:
      return Say<words::kJitter>(wait, rate, unit, gain, free);
    default: {
      const Factor other = AsGood(diagnosis.gains, diagnosis.headroom(), bottleneck);
      const bool own = other == Factor::kAugment && !PartOf(other, diagnosis).Is(words::kAugment);
      const std::string name(FactorName(other));
      return Say<words::kHoldsBack>(Give<"part">(PartOf(bottleneck, diagnosis)), wait, rate, unit,
                                    gain, free, Give<"own">(own),
                                    GiveIf<"also">(other != Factor::kNone, name));
    }
  }
}

// docs/diagnosis.md 5.2
bool IsRough(const LoaderDiagnosis& loader) {
  return loader.fetched >= 0.5 && std::abs(loader.replay.error()) > 0.05;
}

std::optional<Statement> Doubt(const LoaderDiagnosis& loader) {
  if (loader.fetched < 0.5) return Say<words::kOutOfSight>(Give<"none">(loader.fetched == 0));
  const bool told = IsUnsure(loader) && IsPart(loader.attribution.bottleneck);
  if (told || !IsRough(loader)) return std::nullopt;
  return Say<words::kRough>(Give<"error">(loader.replay.error()));
}

// Says that the figures are of a rank that waits clearly longer than most do.
std::optional<Statement> OfRank(const Diagnosis& diagnosis) {
  constexpr double kClearly = 0.02;  // of the loop, as in main_rank.cc
  const RankSummary& ranks = diagnosis.ranks;
  const RankPlace* ours = diagnosis.run.ranks.Find(diagnosis.run.loader().config.consumer);
  const RankRow* row = ours != nullptr ? ranks.Find(ours->rank) : nullptr;
  if (diagnosis.whole_run || !ranks.several() || row == nullptr) return std::nullopt;
  std::vector<double> waits;
  double most = 0;
  for (const RankRow& each : ranks.rows) {
    most = std::max(most, each.wait_fraction);
    // With two ranks, the statement names the other one.
    if (ranks.rows.size() > 2 || &each != row) waits.push_back(each.wait_fraction);
  }
  const bool two = ranks.rows.size() == 2;
  const double usual = Median(std::move(waits));
  if (row->wait_fraction < most - kClearly || row->wait_fraction <= usual + kClearly) {
    return std::nullopt;
  }
  return Say<words::kVerdictOfRank>(Give<"rank">(row->rank), Give<"most">(ranks.WaitsMost(*row)),
                                    Give<"two">(two), Give<"median">(usual));
}

// Says that a single wait makes up much of the steady time, so that the figures depend on one
// event.
std::optional<Statement> OneWait(const LoaderDiagnosis& loader) {
  constexpr double kMuch = 0.25;
  const SteadyState& steady = loader.steady;
  if (steady.waits.empty() || !(steady.time > 0)) return std::nullopt;
  const double longest = *std::max_element(steady.waits.begin(), steady.waits.end());
  if (longest < kMuch * steady.time) return std::nullopt;
  return Say<words::kOneWait>(Give<"longest">(longest), Give<"share">(longest / steady.time));
}

// Says which part of the program the verdict is about, if it is not nearly all of it.
std::optional<Statement> OfOneLoader(const RunModel& run) {
  const double share = PartOfLoop(run);
  if (share >= kNearlyAllOfLoop) return std::nullopt;
  const std::string& name = run.loader().name;
  return Say<words::kOfOneLoader>(GiveIf<"loader">(!name.empty(), name), Give<"share">(share));
}

Statement Hint(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  std::optional<Statement> part;
  std::optional<std::string> factor;
  std::optional<double> wait;
  if (loader.steady.batches > 0) {
    wait = diagnosis.wait_fraction;
    if (diagnosis.bottleneck != Factor::kNone) {
      part = PartOf(diagnosis.bottleneck, diagnosis);
      factor = FactorName(diagnosis.bottleneck);
    }
  }
  return Say<words::kHint>(Give<"needs">(diagnosis.needs), Give<"part">(part),
                           Give<"factor">(factor), Give<"wait">(wait));
}

Statement HandedOn(const Diagnosis& diagnosis) {
  std::optional<Statement> part;
  if (IsPart(diagnosis.bottleneck)) part = PartOf(diagnosis.bottleneck, diagnosis);
  return Say<words::kHandedOn>(Give<"wait">(diagnosis.wait_fraction),
                               Give<"rate">(diagnosis.samples_rate),
                               Give<"unit">(RateUnit(diagnosis)), Give<"part">(part));
}

Statement DescribeDevice(const DeviceUse& use) {
  return Say<words::kDeviceUse>(Give<"device">(use.device), Give<"kernels">(use.kernels),
                                Give<"copies">(use.copies), Give<"launches">(use.launches),
                                Give<"idle">(use.idle));
}

Statement DescribeDevices(const DevicesUse& use) {
  const DeviceLimit limit = use.mean.limit();
  const auto share = Give<"share">(use.mean.Of(limit));
  const auto gain = Give<"gain">(use.GainWithout(limit));
  // A node usually has eight devices at most. Further devices are not listed.
  constexpr std::size_t kMostDevices = 8;
  Statements each;
  for (std::size_t i = 0; i < std::min(kMostDevices, use.devices.size()); ++i) {
    each.push_back(DescribeDevice(use.devices[i]));
  }
  const auto devices = Give<"devices">(std::move(each));
  switch (limit) {
    case DeviceLimit::kCopies:
      return Say<words::kBoundByCopies>(share, gain, Give<"kernels">(use.mean.kernels), devices);
    case DeviceLimit::kKernels:
      return Say<words::kBoundByKernels>(share, gain, devices);
    case DeviceLimit::kLaunches:
      return Say<words::kBoundByLaunches>(share, gain, devices);
    case DeviceLimit::kIdle:
      break;
  }
  return Say<words::kDevicesIdle>(share, gain, devices);
}

Statement DescribeTaking(const Feed& feed) {
  const auto makers = Give<"makers">(feed.makers);
  const auto wait = Give<"wait">(feed.wait);
  const auto own = Give<"own">(feed.own);
  if (feed.makers == 0) return Say<words::kTakesOwn>(own);
  if (feed.own >= kWaits) return Say<words::kTakesAndMakes>(wait, own, makers);
  return Say<words::kTakesFrom>(wait, makers, Give<"held">(1 - feed.active));
}

// The verdict for a run without a loader: how the loop and the threads that make its data interact.
Statement FeedHeadline(const Diagnosis& diagnosis) {
  const Feed& feed = diagnosis.feed;
  double speedup = 1;
  for (const Gain& gain : feed.gains) {
    if (gain.factor == feed.bottleneck) speedup = gain.speedup;
  }
  const auto gain = Give<"gain">(speedup);
  const auto rate = Give<"rate">(feed.rate);
  const auto free = GiveIf<"free">(speedup <= kMostTimes, feed.rate * speedup);
  const auto unit = Give<"unit">(RateUnit(diagnosis));
  const auto taking = Give<"taking">(DescribeTaking(feed));
  switch (feed.bottleneck) {
    case Factor::kNone:
      return Say<words::kFedNothing>(rate, unit, taking);
    case Factor::kCompute:
      if (feed.makers == 0) {
        return Say<words::kFedInTurn>(
            gain, rate, free, unit, Give<"headroom">(feed.headroom),
            GiveIf<"dataless">(feed.headroom <= kMostTimes, feed.rate * feed.headroom), taking);
      }
      return Say<words::kFedStep>(gain, rate, free, unit, Give<"headroom">(feed.headroom), taking);
    case Factor::kPrefetch:
      return Say<words::kFedTurns>(gain, rate, free, unit, taking);
    default:
      break;
  }
  const bool own_code = feed.bottleneck == Factor::kAugment && feed.own_code;
  const Statement part =
      own_code ? Say<words::kOwnCodeOfMakers>() : PartOf(feed.bottleneck, diagnosis);
  return Say<words::kFedBack>(Give<"part">(part), gain, rate, free, unit, taking);
}

Statement DoubtOf(const Feed& feed) {
  switch (feed.doubt) {
    case FeedDoubt::kFew:
      return Say<words::kFedFew>(Give<"made">(feed.made));
    case FeedDoubt::kNoLoop:
      return Say<words::kFedNoLoop>();
    case FeedDoubt::kTie:
      return Say<words::kFedTie>();
    case FeedDoubt::kNone:
    case FeedDoubt::kNoBlock:
      break;
  }
  return Say<words::kFedNoLoader>();
}

Statement WithoutLoader(const Diagnosis& diagnosis) {
  if (diagnosis.run.threads == 0) return Say<words::kNoSpans>();
  if (!diagnosis.devices.devices.empty()) return DescribeDevices(diagnosis.devices);
  if (diagnosis.gains.empty()) return Say<words::kNoDecoding>();
  if (diagnosis.feed.doubt == FeedDoubt::kNone) {
    return Say<words::kVerdict>(
        Give<"headline">(FeedHeadline(diagnosis)), Give<"part">(std::optional<Statement>()),
        Give<"rank">(std::optional<Statement>{}), Give<"doubt">(std::optional<Statement>{}),
        Give<"once">(std::optional<Statement>{}));
  }
  if (diagnosis.bottleneck == Factor::kNone) return Say<words::kUnderFivePercent>();
  std::optional<double> rate;
  std::optional<Statement> unit;
  if (diagnosis.samples_rate > 0 && diagnosis.feed.doubt != FeedDoubt::kFew) {
    rate = diagnosis.samples_rate;
    unit = RateUnit(diagnosis);
  }
  const double share = 1 - 1 / diagnosis.gains.front().speedup;
  return Say<words::kBusiestOfThreads>(Give<"part">(PartOf(diagnosis.bottleneck, diagnosis)),
                                       Give<"share">(share), Give<"little">(share < 0.5),
                                       Give<"rate">(rate), Give<"unit">(unit),
                                       Give<"why">(DoubtOf(diagnosis.feed)));
}

// Whether augmentation mostly waits for something other than a core. The ratio of wall time to CPU
// time of decoding shows how much waiting for cores adds to computing. So augmentation computes for
// its CPU time times this ratio. It waits if this leaves at least 75 % of its wall time. False if
// fewer than 90 % of its spans have a CPU time.
bool IsWaiting(const StageTable& stages) {
  constexpr double kMostly = 0.75;
  const StageTotals& augment = stages[traces::StageId::kAugment];
  const StageTotals& decode = stages[traces::StageId::kDecode];
  if (augment.timed * 10 < augment.count * 9) return false;
  const bool decode_known = decode.cpu_known() && decode.cpu.value > 0;
  const double busy = decode_known ? Seconds(decode.wall) / Seconds(decode.cpu) : 1;
  const double wall = Seconds(augment.wall);
  return wall - std::max(1.0, busy) * Seconds(augment.cpu) >= kMostly * wall;
}

Statement OwnPart(const StageTable& stages, bool helped) {
  if (IsAugmentNamed(stages)) return Say<words::kAugment>();
  if (!IsWaiting(stages)) return Say<words::kOwnCode>();
  return helped ? Say<words::kOwnHelpers>() : Say<words::kOwnWaiting>();
}

}  // namespace

bool IsAugmentNamed(const StageTable& stages) {
  const StageTotals& augment = stages[traces::StageId::kAugment];
  double named = 0;
  for (const auto& [name, part] : augment.children) named += Seconds(part.wall);
  return named >= 0.5 * Seconds(augment.wall);
}

Statement PartOf(Factor factor, const StageTable& stages, bool helped) {
  switch (factor) {
    case Factor::kRead:
      return Say<words::kRead>();
    case Factor::kDecode:
      return Say<words::kDecode>();
    case Factor::kAugment:
      return OwnPart(stages, helped);
    case Factor::kTokenize:
      return Say<words::kTokenize>();
    case Factor::kCollate:
      return Say<words::kCollate>();
    case Factor::kTransfer:
      return Say<words::kTransfer>();
    case Factor::kH2d:
      return Say<words::kH2d>();
    case Factor::kCompute:
      return Say<words::kCompute>();
    case Factor::kStartup:
      return Say<words::kStartup>();
    case Factor::kPrefetch:
      return Say<words::kPrefetch>();
    case Factor::kNone:
      break;
  }
  return Say<words::kNoPart>();
}

Statement RateUnit(const Diagnosis& diagnosis) {
  if (diagnosis.run.has_loader()) return RateUnit(diagnosis.run.loader().samples_known);
  return diagnosis.samples_known ? Say<words::kSamplesPerSecond>() : Say<words::kImagesPerSecond>();
}

Statement SteadyUnit(const Diagnosis& diagnosis, const LoaderDiagnosis& loader) {
  auto when = OutsideExperiments(diagnosis.run.loader(), loader.steady);
  if (!when) return RateUnit(diagnosis);
  return Say<words::kRateOutside>(Give<"unit">(RateUnit(diagnosis)),
                                  Give<"when">(*std::move(when)));
}

Statement RateUnit(bool samples_known) {
  return samples_known ? Say<words::kSamplesPerSecond>() : Say<words::kBatchesPerSecond>();
}

bool TellsReplayError(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return false;
  return diagnosis.needs.empty() ? IsRough(*diagnosis.loader)
                                 : diagnosis.needs.Is(words::kNeedsExplained);
}

Statement Summarise(const Diagnosis& diagnosis) {
  if (!diagnosis.loader) return WithoutLoader(diagnosis);
  const LoaderDiagnosis& loader = *diagnosis.loader;
  const bool handed_on = diagnosis.run.loader().handed_on && loader.steady.batches > 0;
  if (handed_on) return HandedOn(diagnosis);
  // Most batches were not seen being made, but the loop's rate and waiting were measured.
  const bool measured = loader.fetched < 0.5 && loader.steady.batches > 0 &&
                        IsSimulated(loader, diagnosis.run.loader());
  if (!diagnosis.needs.empty() && !measured) return Hint(diagnosis, loader);
  return Say<words::kVerdict>(
      Give<"headline">(Headline(diagnosis, loader)), Give<"part">(OfOneLoader(diagnosis.run)),
      Give<"rank">(OfRank(diagnosis)), Give<"doubt">(Doubt(loader)), Give<"once">(OneWait(loader)));
}

}  // namespace penstock::analyzer
