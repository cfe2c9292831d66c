// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyzer/model/consumers.h"
#include "analyzer/model/named_ranges.h"
#include "gui/model/timeline/density.h"
#include "gui/model/timeline/group_name.h"
#include "gui/model/timeline/name_colours.h"

namespace penstock::gui {
namespace {

using traces::Span;
using traces::StageId;

struct RawSpan {
  std::int64_t start;
  std::int64_t length;
  StageId stage;
  SpanDetail detail;
};

RawSpan Raw(const Span& span, StageId stage, std::int64_t begin) {
  RawSpan raw;
  raw.start = span.start.value - begin;
  raw.length = DrawnLength(span);
  // A stage that only a later version knows becomes kNone, because it has no name and no colour.
  raw.stage = static_cast<std::size_t>(stage) < wire::kStageCount ? stage : StageId::kNone;
  raw.detail = DetailOf(span);
  return raw;
}

bool Earlier(const RawSpan& a, const RawSpan& b) {
  return a.start != b.start ? a.start < b.start : a.length > b.length;
}

// Adds the steps of a training loop that did not mark them. A step is the time between two waits.
void AddDerivedSteps(std::vector<RawSpan>& spans) {
  traces::StepFinder finder;
  for (const RawSpan& span : spans) {
    finder.Add(span.start, span.length, span.stage, span.detail.key());
  }
  std::vector<RawSpan> steps;
  for (const traces::DerivedStep& found : finder.Take()) {
    RawSpan step;
    step.start = found.start;
    step.length = found.length;
    step.stage = StageId::kStep;
    step.detail.batch = found.batch.index;
    step.detail.generation = found.batch.generation;
    step.detail.flags = SpanDetail::kDerived;
    steps.push_back(step);
  }
  if (steps.empty()) return;
  const auto middle = static_cast<std::ptrdiff_t>(spans.size());
  spans.insert(spans.end(), steps.begin(), steps.end());
  std::inplace_merge(spans.begin(), spans.begin() + middle, spans.end(), Earlier);
}

class LevelBuilder {
 public:
  explicit LevelBuilder(Lane& lane) : lane_(lane) {}

  void Add(const RawSpan& span) {
    const auto place = placer_.Add(span.start, span.length);
    if (!place) return;
    if (place->level == lane_.levels.size()) lane_.levels.emplace_back();
    Level& level = lane_.levels[place->level];
    level.start.push_back(place->start);
    level.shape.push_back(static_cast<std::uint64_t>(place->length) << 8 |
                          static_cast<std::uint64_t>(span.stage));
    level.detail.push_back(span.detail);
  }

 private:
  Lane& lane_;
  traces::LevelPlacer placer_;
};

void FillTotals(Level& level) {
  Level::Totals sum;
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (i % Level::kStride == 0) level.totals.push_back(sum);
    const std::size_t stage = level.shape[i] & 0xff;
    ++sum.count[stage];
    sum.time[stage] += level.length(i);
  }
  level.totals.push_back(sum);
}

// A thread that puts batches but makes none feeds the queue of its worker. A thread that pins
// batches, and neither makes nor uses them, is the loader's pin thread.
LaneRole RoleOf(const Lane& lane) {
  if (lane.label == traces::kBackwardThread) return LaneRole::kBackward;
  std::array<std::uint64_t, wire::kStageCount> count{};
  for (const Level& level : lane.levels) {
    for (std::size_t s = 0; s < count.size(); ++s) count[s] += level.totals.back().count[s];
  }
  const auto of = [&](StageId stage) { return count[static_cast<std::size_t>(stage)]; };
  if (lane.main || lane.stream || of(StageId::kFetch) + of(StageId::kSample) > 0) {
    return LaneRole::kNone;
  }
  if (of(StageId::kWait) + of(StageId::kStep) > 0) return LaneRole::kNone;
  if (of(StageId::kPin) > 0) return LaneRole::kPinThread;
  return of(StageId::kPut) > 0 ? LaneRole::kQueueFeeder : LaneRole::kNone;
}

bool MovesBatch(StageId stage) {
  switch (stage) {
    case StageId::kFetch:
    case StageId::kPut:
    case StageId::kPin:
    case StageId::kGet:
    case StageId::kWait:
    case StageId::kH2d:
    case StageId::kStep:
      return true;
    default:
      return false;
  }
}

void CollectStops(Timeline& timeline) {
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    const Lane& lane = timeline.lanes[l];
    for (std::uint32_t v = 0; v < lane.levels.size(); ++v) {
      const Level& level = lane.levels[v];
      for (std::uint32_t i = 0; i < level.size(); ++i) {
        if (!MovesBatch(level.stage(i)) || !level.detail[i].key().valid()) continue;
        timeline.stops.push_back({level.detail[i].key(), {l, v, i}, level.start[i]});
      }
    }
  }
  std::sort(timeline.stops.begin(), timeline.stops.end(),
            [](const BatchStop& a, const BatchStop& b) {
              return std::pair(a.key, a.start) < std::pair(b.key, b.start);
            });
}

