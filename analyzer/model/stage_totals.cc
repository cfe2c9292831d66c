// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/stage_totals.h"

#include <algorithm>

namespace penstock::analyzer {

void PartTotals::Add(std::int64_t wall_ns, std::int64_t cpu_ns, std::uint64_t span_bytes) {
  traces::Counted counted;
  counted.wall = wall_ns;
  counted.cpu = cpu_ns;
  Add(counted, span_bytes);
}

// A call that only opens an image and the call that decodes it count as one call. The first adds
// only its time. The second adds its time and the count, and the duration of both
// (Counted::whole()).
void PartTotals::Add(const traces::Counted& counted, std::uint64_t span_bytes) {
  wall.value += counted.wall;
  if (counted.cpu >= 0) {
    cpu.value += counted.cpu;
    timed += counted.opening ? 0 : 1;
  } else {
    untimed.value += counted.wall;
  }
  if (counted.opening) return;
  ++count;
  with_bytes += span_bytes > 0 ? 1 : 0;
  bytes.value += span_bytes;
  durations.Add(counted.whole());
}

bool IsMixed(const StageTotals& totals) {
  constexpr double kOften = 0.1;   // share of the calls from which a kind counts
  constexpr double kApart = 4;     // kinds differ if one takes more than this many times as long as
                                   // another
  constexpr double kMostly = 0.8;  // share of the calls that must be of some kind
  double named = 0;
  double least = 0;
  double most = 0;
  int kinds = 0;
  for (const auto& [name, part] : totals.children) {
    const auto calls = static_cast<double>(part.count - part.openings);
    named += calls;
    if (calls < kOften * static_cast<double>(totals.count)) continue;
    const double median = part.durations.Quantile(0.5);
    least = kinds == 0 ? median : std::min(least, median);
    most = std::max(most, median);
    ++kinds;
  }
  const auto count = static_cast<double>(totals.count);
  // If named parts lie within one another, there are more parts than calls, and they are not kinds
  // of calls.
  return kinds > 1 && named >= kMostly * count && named <= count && most > kApart * least;
}

void StageTable::Add(const traces::Counted& counted) {
  StageTotals& stage = (*this)[counted.stage];
  if (counted.synthetic && counted.stage == traces::StageId::kRead) {
    stage.wall.value += counted.wall;  // adds no read: the waiting before reads comes without a
                                       // span of its own
    stage.queued.value += counted.wall;
    return;
  }
  // The augmenting of a sample comes with the sample's span. The bytes and the name of that span
  // are not those of augmenting.
  const std::uint64_t bytes = counted.synthetic ? 0 : counted.span->bytes.value;
  if (counted.outermost) stage.Add(counted, bytes);
  if (!counted.synthetic) stage.last = std::max(stage.last, counted.span->end());
  if (counted.stage == traces::StageId::kCollate) {
    const traces::Inside& inside = counted.inside;
    stage.inside.value += inside.read + inside.told() + inside.augment;
  }
  const bool listed = counted.stage == traces::StageId::kDecode ||
                      counted.stage == traces::StageId::kAugment ||
                      counted.stage == traces::StageId::kTokenize;
  if (listed && !counted.synthetic && counted.span->name.value != 0) {
    PartTotals& part = stage.children[counted.span->name];
    part.Add(counted.wall, counted.cpu, bytes);
    part.openings += counted.opening ? 1 : 0;
    if (!counted.outermost) stage.bytes.value += bytes;
  }
}

double StageTable::DataTime() const {
  using traces::StageId;
  const StageTable& self = *this;
  const double fetch = Seconds(self[StageId::kFetch].wall);
  if (fetch > 0) return fetch;
  double time = 0;
  for (const StageId stage : {StageId::kRead, StageId::kDecode, StageId::kAugment,
                              StageId::kTokenize, StageId::kCollate, StageId::kPut}) {
    time += Seconds(self[stage].wall);
  }
  return time;
}

}  // namespace penstock::analyzer
