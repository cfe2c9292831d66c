// SPDX-License-Identifier: Apache-2.0
//
// The packed form, written as it comes: one buffer per thread, tables with every flush.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "traces/base/file.h"
#include "traces/base/xxh64.h"
#include "traces/block_codec.h"
#include "traces/pack.h"
#include "traces/packed_preview.h"
#include "traces/section.h"
#include "traces/string_table.h"
#include "traces/table_codec.h"

namespace penstock::traces {
namespace {

using packed::SectionHeader;
using packed::SectionKind;
using packed::SectionMeta;

constexpr std::size_t kMaxBufferedSpans = std::size_t{1} << 20;  // of all threads: about 80 MB
constexpr std::size_t kMaxStringBytes = std::size_t{1} << 20;
constexpr std::size_t kKeepBuffers = 32;  // beyond that many threads memory counts more than time
constexpr std::size_t kMaxRows = std::size_t{1} << 16;  // events, counters

class PackedWriter final : public Packer {
 public:
  explicit PackedWriter(OutputFile file) : file_(std::move(file)) {
    packed::PackedHeader header{};
    std::memcpy(header.magic, packed::kMagic, sizeof header.magic);
    header.major = packed::kMajor;
    header.minor = packed::kMinor;
    header.header_size = sizeof header;
    Append(std::as_bytes(std::span(&header, 1)));
    bool inserted = false;
    ids_.At(Xxh64("", 0), &inserted) = 0;
    strings_.Add(0, "");
    next_string_ = 1;
  }

  StringId Intern(std::string_view text) override {
    bool inserted = false;
    std::uint32_t& id = ids_.At(Xxh64(text.data(), text.size()), &inserted);
    if (inserted) {
      id = next_string_++;
      AddString(id, text);
    }
    return StringId{id};
  }

  void SetString(StringId id, std::string_view text) override {
    bool inserted = false;
    std::uint32_t& known = ids_.At(Xxh64(text.data(), text.size()), &inserted);
    if (inserted) {
      known = id.value;
    }
    AddString(id.value, text);
  }

  ThreadId AddThread(const ThreadInfo& thread) override {
    threads_.push_back({thread, {}, 0, true});
    return ThreadId{static_cast<std::uint32_t>(threads_.size() - 1)};
  }

  ProcessId AddProcess(const ProcessInfo& process) override {
    processes_.push_back({process, true});
    return ProcessId{static_cast<std::uint32_t>(processes_.size() - 1)};
  }

  void UpdateProcess(ProcessId id, const ProcessInfo& process) override {
    if (id.value < processes_.size()) {
      processes_[id.value] = {process, true};
    }
  }

  void UpdateThread(ThreadId id, const ThreadInfo& thread) override {
    if (id.value < threads_.size()) {
      threads_[id.value].info = thread;
      threads_[id.value].dirty = true;
    }
  }

  void SetFact(std::string_view key, std::string_view value) override {
    packed::WriteFact(key, value, facts_);
    ++fact_count_;
  }

  void AddSpan(ThreadId thread, const Span& span) override {
    if (thread.value >= threads_.size()) {
      return;
    }
    std::vector<Span>& spans = threads_[thread.value].spans;
    spans.push_back(span);
    threads_[thread.value].stages |= 1u << StageIndex(span.stage);
    begin_ = std::min(begin_, span.start);
    end_ = std::max(end_, span.end());
    ++span_count_;
    ++buffered_;
    if (spans.size() >= packed::kSpansPerBlock) {
      WriteTables();
      WriteBlock(thread.value);
    } else if (buffered_ >= kMaxBufferedSpans) {
      WriteLargest();
    }
  }

  void AddEvent(const Event& event) override {
    if (event.thread.value < threads_.size()) {
      begin_ = std::min(begin_, event.at);
      end_ = std::max(end_, event.at);
    }
    events_.push_back(event);
    if (events_.size() >= kMaxRows) {
      WriteTables();
    }
  }

