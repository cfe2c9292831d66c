// SPDX-License-Identifier: Apache-2.0
#include "traces/packed/packed_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "traces/order.h"
#include "traces/packed/block_merge.h"
#include "traces/packed/call_codec.h"
#include "traces/packed/decode_budget.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/packed_strings.h"
#include "traces/packed/section.h"
#include "traces/packed/span_tail.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces {
namespace {

using packed::SectionRef;

// Start values for the first and the last time of a thread and of the trace.
constexpr TimeNs kNever{std::numeric_limits<std::int64_t>::max()};
constexpr TimeNs kAlways{std::numeric_limits<std::int64_t>::min()};

bool PlausibleBlock(const packed::SectionHeader& header) {
  return header.items > 0 && header.items <= packed::kSpansPerBlock &&
         header.raw_size >= header.items && header.raw_size <= packed::kMaxSectionBytes &&
         header.first <= header.last && header.first >= -packed::kMaxTime &&
         header.first <= packed::kMaxTime && header.last <= 2 * packed::kMaxTime;
}

class PackedTrace final : public Trace {
 public:
  explicit PackedTrace(MappedFile file) : file_(std::move(file)), strings_(file_) {}

  // Returns the number of usable sections. Needs `path` only to find NAME.part.tail.
  std::size_t Load(const std::filesystem::path& path, const OpenControl& control) {
    std::uint64_t tail_bytes = ~std::uint64_t{0};
    std::span<const std::byte> bytes = file_.bytes();
    if (control.last_mark != nullptr) {
      const packed::LastMark mark = packed::FindLastMark(bytes);
      *control.last_mark = mark.number;
      if (mark.number != 0) {
        bytes = bytes.first(mark.end);
        tail_bytes = mark.tail_bytes;
      }
    }
    const packed::SectionList list = packed::FindSections(bytes, losses_);
    const Losses found = losses_;
    std::size_t used = 0;
    std::vector<SectionRef> blocks;
    packed::SectionDecoder decoder;
    packed::DecodeBudget budget(file_.bytes().size());
    ReserveRows(list.sections);
    for (const SectionRef& section : list.sections) {
      if (control.stop.stop_requested()) {
        return 0;
      }
      if (control.progress != nullptr) {
        const double done =
            static_cast<double>(section.offset) / static_cast<double>(file_.bytes().size());
        control.progress->store(static_cast<float>(done), std::memory_order_relaxed);
      }
      bool good = budget.Take(section.header);
      if (!good) {
        // Counted as damage below.
      } else if (section.header.kind == packed::kSpans) {
        good = PlausibleBlock(section.header) && packed::PayloadIsSound(file_.bytes(), section);
        if (good) {
          blocks.push_back(section);
        }
      } else {
        good = LoadTable(decoder, section, budget);
      }
      used += good ? 1 : 0;
      if (!good) {
        Damaged(section);
      }
      packed::ReleaseSection(file_, section);
    }
    MergeLosses(found);
    std::vector<packed::TailSpans> tail;
    if (!list.complete) {
      tail = packed::ReadTail(path, file_.bytes(), tail_bytes, &losses_.damaged_bytes);
    }
    Settle(blocks, tail);
    return used;
  }

  const std::map<std::string, std::string>& facts() const override { return facts_; }
  std::span<const ProcessInfo> processes() const override { return processes_; }
  std::span<const ThreadInfo> threads() const override { return threads_; }
  std::span<const Event> events() const override { return events_; }
  std::span<const CounterSample> counters() const override { return counters_; }
  std::span<const UnitRow> unit_rows() const override { return units_; }
  std::span<const CallRow> call_rows() const override { return calls_; }
  const Losses& losses() const override { return losses_; }
  std::string_view String(StringId id) const override { return strings_.Get(id); }
  std::uint64_t span_count() const override { return span_count_; }
  TimeNs begin() const override { return begin_; }
  TimeNs end() const override { return end_; }
  TimeNs realtime_offset() const override { return realtime_offset_; }

  void ForEachBlock(ThreadId thread,
                    const std::function<void(std::span<const Span>)>& visit) const override {
    if (thread.value < blocks_.size()) {
      const auto more = tail_.find(thread.value);
      packed::MergeBlocks(file_, blocks_[thread.value], visit,
                          more != tail_.end() ? std::span(more->second) : std::span<const Span>());
    }
  }

