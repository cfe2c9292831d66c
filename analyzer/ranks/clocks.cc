// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/clocks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "analyzer/stats/quantile.h"
#include "analyzer/stats/slope.h"

namespace penstock::analyzer {
namespace {

using traces::ClockShift;

constexpr std::size_t kFewestIterations = 8;
constexpr double kMostDrift = 500e-6;  // a quartz clock drifts by less than a tenth of this
// Assumed error of wall clocks, in seconds; a trace does not tell the real error. Time servers keep
// the clocks of a network's hosts much closer together than this.
constexpr double kWallClockError = 0.05;
constexpr std::int64_t kMostOffset = std::int64_t{1} << 61;  // ns; more is a damaged trace

// The iterations that two hosts share. `at` counts from `zero`; the three differences (first clock
// minus second clock) count from `offset`. Seconds, except `zero` and `offset`.
struct ClockPoints {
  std::int64_t zero = 0;           // ns on the second host's clock
  std::int64_t offset = 0;         // ns
  std::vector<double> at;          // end of the iteration on the second host
  std::vector<double> difference;  // estimate: the ends on both hosts
  std::vector<double> least;       // lower bound, by causality
  std::vector<double> most;        // upper bound, by causality
  double step = 0;                 // median time from end to end on the first host
};

// a - b, limited to the largest number that fits: a damaged trace may hold any value.
std::int64_t Minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<std::int64_t>::min() + 1
               : std::numeric_limits<std::int64_t>::max();
}

double SecondsApart(std::int64_t from, std::int64_t to) {
  return static_cast<double>(Minus(to, from)) * 1e-9;
}

ClockPoints Pair(const HostPassings& ours, const HostPassings& theirs) {
  ClockPoints points;
  std::vector<double> steps;
  std::int64_t before = kNever;
  for (const auto& [iteration, one] : ours) {
    const auto found = theirs.find(iteration);
    if (found == theirs.end()) continue;
    const HostPassing& other = found->second;
    if (points.at.empty()) {
      points.zero = other.ended;
      points.offset = Minus(one.ended, other.ended);
    }
    points.at.push_back(SecondsApart(points.zero, other.ended));
    points.difference.push_back(SecondsApart(points.offset, Minus(one.ended, other.ended)));
    points.least.push_back(SecondsApart(points.offset, Minus(one.delivered, other.ended)));
    points.most.push_back(SecondsApart(points.offset, Minus(one.ended, other.delivered)));
    if (before != kNever) steps.push_back(SecondsApart(before, one.ended));
    before = one.ended;
  }
  points.step = Median(std::move(steps));
  return points;
}

void Detrend(const std::vector<double>& at, double slope, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= slope * at[i];
}

double HalfInterquartileRange(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return 0.5 * (Quantile(values, 0.75) - Quantile(values, 0.25));
}

// The least-squares slope of the points near the line with slope `slope`. Points far from the line
// do not change it. It is more precise than TheilSenSlope(), which uses 200 of the points.
double Refined(const std::vector<double>& at, const std::vector<double>& values, double slope) {
  std::vector<double> straight = values;
  Detrend(at, slope, straight);
  const double middle = Median(straight);
  const double near = 4 * HalfInterquartileRange(straight);
  double n = 0;
  double x = 0;
  double y = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (std::abs(straight[i] - middle) > near) continue;
    n += 1;
    x += at[i];
    y += straight[i];
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (std::abs(straight[i] - middle) > near) continue;
    xx += (at[i] - x / n) * (at[i] - x / n);
    xy += (at[i] - x / n) * (straight[i] - y / n);
  }
  return n > 2 && xx > 0 ? slope + xy / xx : slope;
}

