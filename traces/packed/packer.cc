// SPDX-License-Identifier: Apache-2.0
//
// Writes a packed trace.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "traces/base/xxh64.h"
#include "traces/density.h"
#include "traces/output_place.h"
#include "traces/packed/packed_layout.h"
#include "traces/packed/packed_writer.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces {
namespace packed {
namespace {

static_assert(kFarthestTime.value == kMaxTime);

constexpr std::size_t kMaxBufferedSpans = std::size_t{3} << 17;  // over all threads: some 30 MB
constexpr std::size_t kGoodBlock = 4096;  // spans; the cost of a section is then 4 % of its size
// A trace with fewer blocks needs no tail: this number of small blocks costs only 200 kB.
constexpr std::uint64_t kFreeBlocks = 1024;
constexpr std::uint64_t kMaxTail = std::uint64_t{64} << 20;
constexpr std::size_t kMaxRows = std::size_t{1} << 16;  // events, counters

constexpr std::uint32_t kMaxEnded =
    2048;  // ended threads and processes whose spans may wait for a block

// Returns the index of an entry for a new thread or process: a free entry, or one at the end.
template <class Entry>
std::uint32_t Place(std::vector<Entry>& list, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    list.emplace_back();
    return static_cast<std::uint32_t>(list.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  list[index] = Entry{};
  return index;
}

}  // namespace

PackedWriter::PackedWriter(OutputFile file, const PackOptions& options)
    : file_(std::move(file)), keep_(options.keep) {
  strings_.Add(0, "");
  next_string_ = 1;
}

StringId PackedWriter::Intern(std::string_view text) {
  if (text.empty()) return StringId{};  // means "no text", also once ids_ has forgotten keys
  bool inserted = false;
  std::uint32_t& id = ids_.At(Xxh64(text.data(), text.size()), &inserted);
  if (inserted) {
    id = next_string_++;
    TakeString(id, text);
  }
  return StringId{id};
}

StringId PackedWriter::AddString(std::string_view text) {
  TakeString(next_string_, text);
  return StringId{next_string_++};
}

void PackedWriter::SetString(StringId id, std::string_view text) {
  if (!text.empty() && text.front() != '/') {  // paths come by AddString(), which does not search
    bool inserted = false;
    std::uint32_t& known = ids_.At(Xxh64(text.data(), text.size()), &inserted);
    if (inserted) known = id.value;
  }
  TakeString(id.value, text);
}

// Numbers in the file are given in the order in which they are needed. If everything is kept, they
// equal the indices.
std::uint32_t PackedWriter::Number(Process& process) {
  if (process.number == kNoNumber) {
    process.number = static_cast<std::uint32_t>(process_of_.size());
    process_of_.push_back(static_cast<std::uint32_t>(&process - processes_.data()));
    process.dirty = true;
  }
  return process.number;
}

std::uint32_t PackedWriter::Number(Thread& thread) {
  if (thread.number == kNoNumber) {
    thread.number = static_cast<std::uint32_t>(thread_of_.size());
    thread_of_.push_back(static_cast<std::uint32_t>(&thread - threads_.data()));
    thread.dirty = true;
    if (thread.info.process.value < processes_.size()) {
      Number(processes_[thread.info.process.value]);
    }
  }
  return thread.number;
}

ThreadId PackedWriter::AddThread(const ThreadInfo& thread) {
  const std::uint32_t index = Place(threads_, free_threads_);
  threads_[index].info = thread;
  Number(threads_[index]);
  return ThreadId{index};
}

ProcessId PackedWriter::AddProcess(const ProcessInfo& process) {
  const std::uint32_t index = Place(processes_, free_processes_);
  processes_[index].info = process;
  Number(processes_[index]);
  return ProcessId{index};
}

void PackedWriter::UpdateProcess(ProcessId id, const ProcessInfo& process) {
  if (id.value < processes_.size()) {
    processes_[id.value].info = process;
    processes_[id.value].dirty = true;
  }
}

void PackedWriter::UpdateThread(ThreadId id, const ThreadInfo& thread) {
  if (id.value < threads_.size()) {
    threads_[id.value].info = thread;
    threads_[id.value].dirty = true;
  }
}

void PackedWriter::EndThread(ThreadId id) {
  if (id.value >= threads_.size() || threads_[id.value].ended) return;
  threads_[id.value].ended = true;
  ++ended_;
}

void PackedWriter::EndProcess(ProcessId id) {
  if (id.value >= processes_.size() || processes_[id.value].ended) return;
  processes_[id.value].ended = true;
  ++ended_;
}

// Forgets threads and processes that have ended and are in the file: a long run has many. A
// flight recorder forgets them when its file has none of their data any more.
void PackedWriter::FreeEnded() {
  if (ended_ == 0 || !file_.status()) return;
  if (ended_ > kMaxEnded) WriteBlocks();
  const auto done = [this](const auto& entry) {
    return keep_.value == 0 ? !entry.dirty : entry.number == kNoNumber;
  };
  std::vector<bool> needed(processes_.size());
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.free) continue;
    if (!thread.ended || !thread.spans.empty() || !done(thread)) {
      if (thread.info.process.value < needed.size()) needed[thread.info.process.value] = true;
      continue;
    }
    if (keep_.value == 0) {
      stages_of_.resize(std::max<std::size_t>(stages_of_.size(), thread.number + std::size_t{1}));
      stages_of_[thread.number] = thread.stages;
    }
    thread = Thread{};
    thread.free = true;
    free_threads_.push_back(i);
    --ended_;
  }
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    if (process.free || !process.ended || needed[i] || !done(process)) continue;
    process = Process{};
    process.free = true;
    free_processes_.push_back(i);
    --ended_;
  }
}