void CollectEpochs(const traces::Trace& trace, Timeline& timeline) {
  std::vector<Generation> found;
  for (const BatchStop& stop : timeline.stops) {
    if (found.empty() || found.back() != stop.key.generation) found.push_back(stop.key.generation);
  }
  timeline.epochs = Epochs(trace, std::move(found));
}

// Collects the stages in the order in which data passes them.
void CollectStages(Timeline& timeline) {
  constexpr std::array kOrder = {
      StageId::kFetch,    StageId::kSample,  StageId::kRead, StageId::kDecode,  StageId::kAugment,
      StageId::kTokenize, StageId::kCollate, StageId::kPut,  StageId::kIdle,    StageId::kWait,
      StageId::kGet,      StageId::kPin,     StageId::kH2d,  StageId::kCopy,    StageId::kStep,
      StageId::kKernel,   StageId::kCall,    StageId::kSync, StageId::kStartup, StageId::kMark,
      StageId::kBlock};
  std::array<std::uint64_t, wire::kStageCount> count{};
  for (std::size_t s = 0; s < count.size(); ++s) count[s] = timeline.totals[s].count;
  for (const Lane& lane : timeline.lanes) {
    for (const Level& level : lane.levels) {
      if (level.totals.empty()) continue;  // the level belongs to a preview
      for (std::size_t s = 0; s < count.size(); ++s) count[s] += level.totals.back().count[s];
    }
  }
  for (const StageId stage : kOrder) {
    if (count[static_cast<std::size_t>(stage)] > 0) timeline.stages.push_back(stage);
  }
}

// Collects names and paths with characters beyond ASCII. A font is made with these characters.
void CollectUnusual(const traces::Trace& trace, Timeline& timeline) {
  constexpr std::size_t kMost = 64 * 1024;
  std::unordered_set<std::uint32_t> seen;
  const auto take = [&](StringId id) {
    if (id.value == 0 || timeline.unusual_text.size() > kMost || !seen.insert(id.value).second) {
      return;
    }
    const std::string_view text = trace.String(id);
    const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (!std::all_of(text.begin(), text.end(), plain)) timeline.unusual_text += text;
  };
  for (const Lane& lane : timeline.lanes) {
    for (const Level& level : lane.levels) {
      StringId name;
      StringId object;
      for (const SpanDetail& detail : level.detail) {
        if (detail.name != name) take(detail.name);
        if (detail.object != object) take(detail.object);
        name = detail.name;
        object = detail.object;
      }
    }
  }
}

