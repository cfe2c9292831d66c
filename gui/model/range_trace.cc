// SPDX-License-Identifier: Apache-2.0
#include "gui/model/range_trace.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "traces/order.h"

namespace penstock::gui {
namespace {

using traces::Span;

TimeNs Part(TimeNs value, double share) {
  return value.value < 0
             ? value
             : TimeNs{static_cast<std::int64_t>(share * static_cast<double>(value.value))};
}

class Slice final : public traces::Trace {
 public:
  Slice(std::shared_ptr<const traces::Trace> whole, TimeRange range, std::stop_token stop)
      : whole_(std::move(whole)),
        stop_(std::move(stop)),
        begin_(whole_->begin() + TimeNs{range.from}),
        end_(whole_->begin() + TimeNs{range.to}),
        // If the interval lasts until the end of the run, it includes events at the end itself.
        past_(end_ >= whole_->end() ? end_ + TimeNs{1} : end_) {
    TakeEvents();
    TakeCounters();
    CountSpans();
  }

  const std::map<std::string, std::string>& facts() const override { return whole_->facts(); }
  std::span<const traces::ProcessInfo> processes() const override { return whole_->processes(); }
  std::span<const traces::ThreadInfo> threads() const override { return threads_; }
  std::span<const traces::Event> events() const override { return events_; }
  std::span<const traces::CounterSample> counters() const override { return counters_; }
  // The units that begin in the range, uncut.
  std::span<const traces::UnitRow> unit_rows() const override {
    return Within(whole_->unit_rows());
  }
  std::span<const traces::CallRow> call_rows() const override {
    return Within(whole_->call_rows());
  }
  const traces::Losses& losses() const override { return whole_->losses(); }
  std::string_view String(StringId id) const override { return whole_->String(id); }
  std::uint64_t span_count() const override { return span_count_; }
  TimeNs begin() const override { return begin_; }
  TimeNs end() const override { return end_; }
  TimeNs realtime_offset() const override { return whole_->realtime_offset(); }

  void ForEachBlock(ThreadId thread,
                    const std::function<void(std::span<const Span>)>& visit) const override {
    // All spans that are cut at the begin start at the same moment. They are sorted again, the
    // longest first.
    std::vector<Span> cut;
    std::vector<Span> block;
    const auto flush = [&] {
      std::stable_sort(cut.begin(), cut.end(), traces::StartsBefore);
      if (!cut.empty()) visit(cut);
      cut.clear();
    };
    whole_->ForEachBlock(thread, [&](std::span<const Span> spans) {
      if (stop_.stop_requested() || spans.empty() || spans.front().start >= past_) return;
      block.clear();
      for (const Span& span : spans) {
        if (span.start >= past_) break;
        if (span.start >= begin_) {
          block.push_back(span.end() > end_ ? Cut(span) : span);
        } else if (span.end() > begin_) {
          cut.push_back(Cut(span));
        }
      }
      if (block.empty()) return;
      flush();
      visit(block);
    });
    flush();
  }

 private:
  [[nodiscard]] Span Cut(const Span& span) const {
    Span part = span;
    part.start = std::max(span.start, begin_);
    part.duration = std::min(span.end(), end_) - part.start;
    const auto length = static_cast<double>(std::max<std::int64_t>(span.duration.value, 1));
    const double share = static_cast<double>(part.duration.value) / length;
    part.cpu = Part(span.cpu, share);
    part.busy = Part(span.busy, share);
    part.bytes.value =
        static_cast<decltype(part.bytes.value)>(share * static_cast<double>(span.bytes.value));
    return part;
  }

  template <class Row>
  [[nodiscard]] std::span<const Row> Within(std::span<const Row> all) const {
    const auto before = [](const Row& row, TimeNs at) { return row.at < at; };
    const auto first = std::lower_bound(all.begin(), all.end(), begin_, before);
    const auto last = std::lower_bound(first, all.end(), past_, before);
    return all.subspan(static_cast<std::size_t>(first - all.begin()),
                       static_cast<std::size_t>(last - first));
  }

  void TakeEvents() { events_ = Within(whole_->events()); }

  void TakeCounters() {
    const auto all = whole_->counters();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last_before;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> after;
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::pair key(all[i].name.value, all[i].process.value);
      if (all[i].at < begin_) {
        last_before[key] = i;
      } else if (all[i].at < past_ || !std::exchange(after[key], true)) {
        taken.push_back(i);
      }
    }
    for (const auto& [key, i] : last_before) taken.push_back(i);
    std::sort(taken.begin(), taken.end());
    for (const std::size_t i : taken) counters_.push_back(all[i]);
  }

  void CountSpans() {
    const auto all = whole_->threads();
    threads_.assign(all.begin(), all.end());
    for (traces::ThreadInfo& thread : threads_) {
      thread.spans = 0;
      thread.first = end_;
      thread.last = begin_;
    }
    for (const traces::Event& event : events_) {
      if (event.thread.value >= threads_.size()) continue;
      traces::ThreadInfo& thread = threads_[event.thread.value];
      thread.first = std::min(thread.first, event.at);
      thread.last = std::max(thread.last, event.at);
    }
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      traces::ThreadInfo& thread = threads_[t];
      const bool outside = all[t].first >= past_ || all[t].last < begin_;
      if (!outside) {
        ForEachBlock(ThreadId{t}, [&](std::span<const Span> spans) {
          thread.spans += spans.size();
          for (const Span& span : spans) {
            thread.first = std::min(thread.first, span.start);
            thread.last = std::max(thread.last, span.end());
          }
        });
      }
      if (thread.first > thread.last) thread.first = thread.last = begin_;
      span_count_ += thread.spans;
    }
  }

  std::shared_ptr<const traces::Trace> whole_;
  std::stop_token stop_;
  TimeNs begin_;
  TimeNs end_;
  TimeNs past_;  // the first moment after the range
  std::span<const traces::Event> events_;
  std::vector<traces::CounterSample> counters_;
  std::vector<traces::ThreadInfo> threads_;
  std::uint64_t span_count_ = 0;
};

}  // namespace

std::unique_ptr<traces::Trace> SliceTrace(std::shared_ptr<const traces::Trace> whole,
                                          TimeRange range, std::stop_token stop) {
  return std::make_unique<Slice>(std::move(whole), range, std::move(stop));
}

}  // namespace penstock::gui