void PackedWriter::SetFact(std::string_view key, std::string_view value) {
  WriteFact(key.substr(0, kLongestText), value.substr(0, kLongestText), facts_);
  ++fact_count_;
  if (facts_.size() >= kMaxSectionBytes / 4) WriteFacts();
}

void PackedWriter::AddSpan(ThreadId id, const Span& span) {
  if (id.value >= threads_.size()) {
    return;
  }
  Thread& thread = threads_[id.value];
  Number(thread);
  if (thread.spans.size() == thread.spans.capacity()) {
    const std::size_t size =
        thread.spans.size();  // doubling the capacity would waste half of the memory
    thread.spans.reserve(size + std::max<std::size_t>(64, size / 4));
  }
  thread.spans.push_back(span);
  thread.stages |= 1u << StageIndex(span.stage);
  thread.unfinished = thread.unfinished || (span.flags & wire::kFlagUnfinished) != 0;
  begin_ = std::min(begin_, span.start);
  end_ = std::max(end_, span.end());
  ++span_count_;
  ++buffered_;
  if (thread.spans.size() >= kSpansPerBlock) {
    WriteTables();
    WriteBlock(id.value);
  } else if (buffered_ >= kMaxBufferedSpans) {
    WriteTables();
    WriteBlocks();
  }
}

void PackedWriter::AddEvent(const Event& event) {
  if (event.thread.value < threads_.size()) {
    Number(threads_[event.thread.value]);
    begin_ = std::min(begin_, event.at);
    end_ = std::max(end_, event.at);
  }
  events_.push_back(event);
  if (events_.size() >= kMaxRows) {
    WriteTables();
  }
}

void PackedWriter::AddCounter(const CounterSample& sample) {
  if (sample.process.value < processes_.size()) {
    Number(processes_[sample.process.value]);
  }
  last_counter_ = std::max(last_counter_, sample.at);
  counters_.push_back(sample);
  if (counters_.size() >= kMaxRows) {
    WriteTables();
  }
}

void PackedWriter::AddUnit(const UnitRow& unit) {
  if (unit.thread.value < threads_.size()) Number(threads_[unit.thread.value]);
  units_.push_back(unit);
  if (units_.size() >= kMaxRows) WriteTables();
}

void PackedWriter::AddCall(const CallRow& call) {
  if (call.thread.value < threads_.size()) Number(threads_[call.thread.value]);
  calls_.push_back(call);
  if (calls_.size() >= kMaxRows) WriteTables();
}

void PackedWriter::SetLosses(const Losses& losses) {
  summary_dirty_ = summary_dirty_ || !(losses == losses_);
  losses_ = losses;
}