Group MakeGroup(const traces::ProcessInfo& info, std::uint32_t process) {
  Group group;
  group.process = ProcessId{process};
  group.kind = info.role == wire::kRoleConsumer ? GroupKind::kConsumer
               : info.role == wire::kRoleWorker ? GroupKind::kWorker
                                                : GroupKind::kOther;
  group.worker_id = info.worker_id;
  group.rank = info.rank;
  group.pid = info.pid;
  group.name = info.comm;
  return group;
}

void MakeGroups(std::span<const traces::ProcessInfo> processes,
                std::span<const traces::ThreadInfo> threads, Timeline& timeline) {
  std::vector<std::vector<std::size_t>> lanes(processes.size());
  for (std::size_t l = 0; l < timeline.lanes.size(); ++l) {
    lanes[threads[timeline.lanes[l].thread.value].process.value].push_back(l);
  }
  for (std::uint32_t p = 0; p < processes.size(); ++p) {
    if (lanes[p].empty()) continue;
    timeline.groups.push_back(MakeGroup(processes[p], p));
    timeline.groups.back().lanes = std::move(lanes[p]);
  }
  std::stable_sort(
      timeline.groups.begin(), timeline.groups.end(), [](const Group& a, const Group& b) {
        return std::tuple(a.rank, a.kind, a.worker_id) < std::tuple(b.rank, b.kind, b.worker_id);
      });
  TellLanesApart(timeline);
}

// Makes a lane without its spans.
Lane MakeLane(std::span<const traces::ProcessInfo> processes,
              std::span<const traces::ThreadInfo> threads, ThreadId thread) {
  const traces::ThreadInfo& info = threads[thread.value];
  Lane lane;
  lane.thread = thread;
  lane.tid = info.tid;
  lane.label = info.name;
  lane.main = processes[info.process.value].pid == info.tid;
  if (wire::IsDeviceLane(info.tid)) {
    lane.stream = {wire::DeviceOfLane(info.tid), wire::StreamOfLane(info.tid)};
  }
  return lane;
}

}  // namespace

std::size_t Level::FirstEndingAfter(std::int64_t at) const {
  const auto it = std::upper_bound(start.begin(), start.end(), at);
  auto index = static_cast<std::size_t>(it - start.begin());
  if (index > 0 && end(index - 1) > at) --index;
  return index;
}

std::size_t Level::FirstStartingAt(std::int64_t at) const {
  return static_cast<std::size_t>(std::lower_bound(start.begin(), start.end(), at) - start.begin());
}

const Group* Timeline::GroupOf(std::uint32_t lane) const {
  const auto group = std::find_if(groups.begin(), groups.end(), [lane](const Group& one) {
    return std::find(one.lanes.begin(), one.lanes.end(), lane) != one.lanes.end();
  });
  return group == groups.end() ? nullptr : &*group;
}

std::vector<std::uint8_t> Timeline::ColoursOf(StageId stage) const {
  constexpr std::size_t kMost = 3;
  std::vector<std::uint8_t> colours;
  for (const NamedPart& part : names) {
    const bool known = std::find(colours.begin(), colours.end(), part.colour) != colours.end();
    if (part.stage == stage && !known && colours.size() < kMost) colours.push_back(part.colour);
  }
  return colours;
}

SpanDetail DetailOf(const Span& span) {
  SpanDetail detail;
  detail.batch = span.batch.index;
  detail.generation = span.batch.generation;
  detail.name = span.name;
  detail.object = span.object;
  const bool fits = span.sample >= 0 && span.sample < SpanDetail::kNoSample;
  detail.sample = fits ? static_cast<std::uint32_t>(span.sample) : SpanDetail::kNoSample;
  detail.bytes = static_cast<float>(span.bytes.value);
  detail.cpu = span.cpu.value < 0 ? -1.0F : static_cast<float>(Seconds(span.cpu));
  detail.flags = span.flags;
  // In a trace of another tool, `busy` is set without the flag of the record.
  if (span.busy.value >= 0) detail.flags = static_cast<std::uint8_t>(span.flags | wire::kFlagBusy);
  return detail;
}

