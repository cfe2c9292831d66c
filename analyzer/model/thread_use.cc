// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/thread_use.h"

#include <algorithm>
#include <limits>

#include "analyzer/model/named_ranges.h"
#include "traces/nesting.h"

namespace penstock::analyzer {
namespace {

using traces::Span;
using traces::StageId;

constexpr std::size_t kTimeSlices = 2048;

bool MakesData(StageId stage) {
  return stage == StageId::kRead || stage == StageId::kDecode || stage == StageId::kAugment ||
         stage == StageId::kTokenize || stage == StageId::kSample || stage == StageId::kCollate;
}

struct DataWindow {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
};

DataWindow WindowOfData(const traces::Trace& trace, NamedRanges& ranges) {
  DataWindow window;
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        if (!MakesData(ranges.StageOf(span)) || (span.flags & wire::kFlagUnfinished) != 0) continue;
        window.begin = std::min(window.begin, span.start.value);
        window.end = std::max(window.end, span.end().value);
      }
    });
  }
  return window;
}

class ThreadSlices final : public traces::NestingSink {
 public:
  ThreadSlices(ThreadsUse& use, double per_slice) : use_(use), per_slice_(per_slice) {}

  void Begin(ThreadUse thread) {
    thread_ = std::move(thread);
    any_ = false;
  }
  void End() {
    if (any_) use_.threads.push_back(std::move(thread_));
  }
  // Takes from a span what does not depend on the spans around it. Call it for every span, before
  // the sweep.
  void See(const Span& span) {
    if ((span.flags & wire::kFlagPython) != 0) thread_.python = true;
    if (span.stage != StageId::kBlock) return;
    Spread(thread_.blocked, span, span.duration.value);
    const double at = SliceOf(span.end().value);
    if (at < 0 || at >= kTimeSlices) return;
    if (thread_.waits.empty()) thread_.waits.resize(kTimeSlices);
    ++thread_.waits[static_cast<std::size_t>(at)];
  }

  void OnCounted(const traces::Counted& counted) override {
    if (!counted.outermost) return;
    const bool own = !counted.synthetic;
    if (counted.stage != StageId::kRead && MakesData(counted.stage) &&
        counted.stage != StageId::kSample) {
      Spread(thread_.cpu, *counted.span, counted.cpu);
    }
    if (counted.stage == StageId::kRead) Spread(thread_.read, *counted.span, counted.wall);
    if (counted.stage == StageId::kDecode) {
      Spread(thread_.decode, *counted.span, counted.wall);
      if (own && !counted.opening) Count(use_.decodes, *counted.span);
      if (own && counted.span->bytes.value > 0) Count(use_.pictures, *counted.span);
    }
    if (counted.stage == StageId::kAugment) Spread(thread_.augment, *counted.span, counted.wall);
    if (counted.stage == StageId::kTokenize) Spread(thread_.tokenize, *counted.span, counted.wall);
    if (counted.stage == StageId::kCollate) Spread(thread_.collate, *counted.span, counted.wall);
    if (counted.stage == StageId::kSample && own) Count(use_.samples, *counted.span);
  }

 private:
  [[nodiscard]] double SliceOf(std::int64_t at) const {
    return static_cast<double>(at - use_.begin) / per_slice_;
  }
  void Count(std::vector<std::uint32_t>& counts, const Span& span) const {
    const double at = std::clamp(SliceOf(span.end().value), 0.0, kTimeSlices - 1.0);
    ++counts[static_cast<std::size_t>(at)];
  }
  // Spreads `time` (ns) evenly over the slices of the span. The part outside of all slices is lost.
  void Spread(std::vector<float>& slices, const Span& span, std::int64_t time) {
    const double from = std::max(0.0, SliceOf(span.start.value));
    const double to = std::min<double>(kTimeSlices, SliceOf(span.end().value));
    if (to <= from || time <= 0) return;
    if (slices.empty()) slices.resize(kTimeSlices);
    any_ = true;
    const double whole = SliceOf(span.end().value) - SliceOf(span.start.value);
    const double density = static_cast<double>(time) * 1e-9 / whole;
    for (auto i = static_cast<std::size_t>(from); i < kTimeSlices && static_cast<double>(i) < to;
         ++i) {
      const double low = std::max(from, static_cast<double>(i));
      const double high = std::min(to, static_cast<double>(i) + 1);
      slices[i] += static_cast<float>(density * (high - low));
    }
  }

  ThreadsUse& use_;
  double per_slice_;  // ns
  ThreadUse thread_;
  bool any_ = false;
};

}  // namespace

ThreadsUse MeasureThreads(const traces::Trace& trace) {
  ThreadsUse use;
  NamedRanges ranges(trace);
  const DataWindow window = WindowOfData(trace, ranges);
  if (window.end <= window.begin) return use;
  const double per_slice = static_cast<double>(window.end - window.begin) / kTimeSlices;
  use.begin = window.begin;
  use.slice = per_slice * 1e-9;
  for (auto* counts : {&use.samples, &use.pictures, &use.decodes}) counts->resize(kTimeSlices);
  ThreadSlices slices(use, per_slice);
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const traces::ThreadInfo& info = trace.threads()[i];
    if (info.process.value >= trace.processes().size()) continue;
    ThreadUse thread;
    thread.process = info.process;
    thread.first = info.tid == trace.processes()[info.process.value].pid;
    slices.Begin(std::move(thread));
    traces::NestingSweep sweep(slices);
    trace.ForEachBlock(ThreadId{i}, [&](std::span<const Span> block) {
      for (const Span& span : block) {
        if ((span.flags & wire::kFlagUnfinished) != 0) continue;
        slices.See(span);
        sweep.Add(ranges.AsNamed(span), ranges.Opens(span));
      }
    });
    sweep.Finish();
    slices.End();
  }
  return use;
}

}  // namespace penstock::analyzer
