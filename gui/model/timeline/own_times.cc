// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/own_times.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/model/named_ranges.h"
#include "analyzer/report/stage_wholes.h"
#include "traces/order.h"

namespace penstock::gui {
namespace {

using traces::Counted;
using traces::Span;
using traces::StageId;

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// Whether the spans of a stage nest. Ranges of the program and spans of devices do not nest with
// other spans; their times are simply added up.
bool Nests(StageId stage) {
  return stage != StageId::kMark && stage != StageId::kKernel && stage != StageId::kCopy &&
         stage != StageId::kCall;
}

// Marks a span that is not whole. No span of the sweep has it by itself: unfinished spans are left
// out.
constexpr std::uint8_t kCutFlag = wire::kFlagUnfinished;

// The part of a span in `range`, cut as SliceTrace cuts it.
Span Cut(Span span, TimeRange range) {
  const std::int64_t from = std::max(span.start.value, range.from);
  const std::int64_t to = std::min(span.end().value, range.to);
  if (from == span.start.value && to == span.end().value) return span;
  const double share = static_cast<double>(to - from) /
                       static_cast<double>(std::max<std::int64_t>(span.duration.value, 1));
  const auto part = [share](TimeNs& value) {
    if (value.value < 0) return;
    value.value = static_cast<std::int64_t>(share * static_cast<double>(value.value));
  };
  part(span.cpu);
  part(span.busy);
  span.start.value = from;
  span.duration.value = to - from;
  span.flags |= kCutFlag;
  return span;
}

}  // namespace

// Adds counted spans up as analyzer::StageTable does.
class OwnTimes::Totalled : public traces::NestingSink {
 public:
  explicit Totalled(const OwnTimes& times) : times_(times) {}

  void OnCounted(const Counted& counted) override {
    // When a sweep finishes, it counts an image that is still open as a call of its own.
    undecoded = undecoded || (!counted.opening && times_.Opens(*counted.span));
    const auto stage = static_cast<std::size_t>(counted.stage);
    const bool queued = counted.synthetic && counted.stage == StageId::kRead;
    if (!queued && !counted.outermost) return;
    totals.time[stage] += counted.wall;
    if (!queued && !counted.opening) ++totals.count[stage];
    if ((counted.span->flags & kCutFlag) == 0) return;
    cut.time[stage] += counted.wall;
    if (!queued && !counted.opening) ++cut.count[stage];
  }
  Totals totals;
  Totals cut;              // of these, the spans that Cut() has shortened
  bool undecoded = false;  // an image was opened, and not decoded

 private:
  const OwnTimes& times_;
};

// Collects the parts of one span, and the named transforms inside it.
class OwnTimes::PartsFound : public traces::NestingSink {
 public:
  PartsFound(StageId stage, std::int64_t start, std::int64_t end)
      : stage_(stage), start_(start), end_(end) {}

  void OnCounted(const Counted& counted) override {
    if (counted.synthetic || counted.span->start.value < start_ ||
        counted.span->end().value > end_) {
      return;
    }
    if (counted.stage == StageId::kAugment) named_ += counted.wall;
    const bool this_one = counted.stage == stage_ && counted.span->start.value == start_ &&
                          counted.span->end().value == end_;
    if (!this_one || !counted.outermost) return;
    const traces::Inside& inside = counted.inside;
    TimeParts parts;
    parts.whole = counted.wall;
    parts.read = inside.read;
    parts.decode = inside.decode;
    parts.tokenize = inside.tokenize;
    parts.named = std::min(named_, inside.augment);
    parts.rest = inside.augment - parts.named;
    parts.collate = inside.collate;
    found = parts;
  }
  std::optional<TimeParts> found;