std::int64_t DrawnLength(const Span& span) {
  const std::int64_t length = std::max<std::int64_t>(span.duration.value, 0);
  if (span.stage != StageId::kRead || span.busy.value < 0) return length;
  return std::min(span.busy.value, length);
}

std::optional<Timeline> BuildTimeline(const traces::Trace& trace, const BuildControl& control) {
  Timeline timeline;
  timeline.begin = trace.begin().value;
  timeline.length = std::max<std::int64_t>(1, trace.end().value - trace.begin().value);
  const double whole = static_cast<double>(std::max<std::uint64_t>(1, trace.span_count()));
  analyzer::NamedRanges ranges(trace);
  NameColours colours(trace);
  const analyzer::Consumers consumers(trace.processes());
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    const traces::ThreadInfo& info = trace.threads()[t];
    if (info.spans == 0 || info.process.value >= trace.processes().size()) continue;
    std::vector<RawSpan> spans;
    spans.reserve(info.spans);
    trace.ForEachBlock(ThreadId{t}, [&](std::span<const Span> block) {
      if (control.stop.stop_requested()) return;
      for (const Span& span : block) {
        spans.push_back(Raw(span, ranges.StageOf(span), timeline.begin));
        RawSpan& raw = spans.back();
        raw.detail.colour = colours.Add(raw.stage, raw.detail.name, raw.length);
      }
      if (control.progress != nullptr) {
        const double done = static_cast<double>(timeline.spans + spans.size()) / whole;
        control.progress->store(static_cast<float>(0.98 * done), std::memory_order_relaxed);
      }
    });
    if (control.stop.stop_requested()) return std::nullopt;
    if (spans.empty()) continue;
    timeline.spans += spans.size();
    AddDerivedSteps(spans);
    Lane lane = MakeLane(trace.processes(), trace.threads(), ThreadId{t});
    lane.consumer = consumers.Of(info.process);
    lane.spans = spans.size();
    LevelBuilder builder(lane);
    for (const RawSpan& span : spans) builder.Add(span);
    for (Level& level : lane.levels) {
      FillTotals(level);
      BuildDensity(level, timeline.length);
      FillColours(level, timeline.length);
    }
    lane.role = RoleOf(lane);
    timeline.lanes.push_back(std::move(lane));
  }
  CollectStops(timeline);
  CollectEpochs(trace, timeline);
  CollectStages(timeline);
  timeline.names = colours.Longest();
  CollectUnusual(trace, timeline);
  MakeGroups(trace.processes(), trace.threads(), timeline);
  TellWorkersApart(timeline);
  if (control.progress != nullptr) control.progress->store(1, std::memory_order_relaxed);
  return timeline;
}

Timeline MakeTimeline(const traces::Preview& preview) {
  Timeline timeline;
  timeline.preview = true;
  timeline.begin = preview.begin.value;
  timeline.length = preview.length();
  timeline.spans = preview.spans;
  for (const traces::PreviewThread& thread : preview.threads) {
    const traces::ThreadInfo& info = preview.thread_infos[thread.thread.value];
    if (info.process.value >= preview.processes.size()) continue;
    Lane lane = MakeLane(preview.processes, preview.thread_infos, thread.thread);
    for (const traces::PreviewLevel& from : thread.levels) {
      lane.spans += from.spans;
      lane.levels.emplace_back();
      FillDensity(lane.levels.back(), from.cells);
    }
    for (std::size_t s = 0; s < timeline.totals.size(); ++s) {
      timeline.totals[s].count += thread.totals[s].count;
      timeline.totals[s].time += thread.totals[s].time;
    }
    timeline.lanes.push_back(std::move(lane));
  }
  CollectStages(timeline);
  MakeGroups(preview.processes, preview.thread_infos, timeline);
  return timeline;
}

}  // namespace penstock::gui
