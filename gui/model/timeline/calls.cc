// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/calls.h"

#include <algorithm>

#include "analyzer/model/named_ranges.h"

namespace penstock::gui {
namespace {

class Forward : public traces::NestingSink {
 public:
  explicit Forward(const std::function<void(ThreadId, const traces::Counted&)>& visit)
      : visit_(visit) {}
  void Begin(ThreadId thread) { thread_ = thread; }
  void OnCounted(const traces::Counted& counted) override { visit_(thread_, counted); }

 private:
  const std::function<void(ThreadId, const traces::Counted&)>& visit_;
  ThreadId thread_;
};

}  // namespace

double Extent::from() const {
  return range ? static_cast<double>(range->from) * 1e-9 : 0;
}

double Extent::to() const {
  if (range) return static_cast<double>(range->to) * 1e-9;
  return trace != nullptr ? Seconds(trace->end() - trace->begin()) : 0;
}

void ForEachCall(const Extent& extent, const std::stop_token& stop,
                 const std::function<void(ThreadId, const traces::Counted&)>& visit) {
  const traces::Trace& trace = *extent.trace;
  Forward sink(visit);
  analyzer::NamedRanges ranges(trace);
  for (std::uint32_t t = 0; t < trace.threads().size(); ++t) {
    sink.Begin(ThreadId{t});
    traces::NestingSweep sweep(sink);
    trace.ForEachBlock(ThreadId{t}, [&](std::span<const traces::Span> block) {
      if (stop.stop_requested()) return;
      for (const traces::Span& span : block) {
        if ((span.flags & wire::kFlagUnfinished) != 0) continue;  // its length is not known
        if (extent.Holds(span.start.value - trace.begin().value)) {
          sweep.Add(ranges.AsNamed(span), ranges.Opens(span));
        }
      }
    });
    sweep.Finish();
  }
}

void FileAtHand::Add(ThreadId thread, const traces::Counted& counted) {
  if (thread != thread_) *this = {};
  thread_ = thread;
  decoded_ = decoded_ || counted.stage == traces::StageId::kDecode;
  const traces::Span& span = *counted.span;
  const bool reads = counted.stage == traces::StageId::kRead && !counted.synthetic;
  if (!reads || span.object.value == 0) return;
  const bool first = file_.value == 0 || decoded_ || span.sample != sample_;
  several_ = !first && (several_ || span.object != file_);
  file_ = span.object;
  sample_ = span.sample;
  decoded_ = false;
}

StringId FileAtHand::Of(const traces::Counted& counted) const {
  if (counted.stage != traces::StageId::kDecode) return {};
  const traces::Span& span = *counted.span;
  if (span.object.value != 0) return span.object;
  const bool same =
      span.sample == wire::kNoSample || sample_ == wire::kNoSample || span.sample == sample_;
  return same && !several_ ? file_ : StringId{};
}

bool FirstSamples::Hold(ThreadId thread, std::int64_t start) {
  const ProcessId process = trace_.threads()[thread.value].process;
  auto found = first_.find(process.value);
  if (found == first_.end()) found = first_.emplace(process.value, FirstOf(process)).first;
  const auto& [of, range] = found->second;
  return of == thread && start >= range.from && start < range.to;
}

FirstSamples::First FirstSamples::FirstOf(ProcessId process) const {
  First first{{}, {0, 0}};
  for (std::uint32_t t = 0; t < trace_.threads().size(); ++t) {
    if (trace_.threads()[t].process != process) continue;
    bool found = false;
    trace_.ForEachBlock(ThreadId{t}, [&](std::span<const traces::Span> block) {
      for (const traces::Span& span : block) {
        if (found) return;
        if (span.stage != traces::StageId::kSample) continue;
        found = true;
        const std::int64_t from = span.start.value - trace_.begin().value;
        const bool earlier = first.range.to <= first.range.from || from < first.range.from;
        if (earlier)
          first = {ThreadId{t}, {from, from + std::max<std::int64_t>(1, DrawnLength(span))}};
      }
    });
  }
  return first;
}

Call CallOf(const traces::Trace& trace, ThreadId thread, const traces::Counted& counted) {
  const traces::Span& span = *counted.span;
  Call call;
  call.thread = thread;
  call.start = span.start.value - trace.begin().value;
  call.length = DrawnLength(span);
  call.wall = counted.wall;
  call.stage = counted.stage;
  call.detail = DetailOf(span);
  return call;
}

std::optional<SpanRef> FindSpan(const Timeline& timeline, const Call& call) {
  for (std::uint32_t l = 0; l < timeline.lanes.size(); ++l) {
    if (timeline.lanes[l].thread.value != call.thread.value) continue;
    for (std::uint32_t v = 0; v < timeline.lanes[l].levels.size(); ++v) {
      const Level& level = timeline.lanes[l].levels[v];
      for (std::size_t i = level.FirstStartingAt(call.start);
           i < level.size() && level.start[i] == call.start; ++i) {
        const bool same =
            level.length(i) == call.length && level.detail[i].name == call.detail.name;
        if (same) return SpanRef{l, v, static_cast<std::uint32_t>(i)};
      }
    }
  }
  return std::nullopt;
}

bool IsOfBatchOf(const Timeline& timeline, const Call& call, SpanRef span) {
  const Lane& own = timeline.lanes[span.lane];
  const traces::BatchKey key = timeline.detail(span).key();
  if (!key.valid()) return own.thread == call.thread && timeline.start(span) == call.start;
  return call.detail.key() == key &&
         std::any_of(timeline.lanes.begin(), timeline.lanes.end(), [&](const Lane& lane) {
           return lane.thread == call.thread && lane.consumer == own.consumer;
         });
}

}  // namespace penstock::gui
