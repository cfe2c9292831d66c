// SPDX-License-Identifier: Apache-2.0
//
// Encodes the sections of a packed trace.
#include <algorithm>
#include <utility>
#include <vector>

#include "traces/packed/call_codec.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/packed_preview.h"
#include "traces/packed/packed_writer.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces::packed {
namespace {

constexpr std::size_t kMaxStringBytes = std::size_t{1} << 20;
// With more threads than this, each buffer is freed once it is written: memory then matters more
// than time.
constexpr std::size_t kKeepBuffers = 32;

}  // namespace

void PackedWriter::Write(const SectionMeta& meta, const ByteWriter& payload, bool unfinished) {
  file_.Write(meta, payload, std::max(end_, last_counter_), unfinished);
}

void PackedWriter::TakeString(std::uint32_t id, std::string_view text) {
  strings_.Add(id, text.substr(0, kLongestText));
  if (strings_.pending_bytes() >= kMaxStringBytes) {
    WriteStrings();
  }
}

void PackedWriter::WriteStrings() {
  if (!strings_.empty()) {
    SectionMeta meta{.kind = kStrings, .items = strings_.count()};
    scratch_.Clear();
    strings_.Write(scratch_);
    Write(meta, scratch_);
  }
}

void PackedWriter::WriteFacts() {
  if (fact_count_ > 0) {
    Write({.kind = kFacts, .items = fact_count_}, facts_);
    facts_.Clear();
    fact_count_ = 0;
  }
}

// Writes the entries of `list` that have changed and have a number in the file.
template <class List, class Emit>
void PackedWriter::WriteDirty(SectionKind kind, List& list, Emit emit) {
  SectionMeta meta{.kind = kind};
  scratch_.Clear();
  for (auto& entry : list) {
    if (entry.dirty && entry.number != kNoNumber) {
      entry.dirty = false;
      emit(entry);
      ++meta.items;
    }
    if (scratch_.size() > kMaxSectionBytes / 4) {
      Write(meta, scratch_);
      scratch_.Clear();
      meta.items = 0;
    }
  }
  if (meta.items > 0) {
    Write(meta, scratch_);
  }
}

// Writes the rows of followed units, or of their calls. Their threads get their numbers in the
// file.
template <class Row, class Encode>
void PackedWriter::WriteFollowed(SectionKind kind, std::vector<Row>& rows, Encode encode) {
  if (rows.empty()) return;
  SectionMeta meta{.kind = kind,
                   .items = static_cast<std::uint32_t>(rows.size()),
                   .first = rows.front().at,
                   .last = rows.front().at};
  for (Row& row : rows) {
    if (row.thread.value < threads_.size()) row.thread.value = threads_[row.thread.value].number;
    meta.first = std::min(meta.first, row.at);
    meta.last = std::max(meta.last, row.at);
  }
  scratch_.Clear();
  encode(rows, scratch_);
  Write(meta, scratch_);
  rows.clear();
}

// Writes events, counters, followed units and their calls. Their threads and processes get their
// numbers in the file.
void PackedWriter::WriteRows() {
  const auto meta_of = [](SectionKind kind, const auto& rows) {
    SectionMeta meta{.kind = kind,
                     .items = static_cast<std::uint32_t>(rows.size()),
                     .first = rows.front().at,
                     .last = rows.front().at};
    for (const auto& row : rows) {
      meta.first = std::min(meta.first, row.at);
      meta.last = std::max(meta.last, row.at);
    }
    return meta;
  };
  if (!events_.empty()) {
    for (Event& event : events_) {
      if (event.thread.value < threads_.size()) {
        event.thread.value = threads_[event.thread.value].number;
      }
    }
    scratch_.Clear();
    WriteEvents(events_, scratch_);
    Write(meta_of(kEvents, events_), scratch_);
    events_.clear();
  }
  if (!counters_.empty()) {
    for (CounterSample& sample : counters_) {
      if (sample.process.value < processes_.size()) {
        sample.process.value = processes_[sample.process.value].number;
      }
    }
    scratch_.Clear();
    WriteCounters(counters_, scratch_);
    Write(meta_of(kCounters, counters_), scratch_);
    counters_.clear();
  }
  WriteFollowed(kUnits, units_, WriteUnits);
  WriteFollowed(kCalls, calls_, WriteCalls);
}

void PackedWriter::WriteTables() {
  WriteStrings();
  for (const Thread& thread : threads_) {
    if (thread.dirty && thread.number != kNoNumber &&
        thread.info.process.value < processes_.size()) {
      Number(processes_[thread.info.process.value]);
    }
  }
  WriteDirty(kProcesses, processes_,
             [this](const Process& p) { WriteProcess(p.number, p.info, scratch_); });
  WriteDirty(kThreads, threads_, [this](const Thread& t) {
    ThreadInfo info = t.info;
    if (info.process.value < processes_.size()) {
      info.process.value = processes_[info.process.value].number;
    }
    WriteThread(t.number, info, scratch_);
  });
  WriteFacts();
  WriteRows();
  if (summary_dirty_) {
    Losses losses = losses_;
    losses.dropped_events += file_.given_up();
    scratch_.Clear();
    WriteSummary(losses, realtime_offset_, scratch_);
    Write({.kind = kSummary, .items = 1}, scratch_);
    summary_dirty_ = false;
  }
}

void PackedWriter::WriteBlock(std::uint32_t index) {
  Thread& thread = threads_[index];
  std::vector<Span>& spans = thread.spans;
  if (spans.empty()) {
    return;
  }
  buffered_ -= spans.size();
  thread.written += spans.size();
  thread.in_tail = 0;
  ++blocks_written_;
  WriteSpans(spans, thread.number, std::exchange(thread.unfinished, false));
  spans.clear();
  if (threads_.size() > kKeepBuffers) {
    spans.shrink_to_fit();
  }
}

void PackedWriter::WriteSpans(std::vector<Span>& spans, std::uint32_t number, bool unfinished) {
  if (spans.empty()) {
    return;
  }
  scratch_.Clear();
  blocks_.Encode(spans, scratch_);
  SectionMeta meta{.kind = kSpans,
                   .items = static_cast<std::uint32_t>(spans.size()),
                   .thread = number,
                   .first = spans.front().start,
                   .last = spans.front().end()};
  for (const Span& span : spans) {
    meta.last = std::max(meta.last, span.end());
  }
  Write(meta, scratch_, unfinished);
}

// Writes previews, so that the first picture needs no spans. If the file cannot be mapped, no
// previews are written: a trace without them is complete too. A full disk is an error, as it is for
// all other sections.
void PackedWriter::WritePreviews() {
  const auto file = file_.file().Map();
  if (!file_.status() || span_count_ < kPreviewSpans || !file) {
    return;
  }
  std::vector<std::uint32_t> stages = stages_of_;
  stages.resize(thread_of_.size());
  for (const Thread& thread : threads_) {
    if (thread.number < stages.size()) stages[thread.number] = thread.stages;
  }
  const std::vector<SectionRef> sections = file_.Sections(file->bytes());
  MakePreviews(
      *file, {sections, stages, begin_, end_},
      [this](const SectionMeta& meta, const ByteWriter& payload) { file_.Write(meta, payload); });
}

}  // namespace penstock::traces::packed
