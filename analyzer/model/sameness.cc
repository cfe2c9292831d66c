// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sameness.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

namespace penstock::analyzer {
namespace {

using traces::Event;
using traces::EventType;
using traces::Span;
using traces::StageId;

struct Returned {
  std::uint32_t name = 0;
  std::uint32_t digest = 0;
};

// One sample in one epoch: the digests of the results of its transforms and, as the last one, of
// the finished sample.
struct Sighting {
  std::uint16_t generation = 0;
  std::vector<Returned> results;
};

using Sightings = std::map<std::uint32_t, std::vector<Sighting>>;  // by index

std::set<std::uint16_t> GenerationsOfMain(const LoaderRun& run) {
  std::set<std::uint16_t> generations;
  for (const Epoch& epoch : run.epochs) generations.insert(epoch.generation);
  return generations;
}

// Whether a process is the training process `consumer` or works for it.
bool WorksForMain(const RunModel& run, ProcessId process, ProcessId consumer) {
  return process == consumer ||
         (process.value < run.consumer_of.size() && run.consumer_of[process.value] == consumer);
}

Sightings ReadSightings(const traces::Trace& trace, const RunModel& run,
                        EpochComparison& comparison) {
  const ProcessId consumer = run.loader().config.consumer;
  const std::set<std::uint16_t> generations = GenerationsOfMain(run.loader());
  std::unordered_map<std::uint32_t, std::vector<Returned>> open;  // by thread
  Sightings sightings;
  for (const Event& event : trace.events()) {
    if (event.type != EventType::kDigest) continue;
    if (event.thread.value >= trace.threads().size()) continue;
    if (!WorksForMain(run, trace.threads()[event.thread.value].process, consumer)) continue;
    if (generations.count(event.batch.generation) == 0) continue;
    std::vector<Returned>& results = open[event.thread.value];
    results.push_back({wire::NameOfDigest(event.value), wire::DigestOf(event.value)});
    if (results.back().name != 0) continue;
    ++comparison.digests;
    sightings[event.batch.index].push_back({event.batch.generation, std::move(results)});
    results.clear();
  }
  return sightings;
}

// The result of all comparisons for one position in the chain of transforms.
struct ChainPlace {
  std::uint32_t name = 0;
  bool agree = true;      // no comparison found a difference
  bool one_name = true;   // all samples have the same transform here
  std::size_t pairs = 0;  // comparisons of two digests; all agreed if `agree`
};

struct ChainPlaces {
  std::vector<ChainPlace> chain;
  ChainPlace finished;

  ChainPlace& At(std::size_t i) {
    if (chain.size() <= i) chain.resize(i + 1);
    return chain[i];
  }

  static void Compare(const Returned& a, const Returned& b, ChainPlace& place) {
    if (a.name != b.name) {
      place.agree = false;
    } else if (a.digest != 0 && b.digest != 0) {
      place.agree = place.agree && a.digest == b.digest;
      ++place.pairs;
    }
  }

  void Add(const Sighting& one) {
    for (std::size_t i = 0; i + 1 < one.results.size(); ++i) {
      ChainPlace& place = At(i);
      const std::uint32_t name = one.results[i].name;
      place.one_name = place.one_name && (place.name == 0 || place.name == name);
      place.name = name;
    }
  }

  // A transform that only one of `a` and `b` has counts as different.
  void Add(const Sighting& a, const Sighting& b) {
    const std::size_t most = std::max(a.results.size(), b.results.size()) - 1;
    for (std::size_t i = 0; i < most; ++i) {
      const Returned none;
      Compare(i + 1 < a.results.size() ? a.results[i] : none,
              i + 1 < b.results.size() ? b.results[i] : none, At(i));
    }
    Compare(a.results.back(), b.results.back(), finished);
  }
};

std::string NameOfTransform(const traces::Trace& trace, const RunModel& run, std::uint32_t low) {
  for (const auto& [name, part] : run.stages[StageId::kAugment].children) {
    const std::string_view text = trace.String(name);
    if (static_cast<std::uint32_t>(wire::HashOf(text.data(), text.size())) == low) {
      return std::string(text);
    }
  }
  return "";
}

// Finds the last position whose results are known to be the same, before the first position with a
// difference.
void FindPrefix(const traces::Trace& trace, const RunModel& run, const ChainPlaces& places,
                EpochComparison& comparison) {
  std::vector<std::string> names;
  for (const ChainPlace& place : places.chain) {
    std::string name = NameOfTransform(trace, run, place.name);
    if (!place.agree || !place.one_name || name.empty() || NamesChance(name)) return;
    names.push_back(std::move(name));
    if (place.pairs < kSamePairs) continue;
    comparison.prefix = names;
    comparison.prefix_pairs = place.pairs;
  }
}

Sameness FinishedSamples(const traces::Trace& trace, const RunModel& run,
                         const ChainPlaces& places) {
  if (!places.finished.agree) return Sameness::kDifferent;
  if (places.finished.pairs < kSamePairs) return Sameness::kUnknown;
  const bool chance =
      std::any_of(places.chain.begin(), places.chain.end(), [&](const ChainPlace& place) {
        return NamesChance(NameOfTransform(trace, run, place.name));
      });
  return chance ? Sameness::kDifferent : Sameness::kSame;
}

}  // namespace

bool NamesChance(std::string_view transform) {
  constexpr std::array<std::string_view, 8> kParts = {
      "Rand", "random", "Jitter", "AutoAugment", "TrivialAugment", "Mix", "Noise", "Dropout"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return transform.find(part) != std::string_view::npos;
  });
}

