// SPDX-License-Identifier: Apache-2.0
//
// Converts single records of a recording.
#include <algorithm>
#include <limits>

#include "traces/recording/recording_drain.h"

namespace penstock::traces {

void RecordingDrain::Impl::Damaged(std::uint64_t records) {
  found.damaged_records += records;
  found.damaged_bytes += records * wire::kRecordSize;
}

bool RecordingDrain::Impl::Plausible(std::uint64_t start, std::uint64_t duration) const {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  return start < kHuge && duration < kHuge;
}

void RecordingDrain::Impl::Take(const wire::Record& record, Thread& thread, Packer& out) {
  if (record.kind == wire::kKindSpan) {
    TakeSpan(record, thread, out);
    return;
  }
  if (record.kind == wire::kKindUnit || record.kind == wire::kKindCall) {
    TakeCall(record, thread, out);
    return;
  }
  if (record.kind != wire::kKindEvent && record.kind != wire::kKindCounter) {
    return;  // of a later version
  }
  if (!Plausible(record.start, 0)) {
    Damaged(1);
    return;
  }
  const TimeNs at = clock.ToNs(record.start);
  if (at.value < earliest_ns || at.value > latest_ns) {
    Damaged(1);
    return;
  }
  latest_ticks = std::max(latest_ticks, record.start);
  if (record.kind == wire::kKindEvent) {
    thread.last_ns = std::max(thread.last_ns, at.value);
    out.AddEvent({.at = at,
                  .thread = thread.id,
                  .batch = {record.batch, record.generation},
                  .value = static_cast<std::int64_t>(record.work),
                  .type = static_cast<EventType>(record.stage)});
    return;
  }
  ProcessId process = thread.process;
  if (record.object != 0 && record.object <= std::numeric_limits<std::uint32_t>::max() &&
      !processes.FindPid(static_cast<std::uint32_t>(record.object), &process)) {
    process = thread.process;
  }
  out.AddCounter({.at = at,
                  .name = strings.Name(record.name, out),
                  .process = process,
                  .value = static_cast<std::int64_t>(record.work)});
}

void RecordingDrain::Impl::TakeSpan(const wire::Record& record, Thread& thread, Packer& out) {
  if (!Plausible(record.start, record.duration)) {
    Damaged(1);
    return;
  }
  const std::uint64_t end_ticks = record.start + record.duration;
  const TimeNs start = clock.ToNs(record.start);
  const TimeNs end = clock.ToNs(end_ticks);
  // Anchors that contradict each other may make a span end before it starts.
  if (start.value < earliest_ns || end.value > latest_ns || end < start) {
    Damaged(1);
    return;
  }
  latest_ticks = std::max(latest_ticks, end_ticks);
  thread.last_ns = std::max(thread.last_ns, end.value);
  Span span;
  span.start = start;
  span.duration = end - start;
  if ((record.flags & wire::kFlagCpu) != 0) {
    span.cpu.value = static_cast<std::int64_t>(
        std::min<std::uint64_t>(record.work, std::numeric_limits<std::int64_t>::max() / 4));
  } else if ((record.flags & wire::kFlagBusy) != 0) {
    span.busy = clock.Length(record.start, std::min(record.work, record.duration));
  }
  span.bytes.value = record.bytes;
  span.sample = record.sample;
  if (!takes) {
    span.name = strings.Name(record.name, out);
    span.object = strings.Object(record.object, out);
  }
  span.batch = {record.batch, record.generation};
  span.stage = static_cast<StageId>(record.stage);
  span.flags = record.flags;
  span.depth = record.depth;
  out.AddSpan(thread.id, span);
}

// A unit or a node of its calls; both carry the start of the unit.
void RecordingDrain::Impl::TakeCall(const wire::Record& record, Thread& thread, Packer& out) {
  const std::uint64_t cost = record.kind == wire::kKindUnit
                                 ? record.work
                                 : static_cast<std::uint64_t>(record.sample) >> 32;
  const std::uint64_t ordinary = record.kind == wire::kKindUnit ? record.bytes : 0;
  if (!Plausible(record.start, record.duration) || !Plausible(ordinary, cost)) {
    Damaged(1);
    return;
  }
  const TimeNs at = clock.ToNs(record.start);
  const TimeNs end = clock.ToNs(record.start + record.duration);
  if (at.value < earliest_ns || end.value > latest_ns || end < at || end - at > kLongestUnit) {
    Damaged(1);
    return;
  }
  latest_ticks = std::max(latest_ticks, record.start + record.duration);
  const auto length = [&](std::uint64_t ticks) { return clock.Length(record.start, ticks); };
  if (record.kind == wire::kKindUnit) {
    out.AddUnit({.at = at,
                 .duration = length(record.duration),
                 .cost = length(std::min(cost, record.duration)),
                 .ordinary = std::min(length(ordinary), kLongestUnit),
                 .sample = record.sample,
                 .thread = thread.id,
                 .name = takes ? StringId{} : strings.Name(record.name, out),
                 .batch = {record.batch, record.generation},
                 .events = static_cast<std::uint32_t>(record.object),
                 .nodes = static_cast<std::uint16_t>(record.object >> 32),
                 .neighbours = static_cast<std::uint16_t>(record.object >> 48),
                 .stage = static_cast<StageId>(record.stage),
                 .flags = record.flags,
                 .spread = record.depth});
    return;
  }
  // A larger count would make the whole section of a packed trace unreadable.
  constexpr std::uint64_t kMostCalls = std::numeric_limits<std::int64_t>::max();
  out.AddCall({.at = at,
               .total = length(record.duration),
               .own = length(std::min(record.work, record.duration)),
               .cost = std::min(length(cost), kLongestUnit),
               .count = std::min(record.bytes, kMostCalls),
               .thread = thread.id,
               .name = takes ? StringId{} : strings.Name(record.name, out),
               .file = takes ? StringId{} : strings.Object(record.object, out),
               .line = static_cast<std::uint32_t>(record.sample),
               .node = static_cast<std::uint16_t>(record.batch),
               .parent = static_cast<std::uint16_t>(record.batch >> 16),
               .kind = static_cast<CallKind>(record.stage)});
}

void RecordingDrain::Impl::WritePending(const ChunkView::PendingReads& pending, Thread& thread,
                                        Packer& out) {
  constexpr std::string_view kFile = "file";
  constexpr std::string_view kSocket = "socket";
  std::uint64_t open = pending.counting;
  for (std::uint32_t i = 0; i < wire::kPendingReads; ++i) {
    const wire::PendingRead& read = pending.reads[i];
    const std::uint64_t record = pending.closing & 0xffffffffu;
    const bool closing = pending.closing >> 32 == i + 1u;
    // The record of this read was written; only the entry was not cleared yet.
    const bool written = closing && record != wire::kClosingLost && pending.committed > record;
    if (read.bytes == 0 || written) {
      continue;
    }
    if (read.first == 0 || read.last < read.first) {  // no agent stores such an entry
      Damaged(1);
      continue;
    }
    open += closing && record == wire::kClosingLost ? read.bytes : 0;
    const std::string_view name = (read.flags & wire::kFlagNetwork) != 0 ? kSocket : kFile;
    wire::Record span{};
    span.kind = wire::kKindSpan;
    span.stage = wire::kRead;
    span.name = static_cast<std::uint32_t>(wire::HashOf(name.data(), name.size()));
    span.start = read.first;
    span.duration = read.last - read.first;
    span.work = read.busy;
    span.bytes = read.bytes;
    span.sample = read.sample;
    span.object = read.object;
    span.batch = read.batch;
    span.generation = read.generation;
    span.flags = static_cast<std::uint8_t>(read.flags | wire::kFlagBusy);
    span.depth = read.depth;
    TakeSpan(span, thread, out);
  }
  if (open != 0) {
    processes.AddOpen(thread.process, open);
  }
}

void RecordingDrain::Impl::WriteInflight(const ChunkView& chunk, Thread& thread, Packer& out) {
  const std::uint32_t depth = chunk.inflight_depth();
  if (depth > wire::kMaxInflight) {
    Damaged(1);
    return;
  }
  // The thread lived at least until it claimed this chunk.
  const std::int64_t claimed = clock.ToNs(chunk.header().anchor.ticks).value;
  const bool sound = claimed >= earliest_ns && claimed <= std::min(clock.last().value, latest_ns);
  const std::int64_t last = std::max(thread.last_ns, sound ? claimed : 0);
  for (std::uint32_t i = 0; i < depth; ++i) {
    WriteUnfinished(chunk.InflightAt(i), static_cast<std::uint8_t>(i), last, thread, out);
  }
  if (const wire::Inflight operation = chunk.Operation(); operation.stage != wire::kStageNone) {
    WriteUnfinished(operation, static_cast<std::uint8_t>(depth), last, thread, out);
  }
}

void RecordingDrain::Impl::WriteUnfinished(const wire::Inflight& open, std::uint8_t depth,
                                           std::int64_t last, const Thread& thread, Packer& out) {
  const TimeNs start = Plausible(open.start, 0) ? clock.ToNs(open.start) : TimeNs{-1};
  if (start.value < std::max<std::int64_t>(earliest_ns, 0) || start.value > latest_ns ||
      open.stage == wire::kStageNone) {
    Damaged(1);
    return;
  }
  Span span;
  span.start = start;
  span.duration.value = std::max<std::int64_t>(last - start.value, 0);
  span.sample = open.sample;
  span.name = strings.Name(open.name, out);
  span.object = strings.Object(open.object, out);
  span.batch = {open.batch, open.generation};
  span.stage = static_cast<StageId>(open.stage);
  span.flags = static_cast<std::uint8_t>((open.flags & ~(wire::kFlagCpu | wire::kFlagBusy)) |
                                         wire::kFlagUnfinished);
  span.depth = depth;
  out.AddSpan(thread.id, span);
}

// Drops a text whose last part is missing: its records count as damaged.
void RecordingDrain::Impl::DropText(ChunkState& state) {
  if (state.text_parts != 0) {
    Damaged(state.text_parts);
    state.text_parts = 0;
    state.text.clear();
  }
}

void RecordingDrain::Impl::TakeText(const wire::TextRecord& record, ChunkState& state,
                                    Thread& thread, Packer& out) {
  const bool follows = state.text_parts != 0 && record.part == state.text_parts &&
                       record.id == state.text_id && record.type == state.text_type &&
                       record.total == state.text_total;
  if (!follows) {
    DropText(state);
    if (record.part != 0) {
      Damaged(1);
      return;
    }
    state.text_id = record.id;
    state.text_type = record.type;
    state.text_total = record.total;
    state.text.clear();
  }
  const std::size_t left = state.text_total - state.text.size();
  state.text.append(record.payload, std::min<std::size_t>(left, wire::kTextPayload));
  ++state.text_parts;
  if (state.text.size() == state.text_total) {
    FinishText(state, thread, out);
  }
}

void RecordingDrain::Impl::FinishText(ChunkState& state, Thread& thread, Packer& out) {
  state.text_parts = 0;
  const std::string_view text = state.text;
  switch (state.text_type) {
    case wire::kTextString:
      if (!takes) strings.Text(state.text_id, text, out);
      break;
    case wire::kTextFact:
    case wire::kTextCommand:
    case wire::kTextLibrary:
      processes.Text(thread.process, static_cast<wire::TextType>(state.text_type), text);
      break;
    case wire::kTextThread:
      thread.info.name = text;
      out.UpdateThread(thread.id, thread.info);
      break;
    default:
      break;  // of a later version
  }
}

}  // namespace penstock::traces