// An imported file or a damaged recording may claim any offset. Readers would refuse a summary with
// an offset beyond kMaxTime, and with it the losses in that summary.
void PackedWriter::SetRealtimeOffset(TimeNs offset) {
  if (offset.value < -kMaxTime || offset.value > kMaxTime) offset = {};
  summary_dirty_ = summary_dirty_ || offset != realtime_offset_;
  realtime_offset_ = offset;
}

// A file that had to be written again has no tail yet; the spans of the tail are still in memory.
void PackedWriter::KeepName() {
  if (!file_.status() || !file_.KeepName()) return;
  tail_.Discard();
  for (Thread& thread : threads_) thread.in_tail = 0;
}

Result<void> PackedWriter::Flush(const BeforeMark& before_mark) {
  KeepName();
  file_.TryAgain();
  WriteTables();
  WriteBlocksOrTail();
  FreeEnded();
  if (file_.status()) {
    ++marks_;
    if (before_mark) before_mark(marks_);
    WriteMark();
  }
  // Until the new mark is written, the previous mark may be the last one in the file and needs the
  // tail.
  if (file_.status() && !tail_is_needed_) tail_.Empty();
  DropOldSometimes();
  if (file_.status()) file_.Mark(keep_.value == 0);
  return file_.status();
}

void PackedWriter::WriteMark() {
  scratch_.Clear();
  packed::WriteMark(marks_, tail_is_needed_ ? tail_.size() : 0, scratch_);
  Write({.kind = kMark, .items = 1}, scratch_);
}

void PackedWriter::WriteAll() {
  file_.TryAgain();
  WriteTables();
  WriteBlocks();
}

void PackedWriter::WriteBlocks() {
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    WriteBlock(i);
  }
  tail_is_needed_ = false;
}

// Writes a block for each thread that has gathered enough spans. Other spans go to the tail.
void PackedWriter::WriteBlocksOrTail() {
  // A flight recorder has no tail, because its threads get new numbers now and then.
  if (blocks_written_ < kFreeBlocks || keep_.value != 0 || tail_.size() > kMaxTail) {
    WriteBlocks();
    return;
  }
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.spans.size() >= kGoodBlock) {
      WriteBlock(i);
    } else if (thread.spans.size() > thread.in_tail) {
      tail_.Add(thread.number, thread.written + thread.in_tail,
                std::span(thread.spans).subspan(thread.in_tail));
    }
  }
  if (!tail_.Write(file_.file())) {
    WriteBlocks();
    return;
  }
  tail_is_needed_ = true;
  for (Thread& thread : threads_) thread.in_tail = thread.spans.size();
}

void PackedWriter::Discard() {
  file_.Discard();
  tail_.Discard();
}

Result<void> PackedWriter::Finish() {
  if (keep_.value > 0) {
    WriteAll();
    DropOld(true);
  }
  // Writes all threads and processes once more, so that one damaged section loses nothing.
  for (Thread& thread : threads_) {
    thread.dirty = true;
  }
  for (Process& process : processes_) {
    process.dirty = true;
  }
  summary_dirty_ = true;
  WriteAll();
  if (!file_.status()) {
    return file_.status();
  }
  WritePreviews();
  file_.WriteContents();
  Result<void> done = file_.status() ? file_.Commit() : file_.status();
  if (done) tail_.Discard();
  return done;
}

}  // namespace packed

Result<std::unique_ptr<Packer>> CreatePacked(const std::filesystem::path& final_path,
                                             const PackOptions& options) {
  std::filesystem::path part = final_path;
  part += options.suffix;
  if (const NameInUse there = LookAtName(part); options.suffix == ".part" && there.exists) {
    if (there.is_hidden) {
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}", part.string(), there.WhyNot()));
    }
    if (there.WhyNot().empty() && IsTrace(there) && there.size > sizeof(packed::PackedHeader)) {
      if (const auto moved = MoveAside(final_path); !moved) return tl::unexpected(moved.error());
    }
  }
  if (options.suffix != ".part") RemoveAbandoned(final_path);
  Result<OutputFile> file = OutputFile::Create(
      final_path, options.suffix,
      {.private_to_owner = true, .durable = true, .may_replace = options.may_replace});
  PENSTOCK_TRY(file);
  return std::unique_ptr<Packer>(std::make_unique<packed::PackedWriter>(std::move(*file), options));
}

}  // namespace penstock::traces