 private:
  // Reserves all rows at once, because a vector that grows holds its rows twice for a moment. The
  // file size limits the reservation, because a header may be forged.
  void ReserveRows(const std::vector<SectionRef>& sections) {
    std::size_t events = 0;
    std::size_t counters = 0;
    for (const SectionRef& section : sections) {
      const packed::SectionHeader& header = section.header;
      const std::size_t rows = std::min(header.items, header.raw_size);
      if (header.kind == packed::kEvents) events += rows;
      if (header.kind == packed::kCounters) counters += rows;
    }
    events_.reserve(std::min(events, file_.bytes().size()));
    counters_.reserve(std::min(counters, file_.bytes().size()));
  }

  void Damaged(const SectionRef& section) {
    ++damaged_.damaged_chunks;
    damaged_.damaged_bytes += section.header.stored_size;
  }

  // Combines the losses that the writer recorded with the damage that this reader found.
  void MergeLosses(const Losses& found) {
    losses_ = summary_;
    losses_.damaged_bytes += found.damaged_bytes + damaged_.damaged_bytes;
    losses_.damaged_chunks += found.damaged_chunks + damaged_.damaged_chunks;
    losses_.truncated = losses_.truncated || found.truncated;
    losses_.unsealed = losses_.unsealed || found.unsealed;
    damaged_ = Losses{};
  }

  bool LoadTable(packed::SectionDecoder& decoder, const SectionRef& section,
                 packed::DecodeBudget& budget) {
    std::span<const std::byte> payload;
    const std::uint32_t items = section.header.items;
    switch (section.header.kind) {
      case packed::kStrings:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               strings_.Add(section, payload,
                            [&budget](std::uint64_t bytes) { return budget.Take(bytes); });
      case packed::kProcesses:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadProcesses(payload, processes_);
      case packed::kThreads:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadThreads(payload, threads_);
      case packed::kFacts:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadFacts(payload, facts_);
      case packed::kEvents:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadEvents(payload, items, events_);
      case packed::kCounters:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadCounters(payload, items, counters_);
      case packed::kUnits:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadUnits(payload, items, units_);
      case packed::kCalls:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadCalls(payload, items, calls_);
      case packed::kSummary:
        return decoder.Decode(file_.bytes(), section, &payload) &&
               packed::ReadSummary(payload, summary_, realtime_offset_);
      default:
        return true;  // ignored: a section kind of a later version
    }
  }

  // Drops the spans and events of unknown threads and the counters of unknown processes, sorts
  // events and counters, and computes the number of spans and the times.
  void Settle(const std::vector<SectionRef>& blocks, const std::vector<packed::TailSpans>& tail) {
    for (ThreadInfo& thread : threads_) {
      if (thread.process.value >= processes_.size()) {
        // The process of this thread was lost, but its spans are kept.
        thread.process.value = static_cast<std::uint32_t>(processes_.size());
        processes_.emplace_back();
      }
      thread.first = kNever;
      thread.last = kAlways;
    }
    blocks_.resize(threads_.size());
    for (const SectionRef& section : blocks) {
      const packed::SectionHeader& header = section.header;
      if (header.thread >= threads_.size()) {
        Damaged(section);
        continue;
      }
      blocks_[header.thread].push_back(section);
      ThreadInfo& thread = threads_[header.thread];
      thread.spans += header.items;
      thread.first = std::min(thread.first, TimeNs{header.first});
      thread.last = std::max(thread.last, TimeNs{header.last});
      span_count_ += header.items;
    }
    SettleTail(tail);
    const std::size_t rows = events_.size() + counters_.size();
    std::erase_if(events_, [this](const Event& e) { return e.thread.value >= threads_.size(); });
    std::erase_if(counters_,
                  [this](const CounterSample& c) { return c.process.value >= processes_.size(); });
    losses_.damaged_records += rows - events_.size() - counters_.size();
    SettleFollowed(units_);
    SettleFollowed(calls_);
    losses_.damaged_bytes += damaged_.damaged_bytes;
    losses_.damaged_chunks += damaged_.damaged_chunks;
    std::stable_sort(events_.begin(), events_.end(), AtBefore());
    std::stable_sort(counters_.begin(), counters_.end(), AtBefore());
    SettleTimes();
  }

