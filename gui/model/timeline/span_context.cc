// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/span_context.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/model/material.h"

namespace penstock::gui {
namespace {

using traces::StageId;

// The span in which the sample of `span` was made: a sample span around it, else a fetch.
std::optional<SpanRef> AroundSample(const Timeline& timeline, SpanRef span) {
  std::optional<SpanRef> fetch;
  for (std::optional<SpanRef> at = span; at; at = ParentOf(timeline, *at)) {
    if (timeline.stage(*at) == StageId::kSample) return at;
    if (timeline.stage(*at) == StageId::kFetch) fetch = at;
  }
  return timeline.detail(span).sample != SpanDetail::kNoSample ? fetch : std::nullopt;
}

// The batch that `process` made or used.
const analyzer::Batch* BatchOf(const analyzer::RunModel& run, traces::BatchKey key,
                               ProcessId process) {
  const auto before = [](const analyzer::Batch& batch, traces::BatchKey wanted) {
    return std::pair(batch.key.generation, batch.key.index) <
           std::pair(wanted.generation, wanted.index);
  };
  for (const analyzer::LoaderRun& loader : run.loaders) {
    // Several training processes may have a batch with this key.
    for (auto at = std::lower_bound(loader.batches.begin(), loader.batches.end(), key, before);
         at != loader.batches.end() && at->key == key; ++at) {
      const bool made = at->worker_process == static_cast<std::int32_t>(process.value);
      if (made || at->consumer == process) return &*at;
    }
  }
  return nullptr;
}

bool IsChild(const Level& level, std::size_t i, std::int64_t start, std::int64_t end) {
  return level.start[i] >= start && level.end(i) <= end;
}

}  // namespace

std::optional<SpanRef> ParentOf(const Timeline& timeline, SpanRef span) {
  const std::int64_t start = timeline.start(span);
  const std::int64_t end = timeline.end(span);
  for (std::uint32_t v = span.level; v > 0; --v) {
    const Level& level = timeline.lanes[span.lane].levels[v - 1];
    const std::size_t after = level.FirstStartingAt(start + 1);
    if (after == 0 || level.end(after - 1) < end || level.end(after - 1) <= start) continue;
    return SpanRef{span.lane, v - 1, static_cast<std::uint32_t>(after - 1)};
  }
  return std::nullopt;
}

Children ChildrenOf(const Timeline& timeline, SpanRef span, std::size_t most) {
  constexpr std::size_t kMostLookedAt = 65'536;
  Children children;
  const auto& levels = timeline.lanes[span.lane].levels;
  if (span.level + 1 >= levels.size()) return children;
  const Level& level = levels[span.level + 1];
  const std::int64_t start = timeline.start(span);
  const std::int64_t end = timeline.end(span);
  const std::size_t first = level.FirstStartingAt(start);
  const std::size_t last = level.FirstStartingAt(end);
  const std::size_t looked_at = std::min(last, first + kMostLookedAt);
  for (std::size_t i = first; i < looked_at; ++i) {
    if (!IsChild(level, i, start, end)) continue;
    children.longest.push_back({span.lane, span.level + 1, static_cast<std::uint32_t>(i)});
  }
  children.count = children.longest.size() + (last - looked_at);
  const auto longer = [&](SpanRef a, SpanRef b) {
    const std::int64_t x = level.length(a.index);
    const std::int64_t y = level.length(b.index);
    return x != y ? x > y : a.index < b.index;
  };
  const auto kept = std::min(most, children.longest.size());
  std::partial_sort(children.longest.begin(),
                    children.longest.begin() + static_cast<std::ptrdiff_t>(kept),
                    children.longest.end(), longer);
  children.longest.resize(kept);
  return children;
}

SampleData SampleOf(const Timeline& timeline, const traces::Trace& trace, SpanRef span) {
  constexpr std::size_t kMostLookedAt = 16'384;
  SampleData data;
  const auto around = AroundSample(timeline, span);
  if (!around) return data;
  const bool whole = timeline.stage(*around) == StageId::kSample;
  const std::int64_t start = timeline.start(*around);
  const std::int64_t end = timeline.end(*around);
  std::vector<std::pair<std::int64_t, SampleData::File>> found;
  const auto& levels = timeline.lanes[span.lane].levels;
  for (std::size_t v = around->level + 1; v < levels.size(); ++v) {
    const Level& level = levels[v];
    const std::size_t first = level.FirstStartingAt(start);
    const std::size_t after = level.FirstStartingAt(end);
    const std::size_t last = std::min(after, first + kMostLookedAt);
    data.cut = data.cut || last < after;
    for (std::size_t i = first; i < last; ++i) {
      const SpanDetail& detail = level.detail[i];
      if (!whole && SampleKeyOf(detail) != SampleKeyOf(timeline.detail(span))) continue;
      const auto bytes = static_cast<double>(detail.bytes);
      const bool decodes = level.stage(i) == StageId::kDecode && bytes > data.decoded;
      if (decodes && analyzer::DecodesPicture(trace.String(detail.name))) data.decoded = bytes;
      if (level.stage(i) != StageId::kRead) continue;
      data.bytes += bytes;
      if (detail.object.value != 0) found.push_back({level.start[i], {detail.object, bytes}});
    }
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(found.begin(), found.end(), earlier);
  std::unordered_map<std::uint32_t, std::size_t> places;  // by StringId, in data.files
  for (const auto& [at, file] : found) {
    const auto [place, added] = places.try_emplace(file.path.value, data.files.size());
    if (added) {
      data.files.push_back(file);
    } else {
      data.files[place->second].bytes += file.bytes;
    }
  }
  return data;
}

WayPart BatchWay::longest() const {
  const auto most = std::max_element(length.begin(), length.end());
  return static_cast<WayPart>(most - length.begin());
}

std::optional<BatchWay> WayOf(const Timeline& timeline, const analyzer::RunModel& run,
                              SpanRef span) {
  const traces::BatchKey key = timeline.detail(span).key();
  const Group* group = timeline.GroupOf(span.lane);
  if (!key.valid() || group == nullptr) return std::nullopt;
  const analyzer::Batch* batch = BatchOf(run, key, group->process);
  if (batch == nullptr || !batch->was_fetched() || batch->delivered == analyzer::kNever) {
    return std::nullopt;
  }
  // Each part ends where the next one begins; a moment that was not recorded leaves its part empty.
  std::int64_t at = batch->index_sent != analyzer::kNever ? batch->index_sent : batch->fetch_start;
  if (at == analyzer::kNever) at = batch->fetch_end;
  BatchWay way;
  way.begin = at - timeline.begin;
  const auto until = [&](WayPart part, std::int64_t moment) {
    const std::int64_t end = std::min(moment, batch->delivered);
    if (moment == analyzer::kNever || end <= at) return;
    way.length[static_cast<std::size_t>(part)] = end - at;
    at = end;
  };
  until(WayPart::kQueue, batch->fetch_start);
  until(WayPart::kMade, batch->fetch_end);
  until(WayPart::kHandover, batch->available());
  until(WayPart::kReady, batch->wait_start);
  until(WayPart::kTaken, batch->delivered);
  way.end = at - timeline.begin;
  return way;
}

}  // namespace penstock::gui