double Deviation(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

ClockShift ShiftOf(std::int64_t zero, std::int64_t offset, double seconds, double drift) {
  const double whole = static_cast<double>(offset) + seconds * 1e9;
  ClockShift shift;
  shift.from.value = zero;
  shift.drift = drift;
  if (std::abs(whole) < static_cast<double>(kMostOffset)) {
    shift.offset.value = offset + std::llround(seconds * 1e9);
  }
  return shift;
}

// All traces of one boot, on the clock of their host. If traces are not joined by boot, one trace.
struct HostClock {
  std::vector<RankTrack> tracks;
  std::optional<TimeNs> realtime_offset;
  TimeNs begin;
  Alignment alignment;  // to the first host
};

// Adds a trace to its host. `zero`: the offset of the trace's clock from the host's clock.
void Add(const ClockView& view, std::int64_t zero, HostClock& host, bool first) {
  for (RankTrack track : view.tracks) {
    for (Passing& passing : track.passings) {
      for (std::int64_t* time : {&passing.delivered, &passing.ended}) {
        if (*time != kNever) *time = Minus(*time, zero);
      }
    }
    host.tracks.push_back(std::move(track));
  }
  const TimeNs begin{view.begin.value - zero};
  host.begin = first ? begin : std::min(host.begin, begin);
  if (!host.realtime_offset && view.realtime_offset) {
    host.realtime_offset = TimeNs{view.realtime_offset->value + zero};
  }
}

// Aligns two hosts as if their traces began at the same time.
Alignment AlignBegins(const HostClock& first, const HostClock& other) {
  Alignment found;
  found.by = AlignBy::kNothing;
  found.shift.offset.value = Minus(first.begin.value, other.begin.value);
  if (std::abs(found.shift.offset.value) >= kMostOffset) found.shift.offset = {};
  return found;
}

// `passings`: the iterations of the first host.
Alignment AlignHost(const HostClock& first, const HostPassings& passings, const HostClock& other,
                    AlignMethod method) {
  // Traces with the same known boot id have been joined already, so these two hosts share no clock.
  if (method == AlignMethod::kSameClock) return AlignBegins(first, other);
  Alignment found;
  const auto steps = EstimateBySteps(passings, PassingsOf(other.tracks));
  std::optional<std::int64_t> wall;
  if (first.realtime_offset && other.realtime_offset) {
    wall = Minus(other.realtime_offset->value, first.realtime_offset->value);
    if (std::abs(*wall) >= kMostOffset) wall.reset();
  }
  const bool by_steps = steps && (steps->together || !wall);
  // An estimate from steps is used in two cases: it is good and wall clocks were not asked for, or
  // it is poor and steps were asked for.
  if (by_steps ? method != AlignMethod::kWallClock : steps && method == AlignMethod::kCollective) {
    found.by = AlignBy::kCollective;
    found.shift = steps->shift;
    found.uncertainty = steps->uncertainty;
    found.bound = steps->bound;
    found.iterations = steps->iterations;
    if (wall) found.wall_difference = SecondsApart(*wall, steps->shift.offset.value);
    return found;
  }
  if (!wall || method == AlignMethod::kCollective) return AlignBegins(first, other);
  found.by = AlignBy::kWallClock;
  found.shift.offset.value = *wall;
  found.uncertainty = kWallClockError;
  return found;
}

}  // namespace

std::string_view AlignName(AlignBy by) {
  switch (by) {
    case AlignBy::kReference:
      return "reference";
    case AlignBy::kSameClock:
      return "same clock";
    case AlignBy::kCollective:
      return "collective";
    case AlignBy::kWallClock:
      return "wall clock";
    case AlignBy::kNothing:
      break;
  }
  return "nothing";
}

Result<AlignMethod> ParseAlignMethod(std::string_view text) {
  if (text == "auto") return AlignMethod::kAuto;
  if (text == "clock") return AlignMethod::kSameClock;
  if (text == "steps") return AlignMethod::kCollective;
  if (text == "wall") return AlignMethod::kWallClock;
  return Fail(ErrorKind::kUsage,
              fmt::format("--align: '{}' is none of auto, clock, steps, wall", text));
}

ClockView ViewClock(const traces::Trace& trace, const RunModel& run) {
  ClockView view;
  view.boot_id = TextFact(trace.facts(), "boot_id");
  const std::string zero = TextFact(trace.facts(), "clock.offset_ns");
  std::int64_t value = 0;
  const auto read = std::from_chars(zero.data(), zero.data() + zero.size(), value);
  // A damaged trace may hold the least number, which std::abs() cannot make positive.
  const bool plausible = value > -kMostOffset / 2 && value < kMostOffset / 2;
  if (read.ec == std::errc() && plausible) view.namespace_zero.value = value;
  if (trace.realtime_offset().value != 0) view.realtime_offset = trace.realtime_offset();
  view.begin = trace.begin();
  view.tracks = TracksOf(trace, run);
  return view;
}

HostPassings PassingsOf(std::span<const RankTrack> tracks) {
  HostPassings passings;
  for (const RankTrack& track : tracks) {
    for (const Passing& passing : track.passings) {
      if (passing.ended == kNever || passing.delivered == kNever) continue;
      const auto [at, first] = passings.try_emplace(passing.iteration);
      HostPassing& host = at->second;
      host.delivered = first ? passing.delivered : std::max(host.delivered, passing.delivered);
      host.ended = first ? passing.ended : std::min(host.ended, passing.ended);
    }
  }
  return passings;
}