  template <class Row>
  void SettleFollowed(std::vector<Row>& rows) {
    losses_.damaged_records +=
        std::erase_if(rows, [this](const Row& row) { return row.thread.value >= threads_.size(); });
    std::stable_sort(rows.begin(), rows.end(), UnitBefore());
  }

  // Adds the spans of the tail that are in no block. A block takes all pending spans of its thread.
  // So a run of the tail is in a block if the blocks hold more spans than came before the run.
  void SettleTail(const std::vector<packed::TailSpans>& tail) {
    std::vector<std::uint64_t> in_blocks;
    for (const ThreadInfo& thread : threads_) in_blocks.push_back(thread.spans);
    for (const packed::TailSpans& run : tail) {
      if (run.thread >= threads_.size()) {
        losses_.damaged_records += run.spans.size();
        continue;
      }
      if (run.before < in_blocks[run.thread]) continue;
      ThreadInfo& thread = threads_[run.thread];
      std::vector<Span>& spans = tail_[run.thread];
      spans.insert(spans.end(), run.spans.begin(), run.spans.end());
      thread.spans += run.spans.size();
      span_count_ += run.spans.size();
      for (const Span& span : run.spans) {
        thread.first = std::min(thread.first, span.start);
        thread.last = std::max(thread.last, span.end());
      }
    }
    for (auto& [thread, spans] : tail_) std::stable_sort(spans.begin(), spans.end(), StartsBefore);
  }

  void SettleTimes() {
    for (const Event& event : events_) {
      ThreadInfo& thread = threads_[event.thread.value];
      thread.first = std::min(thread.first, event.at);
      thread.last = std::max(thread.last, event.at);
    }
    begin_ = kNever;
    end_ = kAlways;
    for (ThreadInfo& thread : threads_) {
      if (thread.first == kNever) {
        thread.first = thread.last = TimeNs{};
        continue;
      }
      begin_ = std::min(begin_, thread.first);
      end_ = std::max(end_, thread.last);
    }
    if (begin_ == kNever) {
      begin_ = end_ = TimeNs{};
    }
  }

  MappedFile file_;
  Losses losses_;   // what losses() returns
  Losses summary_;  // as the writer recorded them
  Losses damaged_;  // damaged sections that losses_ does not contain yet
  std::map<std::string, std::string> facts_;
  std::vector<ProcessInfo> processes_;
  std::vector<ThreadInfo> threads_;
  std::vector<Event> events_;
  std::vector<CounterSample> counters_;
  std::vector<UnitRow> units_;
  std::vector<CallRow> calls_;
  packed::PackedStrings strings_;
  TimeNs realtime_offset_;
  std::vector<std::vector<SectionRef>> blocks_;      // per thread
  std::map<std::uint32_t, std::vector<Span>> tail_;  // per thread, ascending
  std::uint64_t span_count_ = 0;
  TimeNs begin_;
  TimeNs end_;
};

}  // namespace

bool IsPacked(std::span<const std::byte> file) {
  return file.size() >= sizeof packed::kMagic &&
         std::memcmp(file.data(), packed::kMagic, sizeof packed::kMagic) == 0;
}

Result<std::unique_ptr<Trace>> OpenPacked(MappedFile file, const std::filesystem::path& path,
                                          const OpenControl& control) {
  packed::PackedHeader header{};
  if (file.bytes().size() < sizeof header) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: ends inside its header; record the run again", path.string()));
  }
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (header.major != packed::kMajor) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: is a packed trace of version {}.{}, this program reads {}.x; use "
                            "the penstock that wrote it",
                            path.string(), header.major, header.minor, packed::kMajor));
  }
  auto trace = std::make_unique<PackedTrace>(std::move(file));
  const std::size_t used = trace->Load(path, control);
  if (control.stop.stop_requested()) {
    return Fail(ErrorKind::kInput, fmt::format("{}: reading was stopped", path.string()));
  }
  if (used == 0) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: contains no intact section; record the run again", path.string()));
  }
  return std::unique_ptr<Trace>(std::move(trace));
}

}  // namespace penstock::traces
