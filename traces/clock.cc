// SPDX-License-Identifier: Apache-2.0
#include "traces/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace penstock::traces {
namespace {

__extension__ using Int128 = __int128;

constexpr int kShift = 40;
constexpr double kMinBaselineNs = 50e6;   // anchors closer than this measure noise, not the clock
constexpr double kToleranceNs = 20e3;     // an anchor this far off the line was not read cleanly
constexpr double kHeaderError = 500e-6;   // relative error that the header's frequency may have
constexpr double kMeasuredError = 20e-6;  // the same of the median slope between anchors
constexpr double kMinHz = 1e6;
constexpr double kMaxHz = 1e11;
constexpr double kLimitNs = 2e18;  // below 2^61: a damaged tick or slope must not wrap around
constexpr std::size_t kMaxAnchors = 4096;
constexpr std::size_t kMaxSegments = 16'384;
constexpr double kSlewNs = 1e9;  // the line takes this long to meet the new one

double Ticks(const wire::ClockAnchor& a, const wire::ClockAnchor& b) {
  return static_cast<double>(static_cast<std::int64_t>(b.ticks - a.ticks));
}

double Ns(const wire::ClockAnchor& a, const wire::ClockAnchor& b) {
  return static_cast<double>(static_cast<std::int64_t>(b.monotonic_ns - a.monotonic_ns));
}

// Rounded down, so that a segment does not end above the start of the next one.
std::uint64_t Fixed(double slope) {
  return static_cast<std::uint64_t>(slope * static_cast<double>(1ull << kShift));
}

bool PlausibleSlope(double slope) {
  return slope >= 1e9 / kMaxHz && slope <= 1e9 / kMinHz;
}

template <class T>
T Median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ClockMap::ClockMap(wire::ClockKind kind, std::uint64_t ticks_per_second)
    : kind_(kind), ticks_per_second_(ticks_per_second) {}

void ClockMap::Add(const wire::ClockAnchor& anchor) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  if (anchor.monotonic_ns == 0 || anchor.monotonic_ns > kHuge || anchor.ticks > kHuge) {
    return;
  }
  anchors_.push_back(anchor);
  if (anchor.realtime_ns <= kHuge) {
    offsets_.push_back(static_cast<std::int64_t>(anchor.realtime_ns - anchor.monotonic_ns));
  }
  changed_ = true;
}

double ClockMap::NominalSlope() const {
  const double slope = 1e9 / std::max(static_cast<double>(ticks_per_second_), 1.0);
  return PlausibleSlope(slope) ? slope : 0;
}

// Decides which clock the ticks are from. Ticks of CLOCK_MONOTONIC are nanoseconds. If the header
// and the anchors disagree about the clock, the header was damaged.
void ClockMap::Judge() {
  std::size_t same = 0;
  for (const wire::ClockAnchor& anchor : anchors_) {
    same += anchor.ticks == anchor.monotonic_ns ? 1 : 0;
  }
  if (anchors_.empty()) {
    return;
  }
  const bool identity = same * 2 > anchors_.size() || (anchors_.size() == 2 && same == 1);
  const bool claims = kind_ == wire::kClockMonotonic;
  if (identity != claims && !used_) {
    contradicted_ = true;
    kind_ = identity ? wire::kClockMonotonic : wire::kClockTsc;
  }
}

// Keeps the anchors that agree with their neighbours; drops flipped bits and interrupted readings.
void ClockMap::Reject(double slope, double uncertainty) {
  sound_.clear();
  const wire::ClockAnchor& middle = anchors_[anchors_.size() / 2];
  std::vector<double> residuals;
  for (const wire::ClockAnchor& anchor : anchors_) {
    residuals.push_back(Ns(middle, anchor) - slope * Ticks(middle, anchor));
  }
  constexpr std::size_t kReach = 2;  // neighbours on each side
  for (std::size_t i = 0; i < anchors_.size(); ++i) {
    const std::size_t from = i < kReach ? 0 : i - kReach;
    const std::size_t to = std::min(i + kReach, anchors_.size() - 1);
    const double median =
        Median(std::vector<double>(residuals.begin() + static_cast<std::ptrdiff_t>(from),
                                   residuals.begin() + static_cast<std::ptrdiff_t>(to) + 1));
    const double allowed =
        kToleranceNs + uncertainty * std::abs(slope * Ticks(anchors_[from], anchors_[to]));
    if (std::abs(residuals[i] - median) <= allowed &&
        (sound_.empty() || (anchors_[i].ticks > sound_.back().ticks &&
                            anchors_[i].monotonic_ns > sound_.back().monotonic_ns))) {
      sound_.push_back(anchors_[i]);
    }
  }
  rejected_ = anchors_.size() - sound_.size();
}

