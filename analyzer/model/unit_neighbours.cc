// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/unit_neighbours.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace penstock::analyzer {
namespace {

using traces::UnitRow;

std::uint64_t BatchAndSample(traces::BatchKey batch, std::int64_t sample) {
  const std::uint64_t key = std::uint64_t{batch.generation} << 32 | batch.index;
  return key * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(sample);
}

// Whether the unit began during the sample. The hooks of both run one after the other.
bool Covers(const SampleTime& sample, const UnitRow& unit) {
  constexpr std::int64_t kApart = 1'000'000;  // nanoseconds
  const auto length = static_cast<std::int64_t>(static_cast<double>(sample.time) * 1e9);
  return unit.at.value >= sample.start - kApart && unit.at.value <= sample.start + length;
}

// Indices of samples, and of the units in which they were followed.
using Followed = std::unordered_map<std::size_t, std::size_t>;

bool BeginsBatch(std::span<const SampleTime> list, std::size_t at) {
  return at == 0 || list[at - 1].batch != list[at].batch;
}

// The times of samples of `list` before and after index `at`, without those that were followed.
std::vector<float> TimesAround(std::span<const SampleTime> list, std::size_t at,
                               const Followed& followed) {
  constexpr std::size_t kEachSide = 16;
  const bool begins = BeginsBatch(list, at);
  std::vector<float> times;
  const auto add = [&](std::size_t i) {
    if (followed.count(i) == 0 && BeginsBatch(list, i) == begins) times.push_back(list[i].time);
  };
  for (std::size_t i = at; i > 0 && times.size() < kEachSide; --i) {
    if (list[i - 1].thread != list[at].thread) break;
    add(i - 1);
  }
  const std::size_t most = times.size() + kEachSide;
  for (std::size_t i = at + 1; i < list.size() && times.size() < most; ++i) {
    if (list[i].thread != list[at].thread) break;
    add(i);
  }
  return times;
}

TimeNs MeanOf(std::vector<float> times) {
  constexpr std::size_t kFewest = 8;
  constexpr float kMuchLonger = 3;
  if (times.size() < kFewest) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(times, [most = kMuchLonger * *middle](float time) { return time > most; });
  if (times.size() < kFewest) return {};
  double sum = 0;
  for (const float time : times) sum += static_cast<double>(time);
  return TimeNs{static_cast<std::int64_t>(sum / static_cast<double>(times.size()) * 1e9)};
}

}  // namespace

std::vector<TimeNs> TimesOfNeighbours(std::span<const traces::CallTree> trees,
                                      const SampleTimeLists& lists) {
  std::unordered_multimap<std::uint64_t, std::size_t> units;  // indices of `trees`
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const UnitRow& unit = trees[i].unit;
    if (unit.stage != traces::StageId::kSample) continue;
    units.emplace(BatchAndSample(unit.batch, unit.sample), i);
  }
  std::vector<TimeNs> found(trees.size());
  if (units.empty()) return found;
  for (const std::span<const SampleTime> list : lists) {
    Followed followed;
    for (std::size_t at = 0; at < list.size(); ++at) {
      const auto [first, end] = units.equal_range(BatchAndSample(list[at].batch, list[at].id));
      for (auto unit = first; unit != end; ++unit) {
        if (Covers(list[at], trees[unit->second].unit)) followed.emplace(at, unit->second);
      }
    }
    for (const auto& [at, tree] : followed) {
      found[tree] = MeanOf(TimesAround(list, at, followed));
    }
  }
  return found;
}

}  // namespace penstock::analyzer
