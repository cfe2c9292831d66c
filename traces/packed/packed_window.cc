// SPDX-License-Identifier: Apache-2.0
//
// The file of a flight recorder. When half of it is older than the window, the rest is copied into
// a new file that takes its place. So the name always refers to a complete file.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "traces/packed/call_codec.h"
#include "traces/packed/packed_writer.h"
#include "traces/packed/table_codec.h"

namespace penstock::traces::packed {
namespace {

constexpr std::uint64_t kLittle = std::uint64_t{1} << 20;  // bytes; less is not worth a copy
constexpr TimeNs kAhead{1'000'000'000};

// Whether later sections of this kind replace what earlier ones say. DropOld() writes their
// contents anew, which frees the room of the earlier ones.
bool IsRepeated(std::uint16_t kind) {
  return kind == kProcesses || kind == kThreads || kind == kFacts || kind == kSummary;
}

}  // namespace

// The window ends at the newest span or event, not now: if a run hangs, the time before that is
// wanted. Counters go on, so they have a window of their own.
PackedWriter::Window PackedWriter::LastPart() const {
  const bool has_spans = end_ != kAlways;  // or events
  const bool has_counters = last_counter_ != kAlways;
  // Counters carry the recorder's own time, ten times a second. They limit the newest time, so that
  // one span with a damaged time does not make all others old.
  TimeNs newest = has_spans ? end_ : last_counter_;
  const TimeNs ahead = std::min(kAhead, TimeNs{keep_.value / 4});
  if (has_counters) newest = std::min(newest, last_counter_ + ahead);
  if (!has_spans && !has_counters) return {kAlways, kAlways, kAlways};
  const TimeNs now = has_counters ? last_counter_ : newest;
  return {newest - keep_, std::max(now, newest) - keep_, newest};
}

bool PackedWriter::IsOld(const WrittenSection& written, const Window& window) {
  const SectionHeader& header = written.section.header;
  const TimeNs first{header.first};
  const TimeNs last{header.last};
  if (header.kind == kSpans) {
    return last < window.from && !(written.unfinished && written.arrived >= window.counters_from);
  }
  if (header.kind == kEvents || header.kind == kUnits || header.kind == kCalls) {
    return last < window.from;
  }
  if (header.kind == kCounters) {
    return last < window.from || (first > window.until && last < window.counters_from);
  }
  return IsRepeated(header.kind) && written.arrived < window.from;
}

void PackedWriter::DropOldSometimes() {
  const std::uint64_t size = file_.file().size();
  if (keep_.value <= 0 || !file_.status() || size < next_drop_) return;
  const Window window = LastPart();
  std::uint64_t old = 0;
  for (const WrittenSection& written : file_.written()) {
    if (IsOld(written, window)) old += sizeof(SectionHeader) + written.section.header.stored_size;
  }
  if (old > kLittle && old > size / 2) DropOld(false);
}

// `exactly`: also drops old spans from sections that are partly old.
void PackedWriter::DropOld(bool exactly) {
  next_drop_ = file_.file().size() + kLittle;
  const auto from = file_.file().Map();
  auto next = file_.Beside();
  if (!file_.status() || !from || !next) {
    if (next) next->Discard();
    return;
  }
  const Window window = LastPart();
  const std::vector<WrittenSection> sections = file_.written();
  // Threads and processes that are still needed get new numbers.
  const std::vector<std::uint32_t> old_threads = std::exchange(thread_of_, {});
  const std::vector<std::uint32_t> old_processes = std::exchange(process_of_, {});
  for (const std::uint32_t index : old_threads) threads_[index].number = kNoNumber;
  for (const std::uint32_t index : old_processes) processes_[index].number = kNoNumber;
  std::swap(file_, *next);
  summary_dirty_ = true;
  CopyTables(*from, sections);
  CopyRows(*from, sections, old_threads, old_processes);
  CopyFollowed(*from, sections, old_threads);
  std::vector<WrittenSection> spans;
  for (WrittenSection written : sections) {
    SectionHeader& header = written.section.header;
    if (header.kind != kSpans || IsOld(written, window) || header.thread >= old_threads.size()) {
      continue;
    }
    header.thread = Number(threads_[old_threads[header.thread]]);
    SealHeader(header);
    spans.push_back(written);
  }
  WriteTables();
  for (const WrittenSection& written : spans) {
    if (exactly && written.section.header.first < window.from.value) {
      CopyNewSpans(*from, written, window);
    } else {
      CopySection(*from, written);
    }
  }
  if (marks_ != 0) WriteMark();
  if (file_.status() && file_.TakePlaceOf(*next)) {
    next_drop_ = 0;
    begin_ = kNever;
    for (const WrittenSection& written : file_.written()) {
      const SectionHeader& header = written.section.header;
      if (header.kind == kSpans || header.kind == kEvents) {
        begin_ = std::min(begin_, TimeNs{header.first});
      }
    }
    return;
  }
  // If there is no room for two files, the old file is kept.
  std::swap(file_, *next);
  next->Discard();
  thread_of_ = old_threads;
  process_of_ = old_processes;
  for (Thread& thread : threads_) thread.number = kNoNumber;
  for (Process& process : processes_) process.number = kNoNumber;
  for (std::uint32_t i = 0; i < thread_of_.size(); ++i) threads_[thread_of_[i]].number = i;
  for (std::uint32_t i = 0; i < process_of_.size(); ++i) processes_[process_of_[i]].number = i;
  for (Thread& thread : threads_) thread.dirty = true;
  for (Process& process : processes_) process.dirty = true;
}

// Copies all texts and facts, because an agent sends each only once.
void PackedWriter::CopyTables(const MappedFile& from, const std::vector<WrittenSection>& sections) {
  std::map<std::string, std::string> facts;
  for (const WrittenSection& written : sections) {
    std::span<const std::byte> payload;
    const std::uint16_t kind = written.section.header.kind;
    if ((kind != kStrings && kind != kFacts) ||
        !decoder_.Decode(from.bytes(), written.section, &payload)) {
      continue;
    }
    if (kind == kFacts) {
      static_cast<void>(ReadFacts(payload, facts));
    } else {
      static_cast<void>(
          ReadStrings(payload, next_string_,
                      [this](std::uint32_t id, std::string_view text) { TakeString(id, text); }));
    }
  }
  for (const auto& [key, value] : facts) SetFact(key, value);
}

// Copies events and counters row by row, because their threads and processes have new numbers.
void PackedWriter::CopyRows(const MappedFile& from, const std::vector<WrittenSection>& sections,
                            std::span<const std::uint32_t> old_threads,
                            std::span<const std::uint32_t> old_processes) {
  const Window window = LastPart();
  std::vector<Event> events;
  std::vector<CounterSample> counters;
  for (const WrittenSection& written : sections) {
    const SectionHeader& header = written.section.header;
    std::span<const std::byte> payload;
    if ((header.kind != kEvents && header.kind != kCounters) || IsOld(written, window) ||
        !decoder_.Decode(from.bytes(), written.section, &payload)) {
      continue;
    }
    events.clear();
    counters.clear();
    static_cast<void>(header.kind == kEvents ? ReadEvents(payload, header.items, events)
                                             : ReadCounters(payload, header.items, counters));
    for (Event event : events) {
      if (event.at < window.from || event.thread.value >= old_threads.size()) continue;
      event.thread.value = old_threads[event.thread.value];
      AddEvent(event);
    }
    for (CounterSample sample : counters) {
      const bool between = sample.at > window.until && sample.at < window.counters_from;
      if (sample.at < window.from || between || sample.process.value >= old_processes.size()) {
        continue;
      }
      sample.process.value = old_processes[sample.process.value];
      AddCounter(sample);
    }
  }
}

// Copies followed units and their calls in the same way.
void PackedWriter::CopyFollowed(const MappedFile& from, const std::vector<WrittenSection>& sections,
                                std::span<const std::uint32_t> old_threads) {
  const Window window = LastPart();
  std::vector<UnitRow> units;
  std::vector<CallRow> calls;
  for (const WrittenSection& written : sections) {
    const SectionHeader& header = written.section.header;
    std::span<const std::byte> payload;
    if ((header.kind != kUnits && header.kind != kCalls) || IsOld(written, window) ||
        !decoder_.Decode(from.bytes(), written.section, &payload)) {
      continue;
    }
    units.clear();
    calls.clear();
    static_cast<void>(header.kind == kUnits ? ReadUnits(payload, header.items, units)
                                            : ReadCalls(payload, header.items, calls));
    for (UnitRow unit : units) {
      if (unit.at < window.from || unit.thread.value >= old_threads.size()) continue;
      unit.thread.value = old_threads[unit.thread.value];
      AddUnit(unit);
    }
    for (CallRow call : calls) {
      if (call.at < window.from || call.thread.value >= old_threads.size()) continue;
      call.thread.value = old_threads[call.thread.value];
      AddCall(call);
    }
  }
}

// Copies a section as it is, except for the number of its thread.
void PackedWriter::CopySection(const MappedFile& from, const WrittenSection& written) {
  const SectionHeader& header = written.section.header;
  const auto stored =
      from.bytes().subspan(written.section.offset, sizeof header + header.stored_size);
  std::vector<std::byte> bytes(stored.begin(), stored.end());
  std::memcpy(bytes.data(), &header, sizeof header);
  file_.Append(header, bytes, written.arrived, written.unfinished);
}

void PackedWriter::CopyNewSpans(const MappedFile& from, const WrittenSection& written,
                                const Window& window) {
  const SectionHeader& header = written.section.header;
  std::span<const std::byte> payload;
  std::vector<Span> spans;
  if (!decoder_.Decode(from.bytes(), written.section, &payload) ||
      !DecodeBlock(payload, header.items, spans)) {
    return;
  }
  const bool cut_off_lately = written.arrived >= window.counters_from;
  std::erase_if(spans, [&](const Span& span) {
    const bool unfinished = (span.flags & wire::kFlagUnfinished) != 0;
    return span.end() < window.from && !(unfinished && cut_off_lately);
  });
  WriteSpans(spans, header.thread, written.unfinished);
}

}  // namespace penstock::traces::packed