void ClockMap::Update() {
  if (!changed_) {
    return;
  }
  changed_ = false;
  Judge();
  std::sort(anchors_.begin(), anchors_.end(), [](const auto& a, const auto& b) {
    return a.ticks != b.ticks ? a.ticks < b.ticks : a.monotonic_ns < b.monotonic_ns;
  });
  anchors_.erase(std::unique(anchors_.begin(), anchors_.end(),
                             [](const auto& a, const auto& b) {
                               return a.ticks == b.ticks && a.monotonic_ns == b.monotonic_ns;
                             }),
                 anchors_.end());
  Thin();
  if (anchors_.empty()) {
    return;
  }
  if (kind_ == wire::kClockMonotonic) {
    // An earlier Update() that had only a damaged anchor may have decided for the other clock.
    segments_.clear();
    std::vector<std::int64_t> times;
    for (const wire::ClockAnchor& anchor : anchors_) {
      if (anchor.ticks == anchor.monotonic_ns) {
        times.push_back(static_cast<std::int64_t>(anchor.ticks));
      }
    }
    // The times ascend, as the anchors do. A wild value at an end cannot be told from a long
    // recording, but it only widens the range of plausible times.
    first_.value = times.empty() ? 0 : times.front();
    last_.value = times.empty() ? 0 : times.back();
    rejected_ = anchors_.size() - times.size();
    return;
  }
  // The header's frequency may be damaged too, so the median of three or more slopes between
  // neighbouring anchors overrules it. If the header has no usable frequency, the median of one or
  // two slopes is taken.
  double slope = NominalSlope();
  double uncertainty = kHeaderError;
  std::vector<double> slopes;
  for (std::size_t i = 1; i < anchors_.size(); ++i) {
    if (Ns(anchors_[i - 1], anchors_[i]) > kMinBaselineNs) {
      slopes.push_back(Ns(anchors_[i - 1], anchors_[i]) / Ticks(anchors_[i - 1], anchors_[i]));
    }
  }
  if (!slopes.empty()) {
    const double median = Median(slopes);
    if (PlausibleSlope(median) && (slope == 0 || slopes.size() >= 3)) {
      slope = median;
      uncertainty = slopes.size() >= 3 ? kMeasuredError : kHeaderError;
    }
  }
  Reject(slope != 0 ? slope : 1.0, uncertainty);
  if (sound_.empty()) {
    sound_.push_back(anchors_[anchors_.size() / 2]);
  }
  first_.value = static_cast<std::int64_t>(sound_.front().monotonic_ns);
  last_.value = static_cast<std::int64_t>(sound_.back().monotonic_ns);
  if (used_ && !segments_.empty()) {
    Extend();
  } else {
    Rebuild();
  }
}

// Bounds the number of anchors of a long run: drops every second one of the older half.
void ClockMap::Thin() {
  if (anchors_.size() <= kMaxAnchors) {
    return;
  }
  std::size_t kept = 1;
  for (std::size_t i = 1; i < anchors_.size(); ++i) {
    if (i >= anchors_.size() / 2 || i % 2 == 0) {
      anchors_[kept++] = anchors_[i];
    }
  }
  anchors_.resize(kept);
  if (offsets_.size() > 2 * kMaxAnchors) {
    offsets_.erase(offsets_.begin(), offsets_.begin() + static_cast<std::ptrdiff_t>(kMaxAnchors));
  }
}

// Bounds the number of segments in the same way: drops every second bend of the older half. The
// other bends stay where they are, so only records that come hours late get other times than
// before. The difference is smaller than the bends were.
void ClockMap::ThinSegments() {
  if (segments_.size() <= kMaxSegments) {
    return;
  }
  std::size_t kept = 1;
  for (std::size_t i = 1; i < segments_.size(); ++i) {
    if (i < segments_.size() / 2 && i % 2 == 1) {
      const Segment& next = segments_[i + 1];
      Segment& before = segments_[kept - 1];
      if (next.at_ticks > before.at_ticks) {
        before.slope = Fixed(static_cast<double>(next.at_ns - before.at_ns) /
                             static_cast<double>(next.at_ticks - before.at_ticks));
      }
    } else {
      segments_[kept++] = segments_[i];
    }
  }
  segments_.resize(kept);
}

