// SPDX-License-Identifier: Apache-2.0
#include "loader/pipeline/cost.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "loader/pipeline/stop.h"

namespace penstock::loader {
namespace {

constexpr double kMs = 1e6;          // ns
constexpr double kLongest = 3600e9;  // ns; the longest mean of a cost
// The longest draw, as a multiple of the mean, so that a run with a heavy tail ends. The limit also
// makes the mean of the draws smaller: by 1 % for a Pareto shape of 1.5 (it affects one draw in
// 160,000), but by 36 % for a shape of 1.1, and by 14 % for a log-normal sigma of 3.
constexpr double kLongestOfMean = 1000;

// Takes a number from the front of `text`.
std::optional<double> TakeNumber(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool Take(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes a time in ns. A number without a unit is in `unit`.
std::optional<double> TakeLength(std::string_view& text, double unit) {
  const std::optional<double> number = TakeNumber(text);
  if (!number) return std::nullopt;
  if (Take(text, "ns")) return *number;
  if (Take(text, "us") || Take(text, "\xC2\xB5s")) return *number * 1e3;
  if (Take(text, "ms")) return *number * kMs;
  if (Take(text, "s")) return *number * 1e9;
  return *number * unit;
}

struct ShapeName {
  std::string_view name;
  Cost::Shape shape;
};
constexpr std::array<ShapeName, 5> kShapes = {{{"normal", Cost::Shape::kNormal},
                                               {"uniform", Cost::Shape::kUniform},
                                               {"exponential", Cost::Shape::kExponential},
                                               {"lognormal", Cost::Shape::kLognormal},
                                               {"pareto", Cost::Shape::kPareto}}};

// Takes what follows '~': the shape and its parameter (in ns if it is a time).
std::optional<std::pair<Cost::Shape, double>> TakeShape(std::string_view& text) {
  for (const ShapeName& known : kShapes) {
    if (!Take(text, known.name)) continue;
    if (known.shape == Cost::Shape::kExponential) return std::pair{known.shape, 0.0};
    if (!Take(text, ":")) return std::nullopt;
    const bool length = known.shape == Cost::Shape::kNormal || known.shape == Cost::Shape::kUniform;
    const std::optional<double> value = length ? TakeLength(text, kMs) : TakeNumber(text);
    if (!value) return std::nullopt;
    return std::pair{known.shape, *value};
  }
  return std::nullopt;
}

}  // namespace

Result<TimeNs> ParseLength(std::string_view text, TimeNs unit) {
  std::string_view rest = text;
  const std::optional<double> length = TakeLength(rest, static_cast<double>(unit.value));
  if (!length || !rest.empty() || *length > kLongest * 1000) {
    return Fail(ErrorKind::kUsage,
                fmt::format("\"{}\" is no length of time: write 500ms, 10s or 1.5s", text));
  }
  return TimeNs{std::llround(*length)};
}

Result<Cost> Cost::Parse(std::string_view text, bool burns_by_default) {
  const auto refuse = [whole = text](std::string_view why) {
    return Fail(ErrorKind::kUsage,
                fmt::format("\"{}\" is no cost: {}; write 5ms, 5ms+-2ms, 5ms~lognormal:0.5, "
                            "5ms~pareto:1.5 or sleep:5ms",
                            whole, why));
  };
  Cost cost;
  cost.burns_ = burns_by_default;
  if (Take(text, "sleep:")) {
    cost.burns_ = false;
  } else if (Take(text, "burn:")) {
    cost.burns_ = true;
  }
  const std::optional<double> mean = TakeLength(text, kMs);
  if (!mean) return refuse("it does not start with a length of time");
  if (*mean > kLongest) return refuse("it is longer than an hour");
  cost.mean_ = *mean;
  if (Take(text, "\xC2\xB1") || Take(text, "+-") || Take(text, "+/-")) {
    const std::optional<double> spread = TakeLength(text, kMs);
    if (!spread) return refuse("the deviation is no length of time");
    cost.shape_ = Shape::kNormal;
    cost.spread_ = *spread;
  } else if (Take(text, "~")) {
    const auto shape = TakeShape(text);
    if (!shape) return refuse("the distribution is not known or has no parameter");
    std::tie(cost.shape_, cost.spread_) = *shape;
  }
  if (!text.empty()) return refuse(fmt::format("\"{}\" is left over", text));
  if (cost.shape_ == Shape::kPareto && cost.spread_ <= 1) {
    return refuse("a Pareto shape of 1 or less has no mean");
  }
  if (cost.shape_ == Shape::kUniform && cost.spread_ > cost.mean_) {
    return refuse("it could be negative");
  }
  if (cost.shape_ == Shape::kLognormal && cost.spread_ > 5) {
    return refuse("a sigma above 5 has no use");
  }
  // Otherwise Draw() would compute with infinities, and a result that is not a number costs
  // nothing.
  if (!std::isfinite(cost.mean_ * cost.spread_)) return refuse("its parameter is too large");
  return cost;
}

TimeNs Cost::Draw(const SampleKey& key, std::uint32_t operation) const {
  double drawn = mean_;
  if (mean_ > 0 && shape_ != Shape::kConstant) {
    Random random(key, operation);
    switch (shape_) {
      case Shape::kConstant:
        break;
      case Shape::kNormal: {
        // Cut off at the same distance on both sides: the mean stays, and no cost is negative.
        const double widest = std::min(3.0, spread_ > 0 ? mean_ / spread_ : 0);
        drawn = mean_ + spread_ * std::clamp(random.Normal(), -widest, widest);
        break;
      }
      case Shape::kUniform:
        drawn = mean_ + spread_ * (2 * random.Uniform() - 1);
        break;
      case Shape::kExponential:
        drawn = -mean_ * std::log1p(-random.Uniform());
        break;
      case Shape::kLognormal:
        drawn = mean_ * std::exp(spread_ * random.Normal() - spread_ * spread_ / 2);
        break;
      case Shape::kPareto:
        drawn = mean_ * (spread_ - 1) / spread_ * std::pow(1 - random.Uniform(), -1 / spread_);
        break;
    }
    drawn = std::clamp(drawn, 0.0, mean_ * kLongestOfMean);
  }
  return TimeNs{std::llround(drawn)};
}

namespace {

TimeNs Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return TimeNs{static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec};
}

}  // namespace

TimeNs ThreadCpuNow() {
  return Now(CLOCK_THREAD_CPUTIME_ID);
}
TimeNs SteadyNow() {
  return Now(CLOCK_MONOTONIC);
}

void Burn(TimeNs cpu, const StopFlag& stop) {
  constexpr TimeNs kSlice{1'000'000};
  const TimeNs end = ThreadCpuNow() + cpu;
  for (TimeNs left = cpu; left.value > 0 && !stop.set(); left = end - ThreadCpuNow()) {
    // The wall clock never runs slower than the CPU clock, and a reading takes a tenth of the time.
    // So this spins by the wall clock and then asks the CPU clock.
    const TimeNs until = SteadyNow() + std::min(left, kSlice);
    while (SteadyNow() < until) {
      for (int i = 0; i < 8; ++i) RelaxCpu();
    }
  }
}

void SleepUntil(TimeNs moment, const StopFlag& stop) {
  const TimeNs left = moment - SteadyNow();
  if (left.value > 0 && !stop.set()) stop.SleepFor(std::chrono::nanoseconds{left.value});
}

void Spend(const Cost& cost, TimeNs amount, const StopFlag& stop) {
  if (amount.value <= 0) return;
  if (cost.burns()) {
    Burn(amount, stop);
  } else {
    SleepUntil(SteadyNow() + amount, stop);
  }
}

}  // namespace penstock::loader
