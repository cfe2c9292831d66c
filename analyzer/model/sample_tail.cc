// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sample_tail.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kFewestSamples = 64;
constexpr std::size_t kFewestSlow = 3;
constexpr double kMostSlow = 0.1;  // of all samples; more are a second kind of samples
constexpr double kNearlyAll = 0.9;
constexpr double kFew = 0.3;
constexpr double kHalf = 0.5;

using Samples = std::vector<const SampleTime*>;

double Mean(const Samples& samples, float SampleTime::*value) {
  double sum = 0;
  for (const SampleTime* sample : samples) sum += sample->*value;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

SamplePart LargestExtra(const Samples& slow, const Samples& others) {
  constexpr std::array kParts = {
      std::pair{SamplePart::kRead, &SampleTime::read},
      std::pair{SamplePart::kDecode, &SampleTime::decode},
      std::pair{SamplePart::kAugment, &SampleTime::augment},
      std::pair{SamplePart::kTokenize, &SampleTime::tokenize},
  };
  auto largest = SamplePart::kAugment;
  double most = 0;
  for (const auto& [part, value] : kParts) {
    const double extra = Mean(slow, value) - Mean(others, value);
    if (extra <= most) continue;
    largest = part;
    most = extra;
  }
  return largest;
}

// A sample that takes longer than this many seconds is slow (SampleTail::kSlow). `seconds`: the
// times of all samples.
double LeastOf(std::vector<double> seconds, double median) {
  const double slow = SampleTail::kSlow * median;
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  double all = 0;
  for (const double time : seconds) all += time > slow ? time - median : 0;
  double excess = 0;
  for (const double time : seconds) {
    if (time <= slow) break;
    excess += time - median;
    if (excess >= SampleTail::kMostExcess * all) return std::max(slow, 0.5 * time);
  }
  return slow;
}

std::vector<std::int64_t> IdsOf(const Samples& samples) {
  std::set<std::int64_t> ids;
  for (const SampleTime* sample : samples) ids.insert(sample->id);
  return {ids.begin(), ids.end()};
}

// The distance between slow samples whose indices lie at equal distances: nearly all samples at
// multiples of the distance are slow. 0: there is no such distance.
std::int64_t DistanceOf(const std::vector<std::int64_t>& slow, const Samples& others) {
  if (slow.size() < 4) return 0;
  std::int64_t distance = 0;
  for (const std::int64_t id : slow) distance = std::gcd(distance, id - slow.front());
  if (distance < 2) return 0;
  std::set<std::int64_t> fast;
  for (const SampleTime* sample : others) {
    if ((sample->id - slow.front()) % distance == 0) fast.insert(sample->id);
  }
  for (const std::int64_t id : slow) fast.erase(id);
  const auto all = static_cast<double>(fast.size() + slow.size());
  return static_cast<double>(slow.size()) >= kNearlyAll * all ? distance : 0;
}

// For samples that were slow in one epoch: the fraction of their other epochs in which they were
// slow too. nullopt: fewer than kFewestSlow other epochs.
std::optional<double> SlowAgain(const Samples& slow, const Samples& others) {
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> seen;  // by id: slow, other times
  for (const SampleTime* sample : slow) ++seen[sample->id].first;
  for (const SampleTime* sample : others) {
    const auto found = seen.find(sample->id);
    if (found != seen.end()) ++found->second.second;
  }
  double again = 0;
  double all = 0;
  for (const auto& [id, times] : seen) {
    const auto [slow_times, other_times] = times;
    again += static_cast<double>(slow_times - 1);
    all += static_cast<double>(slow_times + other_times - 1);
  }
  if (all < static_cast<double>(kFewestSlow)) return std::nullopt;
  return again / all;
}

// The mean bytes of the samples that read something; 0 if fewer than nine tenths of `samples` did.
// Samples that a program keeps in memory read nothing.
double BytesOf(const Samples& samples) {
  double bytes = 0;
  double reading = 0;
  for (const SampleTime* sample : samples) {
    bytes += sample->bytes;
    reading += sample->bytes > 0 ? 1 : 0;
  }
  return reading >= kNearlyAll * static_cast<double>(samples.size()) && reading > 0
             ? bytes / reading
             : 0;
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? std::string_view{} : path.substr(0, slash);
}

using PlaceOf = std::string_view (*)(std::string_view path);

// The file or folder of nearly all slow samples and at most half of the others; "": there is none.
std::string CommonPlace(const traces::Trace& trace, const Samples& slow, const Samples& others) {
  constexpr std::array<PlaceOf, 2> kPlaces = {[](std::string_view path) { return path; }, FolderOf};
  for (const PlaceOf place_of : kPlaces) {
    const auto place = [&](const SampleTime* s) { return place_of(trace.String(s->file)); };
    std::map<std::string_view, std::size_t> counts;
    for (const SampleTime* sample : slow) ++counts[place(sample)];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most->first.empty()) continue;
    const auto from = std::count_if(others.begin(), others.end(),
                                    [&](const auto* s) { return place(s) == most->first; });
    const bool nearly_all =
        static_cast<double>(most->second) >= kNearlyAll * static_cast<double>(slow.size());
    if (nearly_all && static_cast<double>(from) <= kHalf * static_cast<double>(others.size())) {
      return std::string(most->first);
    }
  }
  return {};
}

}  // namespace