void ClockMap::Rebuild() {
  segments_.clear();
  current_ = 0;
  const wire::ClockAnchor& first = sound_.front();
  const wire::ClockAnchor& last = sound_.back();
  double outside = NominalSlope();
  if (sound_.size() > 1 && (Ns(first, last) > kMinBaselineNs || outside == 0)) {
    outside = Ns(first, last) / Ticks(first, last);
  }
  if (!PlausibleSlope(outside)) {
    outside = 1.0;
  }
  // Before the first anchor, the line through that anchor holds, from tick 0 on.
  const auto start = static_cast<std::int64_t>(first.monotonic_ns);
  const double back = std::min(outside * static_cast<double>(first.ticks), kLimitNs);
  segments_.push_back({0, start - std::llround(back), Fixed(outside)});
  // Anchors closer than the baseline are skipped: they would turn noise into slope.
  const wire::ClockAnchor* before = &first;
  for (const wire::ClockAnchor& anchor : sound_) {
    if (&anchor != before && Ns(*before, anchor) > kMinBaselineNs &&
        PlausibleSlope(Ns(*before, anchor) / Ticks(*before, anchor))) {
      segments_.push_back({before->ticks, static_cast<std::int64_t>(before->monotonic_ns),
                           Fixed(Ns(*before, anchor) / Ticks(*before, anchor))});
      before = &anchor;
    }
  }
  segments_.push_back(
      {before->ticks, static_cast<std::int64_t>(before->monotonic_ns), Fixed(outside)});
}

// Bends the line after the converted part, so that it meets the line of the newest anchors after
// kSlewNs.
void ClockMap::Extend() {
  const wire::ClockAnchor& last = sound_.back();
  const wire::ClockAnchor& first = sound_.front();
  double slope = NominalSlope();
  if (sound_.size() > 1 && (Ns(first, last) > kMinBaselineNs || slope == 0)) {
    slope = Ns(first, last) / Ticks(first, last);
  }
  if (!PlausibleSlope(slope)) {
    return;
  }
  while (segments_.size() > 1 && segments_.back().at_ticks > converted_) {
    segments_.pop_back();
  }
  const std::int64_t at = Convert(segments_.back(), converted_);
  const double wanted =
      static_cast<double>(last.monotonic_ns) +
      slope * static_cast<double>(static_cast<std::int64_t>(converted_ - last.ticks));
  // The slope changes to a half at least and to twice at most, so time never stands still or goes
  // back.
  const double error = std::clamp(wanted - static_cast<double>(at), -kSlewNs / 2, kSlewNs);
  const double slew_ticks = kSlewNs / slope;
  segments_.push_back({converted_, at, Fixed(slope + error / slew_ticks)});
  const std::uint64_t meet = converted_ + static_cast<std::uint64_t>(slew_ticks);
  segments_.push_back({meet, Convert(segments_.back(), meet), Fixed(slope)});
  ThinSegments();
  current_ = 0;
}

std::int64_t ClockMap::Convert(const Segment& segment, std::uint64_t ticks) const {
  const auto distance = static_cast<Int128>(ticks) - static_cast<Int128>(segment.at_ticks);
  const Int128 ns = segment.at_ns + ((distance * static_cast<Int128>(segment.slope)) >> kShift);
  constexpr auto kLimit = static_cast<Int128>(kLimitNs);
  return static_cast<std::int64_t>(std::clamp(ns, -kLimit, kLimit));
}

TimeNs ClockMap::ToNs(std::uint64_t ticks) {
  if (segments_.empty()) {
    return TimeNs{static_cast<std::int64_t>(ticks)};
  }
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  ticks = std::min(ticks, kHuge);
  const auto inside = [this, ticks](std::size_t i) {
    return ticks >= segments_[i].at_ticks &&
           (i + 1 == segments_.size() || ticks < segments_[i + 1].at_ticks);
  };
  if (!inside(current_)) {
    const auto after =
        std::upper_bound(segments_.begin(), segments_.end(), ticks,
                         [](std::uint64_t t, const Segment& s) { return t < s.at_ticks; });
    current_ = static_cast<std::size_t>(after - segments_.begin()) - 1;
  }
  return TimeNs{Convert(segments_[current_], ticks)};
}

TimeNs ClockMap::RealtimeOffset() const {
  return TimeNs{offsets_.empty() ? 0 : Median(offsets_)};
}

}  // namespace penstock::traces