  void AddCounter(const CounterSample& sample) override {
    counters_.push_back(sample);
    if (counters_.size() >= kMaxRows) {
      WriteTables();
    }
  }

  void SetLosses(const Losses& losses) override {
    summary_dirty_ = summary_dirty_ || !(losses == losses_);
    losses_ = losses;
  }

  void SetRealtimeOffset(TimeNs offset) override {
    summary_dirty_ = summary_dirty_ || offset != realtime_offset_;
    realtime_offset_ = offset;
  }

  Result<void> Flush() override {
    WriteTables();
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      WriteBlock(i);
    }
    return status_;
  }

  Result<void> Finish() override {
    // All threads and processes once more: one damaged section then costs nothing.
    for (Thread& thread : threads_) {
      thread.dirty = true;
    }
    for (Process& process : processes_) {
      process.dirty = true;
    }
    summary_dirty_ = true;
    if (const Result<void> flushed = Flush(); !flushed) {
      return flushed;
    }
    WritePreviews();
    WriteContents();
    return status_ ? file_.Commit() : status_;
  }

  void Discard() override { file_.Discard(); }

  std::uint64_t bytes_written() const override { return file_.size(); }

 private:
  struct Thread {
    ThreadInfo info;
    std::vector<Span> spans;
    std::uint32_t stages;  // bit: those that occur
    bool dirty;
  };
  struct Process {
    ProcessInfo info;
    bool dirty;
  };

  void Append(std::span<const std::byte> bytes) {
    if (status_) {
      status_ = file_.Append(bytes);
    }
  }

  void WriteSection(const SectionMeta& meta, const ByteWriter& payload) {
    if (!status_) {
      return;
    }
    const auto section = encoder_.Encode(meta, payload.bytes());
    if (!section) {
      status_ = tl::unexpected<Error>(section.error());
      return;
    }
    const std::uint64_t offset = file_.size();
    Append(*section);
    if (status_ && meta.kind != packed::kContents) {
      contents_.push_back({encoder_.header(), offset});
    }
  }

  void AddString(std::uint32_t id, std::string_view text) {
    strings_.Add(id, text);
    if (strings_.pending_bytes() >= kMaxStringBytes) {
      WriteStrings();
    }
  }

  void WriteStrings() {
    if (!strings_.empty()) {
      SectionMeta meta{.kind = packed::kStrings, .items = strings_.count()};
      scratch_.Clear();
      strings_.Write(scratch_);
      WriteSection(meta, scratch_);
    }
  }