SampleTimes::SampleTimes(std::size_t threads)
    : most_of_thread_(std::max<std::size_t>(1000, kMostTimes / std::max<std::size_t>(threads, 1))) {
}

void SampleTimes::Add(const traces::Counted& sample, std::uint32_t consumer) {
  const traces::Span& span = *sample.span;
  constexpr std::int64_t kMostNs = std::int64_t{1} << 50;  // 13 days; beyond: a damaged trace
  if (span.sample < 0 || of_thread_ == most_of_thread_ || times_.size() >= kMostTimes) return;
  if (span.duration.value <= 0 || span.duration.value > kMostNs) return;
  ++of_thread_;
  const auto seconds = [](std::int64_t ns) { return static_cast<float>(ns) * 1e-9F; };
  const traces::Inside& inside = sample.inside;
  const double wall = static_cast<double>(span.duration.value - inside.read);
  const double cpu = static_cast<double>(sample.cpu - inside.read_cpu);
  SampleTime time{.id = span.sample,
                  .start = span.start.value,
                  .time = seconds(span.duration.value),
                  .waiting = sample.cpu >= 0 ? seconds(std::llround(std::max(0.0, wall - cpu))) : 0,
                  .read = seconds(inside.read),
                  .decode = seconds(inside.decode),
                  .augment = seconds(inside.augment),
                  .tokenize = seconds(inside.tokenize),
                  .bytes = static_cast<float>(inside.read_bytes),
                  .file = inside.read_file,
                  .consumer = consumer,
                  .thread = thread_,
                  .batch = span.batch};
  times_.push_back(time);
}

SampleTail FindSampleTail(const traces::Trace& trace, std::vector<SampleTime> times,
                          double for_cores) {
  constexpr double kLarger = 1.5;
  SampleTail found;
  found.for_cores = for_cores;
  for (SampleTime& sample : times) sample.time -= static_cast<float>(for_cores) * sample.waiting;
  found.samples = times.size();
  if (times.size() < kFewestSamples) return found;
  std::vector<double> seconds;
  double all = 0;
  for (const SampleTime& sample : times) {
    seconds.push_back(sample.time);
    all += sample.time;
  }
  found.median = Median(seconds);
  found.least = LeastOf(std::move(seconds), found.median);
  Samples slow;
  Samples others;
  double extra = 0;
  for (const SampleTime& sample : times) {
    const bool is_slow = sample.time > found.least;
    (is_slow ? slow : others).push_back(&sample);
    double& excess = found.excess[SampleTail::KeyOf(sample.batch)];  // 0 if none of them is slow
    if (!is_slow) continue;
    excess += sample.time - found.median;
    extra += sample.time - found.median;
  }
  const bool many =
      static_cast<double>(slow.size()) > kMostSlow * static_cast<double>(times.size());
  if (slow.size() < kFewestSlow || many || !(found.median > 0)) return found;
  found.slow = slow.size();
  found.slow_time = Mean(slow, &SampleTime::time);
  found.extra_share = extra / all;
  found.part = LargestExtra(slow, others);
  found.ids = IdsOf(slow);
  found.every = DistanceOf(found.ids, others);
  if (const auto again = SlowAgain(slow, others)) {
    found.repeats = *again >= kNearlyAll;
    found.changes = *again <= kFew;
  }
  const double bytes = BytesOf(others);
  const double times_as_large = bytes > 0 ? BytesOf(slow) / bytes : 0;
  if (times_as_large >= kLarger && !found.changes) found.bytes_times = times_as_large;
  found.place = CommonPlace(trace, slow, others);
  const SampleTime& longest = **std::max_element(
      slow.begin(), slow.end(), [](const auto* a, const auto* b) { return a->time < b->time; });
  found.longest_start = longest.start;
  const double wall = longest.time + for_cores * static_cast<double>(longest.waiting);
  found.longest_time = std::llround(wall * 1e9);
  return found;
}

}  // namespace penstock::analyzer
