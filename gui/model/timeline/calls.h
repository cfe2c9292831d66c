// SPDX-License-Identifier: Apache-2.0
//
// Visits the calls of a trace as the report counts them. Nested calls are counted separately, each
// with its own time. A call that had not returned when its process ended is left out. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>

#include "gui/model/timeline/query.h"
#include "gui/model/timeline/timeline.h"
#include "traces/nesting.h"
#include "traces/trace.h"

namespace penstock::gui {

// The part of a trace that a view asks about: all of it, or the calls that begin in a selection.
struct Extent {
  const traces::Trace* trace = nullptr;
  std::optional<TimeRange> range;
  bool operator==(const Extent&) const = default;

  [[nodiscard]] bool Holds(std::int64_t at) const {
    return !range || (at >= range->from && at < range->to);
  }
  // Seconds since the trace began.
  [[nodiscard]] double from() const;
  [[nodiscard]] double to() const;
};

// Calls `visit` for every counted span that begins in the extent, thread by thread. Ends early when
// `stop` is requested. Cost: one pass over the spans.
void ForEachCall(const Extent& extent, const std::stop_token& stop,
                 const std::function<void(ThreadId, const traces::Counted&)>& visit);

// One call, with the properties by which FindSpan() finds its span.
struct Call {
  ThreadId thread;
  std::int64_t start = 0;   // ns since the trace began
  std::int64_t length = 0;  // ns, as drawn in the timeline
  std::int64_t wall = 0;    // ns, as counted in the report
  traces::StageId stage = traces::StageId::kNone;
  SpanDetail detail;
  StringId file;       // the file of its sample; set by FindTail
  bool first = false;  // it is in the first sample of its process; set by FindTail
  // The earlier call that opened the image which this one decodes: part of `wall`. Set by FindTail.
  std::int64_t opened = 0;  // ns
  StringId opener;          // its name
};
// Follows the reads of a thread, to name the file that a decode is of when its span does not. It is
// the file that the thread read last for the same sample. If the thread has read several since it
// decoded, as an image and its label, none is named. Gets all calls in the order of ForEachCall().
class FileAtHand {
 public:
  void Add(ThreadId thread, const traces::Counted& counted);
  // The file of a decode, right after it was added; 0 if not known, and for calls of other stages.
  [[nodiscard]] StringId Of(const traces::Counted& counted) const;

 private:
  ThreadId thread_;
  StringId file_;
  std::int64_t sample_ = wire::kNoSample;
  bool several_ = false;
  bool decoded_ = false;  // since `file_` was read
};

// The first sample that each process makes. The process loads its decoder in it, so a call in it
// may take ten times as long as the same call later. Reads the spans of a process when it is asked
// about the process for the first time.
class FirstSamples {
 public:
  explicit FirstSamples(const traces::Trace& trace) : trace_(trace) {}
  // Whether a call that begins at `start` (ns since the trace began) is in the first sample of its
  // process.
  [[nodiscard]] bool Hold(ThreadId thread, std::int64_t start);

 private:
  struct First {
    ThreadId thread;
    TimeRange range;  // empty: no sample was recorded
  };
  [[nodiscard]] First FirstOf(ProcessId process) const;

  const traces::Trace& trace_;
  std::map<std::uint32_t, First> first_;  // by process
};

[[nodiscard]] Call CallOf(const traces::Trace& trace, ThreadId thread,
                          const traces::Counted& counted);

// The span of a call; nullopt if the timeline does not show it.
[[nodiscard]] std::optional<SpanRef> FindSpan(const Timeline& timeline, const Call& call);

// Whether a call belongs to the batch of a span. Batches of other training processes may have the
// same key. If the span has no batch, whether the call is the span itself.
[[nodiscard]] bool IsOfBatchOf(const Timeline& timeline, const Call& call, SpanRef span);

}  // namespace penstock::gui
