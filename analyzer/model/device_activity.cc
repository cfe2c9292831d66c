// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device_activity.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::analyzer {
namespace {

using Stretches = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Sorted and without overlap.
void Unite(Stretches& stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::size_t kept = 0;
  for (const auto& [from, to] : stretches) {
    if (kept > 0 && from <= stretches[kept - 1].second) {
      stretches[kept - 1].second = std::max(stretches[kept - 1].second, to);
    } else {
      stretches[kept++] = {from, to};
    }
  }
  stretches.resize(kept);
}

double Length(const Stretches& united) {
  std::int64_t sum = 0;
  for (const auto& [from, to] : united) sum += to - from;
  return static_cast<double>(sum) * 1e-9;
}

double Common(const Stretches& a, const Stretches& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const std::int64_t from = std::max(a[i].first, b[k].first);
    const std::int64_t to = std::min(a[i].second, b[k].second);
    if (to > from) sum += to - from;
    if (a[i].second < b[k].second) {
      ++i;
    } else {
      ++k;
    }
  }
  return static_cast<double>(sum) * 1e-9;
}

}  // namespace

DeviceActivity MeasureDevice(const traces::Trace& trace, std::int64_t from, std::int64_t to) {
  DeviceActivity activity;
  if (to <= from) return activity;
  Stretches kernels;
  Stretches copies;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const traces::Span> block) {
      for (const traces::Span& span : block) {
        const bool kernel = span.stage == traces::StageId::kKernel;
        if (!kernel && span.stage != traces::StageId::kH2d) continue;
        if ((span.flags & wire::kFlagUnfinished) != 0) continue;
        const std::int64_t start = std::max(from, span.start.value);
        const std::int64_t end = std::min(to, span.end().value);
        if (end > start) (kernel ? kernels : copies).emplace_back(start, end);
      }
    });
  }
  Unite(kernels);
  Unite(copies);
  activity.window = static_cast<double>(to - from) * 1e-9;
  activity.computing = Length(kernels);
  activity.copying = Length(copies);
  activity.hidden = Common(copies, kernels);
  return activity;
}

}  // namespace penstock::analyzer