 private:
  StageId stage_;
  std::int64_t start_;
  std::int64_t end_;
  std::int64_t named_ = 0;
};

std::shared_ptr<const OwnTimes> OwnTimes::Build(const traces::Trace& trace,
                                                std::shared_ptr<const Timeline> timeline,
                                                const analyzer::RunModel& run,
                                                const std::stop_token& stop) {
  auto made = std::make_shared<OwnTimes>();
  made->timeline_ = std::move(timeline);
  made->threads_.resize(made->timeline_->lanes.size());
  for (std::size_t lane = 0; lane < made->threads_.size(); ++lane) {
    made->BuildThread(trace, lane, stop);
    if (stop.stop_requested()) return nullptr;
  }
  if (analyzer::DerivesSteps(run)) {
    made->derives_steps_ = true;
    made->steps_ = LoopSteps::Of(run, made->timeline_->begin);
  }
  return made;
}

void OwnTimes::BuildThread(const traces::Trace& trace, std::size_t lane,
                           const std::stop_token& stop) {
  Thread& thread = threads_[lane];
  analyzer::NamedRanges ranges(trace);
  Totalled sink(*this);
  std::optional<traces::NestingSweep> sweep(sink);
  const std::int64_t begin = trace.begin().value;
  std::int64_t latest_end = kFirst;  // of the spans so far
  std::int64_t last_start = kFirst;
  std::size_t since = 0;  // spans since the last moment
  // Makes a moment at `start`, where no span is open. If an image is open there, it may be decoded
  // later, so no moment is made. `forgets`: the sweep forgets open images at `start`, so a moment
  // is made in any case.
  const auto try_moment = [&](std::int64_t start, bool forgets) {
    const Totals kept = sink.totals;
    traces::NestingSweep ended = *sweep;
    sink.undecoded = false;
    ended.Finish();
    if (sink.undecoded && !forgets) {
      sink.totals = kept;
      return;
    }
    sweep.emplace(sink);
    thread.moments.push_back({start, sink.totals});
    since = 0;
  };
  thread.moments.push_back({kFirst, {}});
  const auto add = [&](const Span& span) {
    const StageId stage = ranges.StageOf(span);
    if (!Nests(stage)) return;
    if (static_cast<std::size_t>(stage) >= wire::kStageCount) {
      thread.later_stages = true;  // the report leaves them out
      return;
    }
    // The length of an unfinished span is not known, and the report leaves it out.
    if ((span.flags & wire::kFlagUnfinished) != 0) return;
    const std::int64_t start = span.start.value - begin;
    const std::int64_t length = std::max<std::int64_t>(span.duration.value, 0);
    const bool begins = stage == StageId::kFetch || stage == StageId::kSample;
    const bool apart = start >= latest_end && start > last_start;
    // A try copies the sweep. The number of tries in each stride is limited, because an image may
    // stay open for the rest of the run.
    const bool due = since >= kStride && (begins || since % kStride < kTries);
    if (due && apart) try_moment(start, begins);
    const bool opens = ranges.Opens(span);
    if (opens && std::find(opens_.begin(), opens_.end(), span.name) == opens_.end()) {
      opens_.push_back(span.name);
    }
    sweep->Add(ranges.AsNamed(span), opens);
    ++since;
    latest_end = std::max(latest_end, start + length);
    last_start = start;
    const std::int64_t drawn = DrawnLength(span);
    if (drawn < length) thread.reads.push_back({start, drawn, length});
  };
  trace.ForEachBlock(timeline_->lanes[lane].thread, [&](std::span<const Span> block) {
    if (stop.stop_requested()) return;
    for (const Span& span : block) add(span);
  });
  sweep->Finish();
  thread.moments.push_back({kLast, sink.totals});
  std::sort(thread.reads.begin(), thread.reads.end());
  for (const Level& level : timeline_->lanes[lane].levels) AddUnfinished(level);
}

// Reads the unfinished spans from the timeline, because Aggregate() counts only spans in it.
void OwnTimes::AddUnfinished(const Level& level) {
  for (std::size_t i = 0; i < level.size(); ++i) {
    const bool unfinished = (level.detail[i].flags & wire::kFlagUnfinished) != 0;
    if (!unfinished || Nests(level.stage(i))) continue;
    unfinished_.push_back({level.stage(i), {level.start[i], level.end(i)}});
  }
}

// The nesting spans of a thread that begin in `range`, as they were recorded, except that their
// times count from the begin of the trace.
std::vector<Span> OwnTimes::SpansOf(std::size_t lane, TimeRange range) const {
  std::vector<Span> spans;
  for (const Level& level : timeline_->lanes[lane].levels) {
    const std::size_t last = range.to == kLast ? level.size() : level.FirstStartingAt(range.to);
    for (std::size_t i = level.FirstStartingAt(range.from); i < last; ++i) {
      const SpanDetail& detail = level.detail[i];
      const StageId stage = level.stage(i);
      constexpr int kLeftOut = SpanDetail::kDerived | wire::kFlagUnfinished;
      if (!Nests(stage) || (detail.flags & kLeftOut) != 0) continue;
      if (stage == StageId::kNone && threads_[lane].later_stages) continue;
      Span span;
      span.start = TimeNs{level.start[i]};
      span.duration = TimeNs{level.length(i)};
      span.stage = stage;
      span.name = detail.name;
      span.flags = detail.flags;
      if (detail.cpu >= 0) {
        span.cpu = TimeNs{static_cast<std::int64_t>(static_cast<double>(detail.cpu) * 1e9)};
      }
      if (stage == StageId::kRead && (detail.flags & wire::kFlagBusy) != 0) {
        span.busy = span.duration;
        const auto& reads = threads_[lane].reads;
        const auto found = std::lower_bound(reads.begin(), reads.end(),
                                            LongRead{level.start[i], level.length(i), 0});
        const bool longer = found != reads.end() && found->start == level.start[i] &&
                            found->drawn == level.length(i);
        if (longer) span.duration = TimeNs{found->length};
      }
      spans.push_back(span);
    }
  }
  return spans;
}

void OwnTimes::Sweep(const std::vector<Span>& spans, traces::NestingSink& sink) const {
  traces::NestingSweep sweep(sink);
  for (const Span& span : spans) sweep.Add(span, Opens(span));
  sweep.Finish();
}

bool OwnTimes::Opens(const Span& span) const {
  return span.stage == StageId::kDecode &&
         std::find(opens_.begin(), opens_.end(), span.name) != opens_.end();
}

void OwnTimes::AddThread(std::size_t lane, TimeRange range, Sums& sums) const {
  const std::vector<Moment>& moments = threads_[lane].moments;
  const auto add = [&](const Totals& totals, bool plus) {
    for (std::size_t s = 0; s < wire::kStageCount; ++s) {
      sums[s].count += plus ? totals.count[s] : 0ULL - totals.count[s];
      sums[s].time += plus ? totals.time[s] : -totals.time[s];
    }
  };
  // Counts the spans in `part`, which lies within one section. `since`: the moment at which that
  // section begins.
  const auto count = [&](std::int64_t since, TimeRange part) {
    std::vector<Span> spans = SpansOf(lane, {since, part.to});
    std::erase_if(spans, [&](const Span& span) {
      return span.start.value < part.from && span.end().value <= part.from;
    });
    for (Span& span : spans) span = Cut(span, part);
    std::stable_sort(spans.begin(), spans.end(), traces::StartsBefore);
    Totalled sink(*this);
    Sweep(spans, sink);
    add(sink.totals, true);
    for (std::size_t s = 0; s < wire::kStageCount; ++s) {
      sums[s].cut += sink.cut.count[s];
      sums[s].cut_time += sink.cut.time[s];
    }
  };
  // The first and the last moment in the range. If `first` lies after `last`, the range holds no
  // moment.
  const auto earlier = [](const Moment& moment, std::int64_t at) { return moment.at < at; };
  const auto first = std::lower_bound(moments.begin(), moments.end(), range.from, earlier);
  const auto later = [](std::int64_t at, const Moment& moment) { return at < moment.at; };
  const auto last = std::upper_bound(moments.begin(), moments.end(), range.to, later) - 1;
  if (first > last) return count(last->at, range);
  if (first->at > range.from) count((first - 1)->at, {range.from, first->at});
  add(last->before, true);
  add(first->before, false);
  if (last->at < range.to) count(last->at, {last->at, range.to});
}

std::vector<StageSum> OwnTimes::Of(TimeRange range, const std::stop_token& stop) const {
  std::vector<StageSum> found;
  if (range.empty()) return found;
  Sums sums;
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s].stage = static_cast<StageId>(s);
  // If the range lasts until the end of the run, it includes spans at the end itself.
  const TimeRange open{range.from <= 0 ? kFirst : range.from,
                       range.to >= timeline_->length ? kLast : range.to};
  for (std::size_t lane = 0; lane < threads_.size(); ++lane) {
    if (stop.stop_requested()) return found;
    AddThread(lane, open, sums);
  }
  const std::int64_t past = range.to >= timeline_->length ? timeline_->length + 1 : range.to;
  for (const StageSum& sum : Aggregate(*timeline_, {range.from, past})) {
    if (!Nests(sum.stage)) sums[static_cast<std::size_t>(sum.stage)] = sum;
  }
  for (const Unfinished& one : unfinished_) {
    StageSum& sum = sums[static_cast<std::size_t>(one.stage)];
    if (one.range.from >= past || one.range.to <= range.from) continue;
    const std::int64_t time = std::min(one.range.to, past) - std::max(one.range.from, range.from);
    --sum.count;
    sum.time -= time;
    if (one.range.from >= range.from && one.range.to <= past) continue;
    --sum.cut;
    sum.cut_time -= time;
  }
  if (derives_steps_) {
    StageSum& sum = sums[static_cast<std::size_t>(StageId::kStep)] = {StageId::kStep};
    for (const LoopSteps& steps : steps_) steps.AddTo(sum, range);
  }
  for (const StageSum& sum : sums) {
    if (sum.count > 0) found.push_back(sum);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StageSum& a, const StageSum& b) { return a.time > b.time; });
  return found;
}

std::optional<TimeParts> OwnTimes::PartsOf(SpanRef span) const {
  const StageId stage = timeline_->stage(span);
  if (stage != StageId::kSample && stage != StageId::kFetch) return std::nullopt;
  const std::int64_t start = timeline_->start(span);
  const std::int64_t end = timeline_->end(span);
  const std::vector<Moment>& moments = threads_[span.lane].moments;
  const auto after = [](std::int64_t at, const Moment& moment) { return at < moment.at; };
  const auto moment = std::upper_bound(moments.begin(), moments.end(), start, after) - 1;
  std::vector<Span> spans = SpansOf(span.lane, {moment->at, std::max(end, start + 1)});
  std::stable_sort(spans.begin(), spans.end(), traces::StartsBefore);
  PartsFound sink(stage, start, end);
  Sweep(spans, sink);
  return sink.found;
}

}  // namespace penstock::gui