std::optional<StepEstimate> EstimateBySteps(const HostPassings& first, const HostPassings& second) {
  ClockPoints points = Pair(first, second);
  const std::size_t n = points.at.size();
  if (n < kFewestIterations) return std::nullopt;
  const double slope =
      Refined(points.at, points.difference, TheilSenSlope(points.at, points.difference));
  std::vector<double> straight = points.difference;
  Detrend(points.at, slope, straight);
  const double residual = HalfInterquartileRange(straight);
  // The standard error of a median slope is 1.25 times that of least squares. The noise is assumed
  // to be normal, so `residual` is 0.67 of its standard deviation.
  const double spread = Deviation(points.at);
  const double error =
      spread > 0 ? 1.25 * residual / 0.67 / (spread * std::sqrt(static_cast<double>(n))) : 1;
  const double length = points.at.back() - points.at.front();
  const bool drifts = std::abs(slope) > 3 * error && std::abs(slope) * length > 2 * residual;
  StepEstimate estimate;
  double drift = 0;
  if (drifts && std::abs(slope) < kMostDrift) {
    drift = slope;
    points.difference = std::move(straight);
    Detrend(points.at, drift, points.least);
    Detrend(points.at, drift, points.most);
  }
  double offset = Median(points.difference);
  estimate.uncertainty = std::max(1e-6, HalfInterquartileRange(points.difference));
  const double least = *std::max_element(points.least.begin(), points.least.end());
  const double most = *std::min_element(points.most.begin(), points.most.end());
  if (least <= most) {
    offset = std::clamp(offset, least, most);
    estimate.bound = std::max(most - offset, offset - least);
  }
  estimate.shift = ShiftOf(points.zero, points.offset, offset, drift);
  estimate.iterations = n;
  estimate.together = !(drifts && std::abs(slope) >= kMostDrift) && points.step > 0 &&
                      estimate.uncertainty < 0.5 * points.step;
  return estimate;
}

std::map<std::string, std::string> Alignment::Facts() const {
  std::map<std::string, std::string> facts;
  const auto number = [&](const char* key, double value) {
    facts[key] = fmt::format("{:.0f}", value);
  };
  facts["align.by"] = AlignName(by);
  facts["align.offset_ns"] = std::to_string(shift.offset.value);
  if (shift.drift != 0) number("align.drift_ppb", shift.drift * 1e9);
  number("align.uncertainty_ns", uncertainty * 1e9);
  if (bound) number("align.bound_ns", *bound * 1e9);
  if (iterations > 0) facts["align.iterations"] = std::to_string(iterations);
  if (wall_difference) number("align.wall_difference_ns", *wall_difference * 1e9);
  return facts;
}

std::vector<Alignment> AlignClocks(std::span<const ClockView> views, AlignMethod method) {
  const bool by_boot = method == AlignMethod::kAuto || method == AlignMethod::kSameClock;
  std::vector<HostClock> hosts;
  std::vector<std::size_t> host_of;
  std::map<std::string, std::size_t> by_id;
  const auto zero_of = [&](const ClockView& view) {
    return by_boot && !view.boot_id.empty() ? view.namespace_zero.value : 0;
  };
  for (const ClockView& view : views) {
    std::size_t host = hosts.size();
    if (by_boot && !view.boot_id.empty()) host = by_id.emplace(view.boot_id, host).first->second;
    const bool first = host == hosts.size();
    if (first) hosts.emplace_back();
    Add(view, zero_of(view), hosts[host], first);
    host_of.push_back(host);
  }
  HostPassings passings;
  if (hosts.size() > 1) passings = PassingsOf(hosts.front().tracks);
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    hosts[i].alignment = AlignHost(hosts.front(), passings, hosts[i], method);
  }
  std::vector<Alignment> alignments;
  for (std::size_t i = 0; i < views.size(); ++i) {
    Alignment one = hosts[host_of[i]].alignment;
    if (i > 0 && host_of[i] == 0) one.by = AlignBy::kSameClock;
    one.shift.offset.value += zero_of(views.front()) - zero_of(views[i]);
    one.shift.from.value += zero_of(views[i]);
    alignments.push_back(std::move(one));
  }
  return alignments;
}

}  // namespace penstock::analyzer
