// SPDX-License-Identifier: Apache-2.0
//
// A Trace over plain containers.
#include <algorithm>
#include <limits>
#include <utility>

#include "traces/order.h"
#include "traces/trace.h"

namespace penstock::traces {
namespace {

constexpr TimeNs kAfterAll{std::numeric_limits<std::int64_t>::max()};
constexpr TimeNs kBeforeAll{std::numeric_limits<std::int64_t>::min()};

class MemoryTrace final : public Trace {
 public:
  explicit MemoryTrace(TraceData data) : data_(std::move(data)) {
    data_.spans.resize(std::max(data_.spans.size(), data_.threads.size()));
    data_.threads.resize(data_.spans.size());
    for (ThreadInfo& thread : data_.threads) {
      thread.spans = 0;
      thread.first = kAfterAll;
      thread.last = kBeforeAll;
    }
    SortSpans();
    SortEvents();
    SortFollowed(data_.unit_rows);
    SortFollowed(data_.call_rows);
    begin_ = kAfterAll;
    end_ = kBeforeAll;
    for (ThreadInfo& thread : data_.threads) {
      if (thread.first == kAfterAll) {
        thread.first = thread.last = TimeNs{};
        continue;
      }
      begin_ = std::min(begin_, thread.first);
      end_ = std::max(end_, thread.last);
    }
    if (begin_ == kAfterAll) {
      begin_ = end_ = TimeNs{};
    }
  }

  const std::map<std::string, std::string>& facts() const override { return data_.facts; }
  std::span<const ProcessInfo> processes() const override { return data_.processes; }
  std::span<const ThreadInfo> threads() const override { return data_.threads; }
  std::span<const Event> events() const override { return data_.events; }
  std::span<const CounterSample> counters() const override { return data_.counters; }
  std::span<const UnitRow> unit_rows() const override { return data_.unit_rows; }
  std::span<const CallRow> call_rows() const override { return data_.call_rows; }
  const Losses& losses() const override { return data_.losses; }
  std::string_view String(StringId id) const override {
    return id.value < data_.strings.size() ? std::string_view(data_.strings[id.value])
                                           : std::string_view();
  }
  std::uint64_t span_count() const override { return span_count_; }
  TimeNs begin() const override { return begin_; }
  TimeNs end() const override { return end_; }
  TimeNs realtime_offset() const override { return data_.realtime_offset; }

  void ForEachBlock(ThreadId thread,
                    const std::function<void(std::span<const Span>)>& visit) const override {
    if (thread.value < data_.spans.size() && !data_.spans[thread.value].empty()) {
      visit(data_.spans[thread.value]);
    }
  }

 private:
  void SortSpans() {
    for (std::size_t i = 0; i < data_.spans.size(); ++i) {
      std::vector<Span>& spans = data_.spans[i];
      if (!std::is_sorted(spans.begin(), spans.end(), StartsBefore)) {
        std::stable_sort(spans.begin(), spans.end(), StartsBefore);
      }
      ThreadInfo& thread = data_.threads[i];
      thread.spans = spans.size();
      span_count_ += spans.size();
      for (const Span& span : spans) {
        thread.first = std::min(thread.first, span.start);
        thread.last = std::max(thread.last, span.end());
      }
    }
  }

  void SortEvents() {
    std::stable_sort(data_.events.begin(), data_.events.end(), AtBefore());
    std::stable_sort(data_.counters.begin(), data_.counters.end(), AtBefore());
    for (const Event& event : data_.events) {
      if (event.thread.value < data_.threads.size()) {
        ThreadInfo& thread = data_.threads[event.thread.value];
        thread.first = std::min(thread.first, event.at);
        thread.last = std::max(thread.last, event.at);
      }
    }
  }

  template <class Row>
  void SortFollowed(std::vector<Row>& rows) {
    std::erase_if(rows,
                  [this](const Row& row) { return row.thread.value >= data_.threads.size(); });
    std::stable_sort(rows.begin(), rows.end(), UnitBefore());
  }

  TraceData data_;
  std::uint64_t span_count_ = 0;
  TimeNs begin_;
  TimeNs end_;
};

}  // namespace

StringId TraceData::Intern(std::string_view text) {
  const auto found = std::find(strings.begin(), strings.end(), text);
  if (found != strings.end()) {
    return StringId{static_cast<std::uint32_t>(found - strings.begin())};
  }
  strings.emplace_back(text);
  return StringId{static_cast<std::uint32_t>(strings.size() - 1)};
}

std::unique_ptr<Trace> MakeTrace(TraceData data) {
  return std::make_unique<MemoryTrace>(std::move(data));
}

}  // namespace penstock::traces