  // Writes the entries of `list` that changed.
  template <class List, class Write>
  void WriteDirty(SectionKind kind, List& list, Write write) {
    SectionMeta meta{.kind = kind};
    scratch_.Clear();
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].dirty) {
        list[i].dirty = false;
        write(i, list[i].info, scratch_);
        ++meta.items;
      }
      if (scratch_.size() > packed::kMaxSectionBytes / 4) {
        WriteSection(meta, scratch_);
        scratch_.Clear();
        meta.items = 0;
      }
    }
    if (meta.items > 0) {
      WriteSection(meta, scratch_);
    }
  }

  void WriteTables() {
    WriteStrings();
    WriteDirty(packed::kProcesses, processes_, packed::WriteProcess);
    WriteDirty(packed::kThreads, threads_, packed::WriteThread);
    if (fact_count_ > 0) {
      WriteSection({.kind = packed::kFacts, .items = fact_count_}, facts_);
      facts_.Clear();
      fact_count_ = 0;
    }
    if (!events_.empty()) {
      scratch_.Clear();
      packed::WriteEvents(events_, scratch_);
      WriteSection({.kind = packed::kEvents, .items = static_cast<std::uint32_t>(events_.size())},
                   scratch_);
      events_.clear();
    }
    if (!counters_.empty()) {
      scratch_.Clear();
      packed::WriteCounters(counters_, scratch_);
      WriteSection(
          {.kind = packed::kCounters, .items = static_cast<std::uint32_t>(counters_.size())},
          scratch_);
      counters_.clear();
    }
    if (summary_dirty_) {
      scratch_.Clear();
      packed::WriteSummary(losses_, realtime_offset_, scratch_);
      WriteSection({.kind = packed::kSummary, .items = 1}, scratch_);
      summary_dirty_ = false;
    }
  }

  void WriteLargest() {
    const auto largest = std::max_element(
        threads_.begin(), threads_.end(),
        [](const Thread& a, const Thread& b) { return a.spans.size() < b.spans.size(); });
    WriteTables();
    WriteBlock(static_cast<std::uint32_t>(largest - threads_.begin()));
  }

  void WriteBlock(std::uint32_t thread) {
    std::vector<Span>& spans = threads_[thread].spans;
    if (spans.empty()) {
      return;
    }
    scratch_.Clear();
    blocks_.Encode(spans, scratch_);
    SectionMeta meta{.kind = packed::kSpans,
                     .items = static_cast<std::uint32_t>(spans.size()),
                     .thread = thread,
                     .first = spans.front().start,
                     .last = spans.front().end()};
    for (const Span& span : spans) {
      meta.last = std::max(meta.last, span.end());
    }
    WriteSection(meta, scratch_);
    buffered_ -= spans.size();
    spans.clear();
    if (threads_.size() > kKeepBuffers) {
      spans.shrink_to_fit();
    }
  }

  // So that the first picture needs no span. A trace without one is as good: no error is one.
  void WritePreviews() {
    const auto file = MappedFile::Open(file_.temporary());
    if (!status_ || span_count_ < kPreviewSpans || !file) {
      return;
    }
    std::vector<std::uint32_t> stages;
    for (const Thread& thread : threads_) {
      stages.push_back(thread.stages);
    }
    const std::vector<packed::SectionRef> sections = contents_;
    packed::MakePreviews(*file, {sections, stages, begin_, end_},
                         [this](const SectionMeta& meta, const ByteWriter& payload) {
                           WriteSection(meta, payload);
                         });
  }

  void WriteContents() {
    scratch_.Clear();
    for (const packed::SectionRef& section : contents_) {
      scratch_.Raw(std::as_bytes(std::span(&section.offset, 1)));
      scratch_.Raw(std::as_bytes(std::span(&section.header, 1)));
    }
    packed::PackedFooter footer{};
    footer.contents_offset = file_.size();
    footer.check = Xxh64(&footer.contents_offset, sizeof footer.contents_offset);
    std::memcpy(footer.magic, packed::kEndMagic, sizeof footer.magic);
    if (scratch_.size() <= packed::kMaxSectionBytes) {  // else the reader scans
      WriteSection(
          {.kind = packed::kContents, .items = static_cast<std::uint32_t>(contents_.size())},
          scratch_);
    }
    Append(std::as_bytes(std::span(&footer, 1)));
  }

  OutputFile file_;
  Result<void> status_;
  packed::SectionEncoder encoder_;
  packed::BlockEncoder blocks_;
  ByteWriter scratch_;
  std::vector<packed::SectionRef> contents_;

  IdTable ids_;
  StringRuns strings_;
  std::uint32_t next_string_ = 0;
  std::vector<Thread> threads_;
  std::size_t buffered_ = 0;
  std::uint64_t span_count_ = 0;
  TimeNs begin_{std::numeric_limits<std::int64_t>::max()};
  TimeNs end_{std::numeric_limits<std::int64_t>::min()};
  std::vector<Process> processes_;
  ByteWriter facts_;
  std::uint32_t fact_count_ = 0;
  std::vector<Event> events_;
  std::vector<CounterSample> counters_;
  Losses losses_;
  TimeNs realtime_offset_;
  bool summary_dirty_ = true;
};

}  // namespace

Result<std::unique_ptr<Packer>> CreatePacked(const std::filesystem::path& final_path) {
  Result<OutputFile> file = OutputFile::Create(final_path, ".part");
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  return std::unique_ptr<Packer>(std::make_unique<PackedWriter>(std::move(*file)));
}

}  // namespace penstock::traces
