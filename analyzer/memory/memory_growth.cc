// SPDX-License-Identifier: Apache-2.0
#include "analyzer/memory/memory_growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/stats/quantile.h"

namespace penstock::analyzer {
namespace {

// Bytes by which an allocator and its caches grow without a leak (ours).
constexpr double kAllocator = 8e6;

// The median of the values other than 0, if they are more than half of all values; otherwise 0.
double MedianOfSome(std::vector<double> values) {
  const std::size_t all = values.size();
  values.erase(std::remove(values.begin(), values.end(), 0.0), values.end());
  return 2 * values.size() > all ? Median(std::move(values)) : 0;
}

}  // namespace

Growth MedianGrowth(const std::vector<Growth>& growths) {
  const auto all = [&](auto get) {
    std::vector<double> values;
    for (const Growth& one : growths) values.push_back(get(one));
    return values;
  };
  const auto median = [&](auto get) { return Median(all(get)); };
  Growth growth;
  for (Interval Growth::*slope : {&Growth::per_second, &Growth::per_batch}) {
    growth.*slope = {median([=](const Growth& one) { return (one.*slope).estimate; }),
                     median([=](const Growth& one) { return (one.*slope).low; }),
                     median([=](const Growth& one) { return (one.*slope).high; })};
  }
  growth.grown = median([](const Growth& one) { return one.grown; });
  growth.limit = MedianOfSome(all([](const Growth& one) { return one.limit; }));
  growth.settles = MedianOfSome(all([](const Growth& one) { return one.settles; }));
  return growth;
}

GrowingWorkers FindGrowingWorkers(const MemoryModel& memory) {
  GrowingWorkers growing;
  growing.all = true;
  std::vector<Growth> copied;
  std::vector<Growth> fresh;
  for (const WorkerMemory& worker : memory.workers) {
    if (!SeenLongEnough(worker.watched)) continue;
    growing.told = true;
    if (worker.copied.certain()) copied.push_back(worker.copied);
    if (worker.fresh.certain()) fresh.push_back(worker.fresh);
    growing.all = growing.all && (worker.copied.certain() || worker.fresh.certain());
  }
  if (!copied.empty()) growing.copied = MedianGrowth(copied);
  if (!fresh.empty()) growing.fresh = MedianGrowth(fresh);
  return growing;
}

bool Growth::certain() const {
  return per_second.low > 0 && per_batch.estimate > 0 && grown >= kAllocator;
}

Interval Growth::After(double batches) const {
  if (!certain() || batches <= 0) return {};
  const auto even = [&](double rate) {
    const double bytes = std::max(0.0, rate) * batches;
    return limit > 0 ? std::min(bytes, limit) : bytes;
  };
  Interval after{even(per_batch.estimate), even(per_batch.low), even(per_batch.high)};
  if (settles > 0) {
    after.estimate = limit * (1 - std::exp(-batches / settles));
    after.low = std::min(after.low, after.estimate);
    after.high = std::max(after.high, after.estimate);
  }
  return after;
}

Interval WorkerGrowth::Change(int workers) const {
  if (workers <= 0 || horizon <= 0 || !foreseeable) return {};
  Interval change;
  for (const Growth* part : {&copied, &fresh}) {
    const Interval then = part->After(horizon / workers);
    const Interval now = part->After(batches);
    const double middle = then.estimate - now.estimate;
    const double one = then.low - now.low;
    const double other = then.high - now.high;
    // The last sample may already hold the growth of the batches made ahead.
    const double already = part->certain() ? part->per_batch.high * ahead : 0;
    change.estimate += middle;
    // At the steep end, growth may have reached its limit before the last sample. At the slow end,
    // little growth is left. So both ends may lie on the same side of the estimate.
    change.low += std::min({one, middle, other}) - already;
    change.high += std::max({one, middle, other});
  }
  return change;
}

std::optional<Interval> MemoryModel::OutOfMemory(int count) const {
  if (room <= 0) return std::nullopt;
  // Memory that additional workers take at once; negative: memory that fewer workers give back.
  const double at_once = (std::max(0, count) - worker_count) * private_bytes;
  // Bytes beyond the present ones after `seconds`, at one end of the intervals.
  const auto more = [&](double seconds, double Interval::*end) {
    double bytes = at_once;
    if (trainer.certain()) bytes += std::max(0.0, trainer.per_second.*end) * seconds;
    if (count <= 0 || batch_rate <= 0 || !growth.foreseeable) return bytes;
    double made = growth.batches + batch_rate * seconds / count;
    if (ends_with_epoch && growth.horizon > 0) {
      made = std::min(made, std::max(growth.batches, growth.horizon / count));
    }
    for (const Growth* part : {&growth.copied, &growth.fresh}) {
      bytes += count * (part->After(made).*end - part->After(growth.batches).*end);
    }
    return bytes;
  };
  const auto when = [&](double Interval::*end) {
    if (more(0, end) >= room) return 0.0;
    if (more(kForecastSeconds, end) < room) return std::numeric_limits<double>::infinity();
    double before = 0;
    double after = kForecastSeconds;
    for (int i = 0; i < 60; ++i) {
      const double middle = (before + after) / 2;
      (more(middle, end) < room ? before : after) = middle;
    }
    return after;
  };
  const double estimate = when(&Interval::estimate);
  if (!std::isfinite(estimate) || estimate > kBelieved * watched) return std::nullopt;
  return Interval{estimate, std::min(estimate, when(&Interval::high)),
                  std::max(estimate, when(&Interval::low))};
}

}  // namespace penstock::analyzer