EpochComparison CompareEpochs(const traces::Trace& trace, const RunModel& run) {
  EpochComparison comparison;
  const Sightings sightings = ReadSightings(trace, run, comparison);
  ChainPlaces places;
  std::set<std::uint16_t> epochs;
  for (const auto& [index, all] : sightings) {
    for (const Sighting& one : all) places.Add(one);
    const std::size_t before = comparison.pairs;
    for (const Sighting& later : all) {
      if (later.generation == all.front().generation) continue;
      places.Add(all.front(), later);
      epochs.insert({all.front().generation, later.generation});
      ++comparison.pairs;
    }
    if (comparison.pairs > before) ++comparison.samples;
  }
  comparison.epochs = epochs.size();
  comparison.finished = FinishedSamples(trace, run, places);
  comparison.finished_pairs = places.finished.pairs;
  if (comparison.pairs > 0) FindPrefix(trace, run, places, comparison);
  return comparison;
}

namespace {

// Sums the time of the first transforms of each sample of a thread.
class PrefixClock {
 public:
  PrefixClock(const traces::Trace& trace, std::set<std::uint16_t> generations, std::size_t length)
      : trace_(trace), generations_(std::move(generations)), length_(length) {}

  void Begin() { sample_until_ = transform_until_ = decode_until_ = 0; }

  void Add(const Span& span) {
    if ((span.flags & wire::kFlagUnfinished) != 0) return;  // its length is not known
    if (generations_.count(span.batch.generation) == 0) return;
    const std::int64_t start = span.start.value;
    if (span.stage == StageId::kSample && start >= sample_until_) {
      sample_until_ = span.end().value;
      place_ = 0;
    } else if (span.stage == StageId::kAugment && start < sample_until_ &&
               start >= transform_until_) {
      const std::string_view name = trace_.String(span.name);
      if (name == "Compose" || name == "Sequential") return;
      transform_until_ = span.end().value;
      counts_ = place_++ < length_;
      if (counts_) total_ += span.duration.value;
    } else if (span.stage == StageId::kDecode && counts_ && start < transform_until_ &&
               start >= decode_until_) {
      decode_until_ = span.end().value;
      total_ -= span.duration.value;
    }
  }

  [[nodiscard]] double Seconds() const { return static_cast<double>(total_) * 1e-9; }

 private:
  const traces::Trace& trace_;
  std::set<std::uint16_t> generations_;
  std::size_t length_;
  std::int64_t sample_until_ = 0;
  std::int64_t transform_until_ = 0;
  std::int64_t decode_until_ = 0;
  std::int64_t total_ = 0;
  std::size_t place_ = 0;
  bool counts_ = false;
};

}  // namespace

double PrefixTime(const traces::Trace& trace, const RunModel& run, std::size_t length) {
  std::set<std::uint16_t> generations = GenerationsOfMain(run.loader());
  if (!run.loader().epochs.empty()) generations.erase(run.loader().epochs.front().generation);
  PrefixClock clock(trace, std::move(generations), length);
  const auto threads = trace.threads();
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (!WorksForMain(run, threads[i].process, run.loader().config.consumer)) continue;
    clock.Begin();
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) clock.Add(span);
    });
  }
  return clock.Seconds();
}

Sharding ShardingOf(const traces::Trace& trace, const RunModel& run) {
  const LoaderRun& loader = run.loader();
  if (loader.config.dataset_kind != "iterable") return Sharding::kByIndex;
  Sharding sharding = Sharding::kUnknown;
  const auto processes = trace.processes();
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    if (!WorksForMain(run, ProcessId{i}, loader.config.consumer)) continue;
    for (const Epoch& epoch : loader.epochs) {
      const std::string asked =
          TextFact(processes[i].facts, fmt::format("epoch.{}.shards", epoch.generation));
      if (asked == "true") return Sharding::kShards;
      if (asked == "false") sharding = Sharding::kRepeats;
    }
  }
  return sharding;
}

}  // namespace penstock::analyzer
