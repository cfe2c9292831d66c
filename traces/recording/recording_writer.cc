// SPDX-License-Identifier: Apache-2.0
#include "traces/recording/recording_writer.h"

#include <algorithm>
#include <cstring>

namespace penstock::traces {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

constexpr std::uint64_t kTscOrigin =
    5'000'000'000;  // a TSC does not start with the monotonic clock
constexpr std::uint64_t kRealtimeOffset = 1'700'000'000'000'000'000;

// Writes to a chunk header, which a reader of a recording may read before it is complete.
// Requires: both aligned to 4 bytes, `size` a multiple of 4.
void Store(void* to, const void* from, std::size_t size) {
  const auto* source = static_cast<const char*>(from);
  auto* words = static_cast<std::uint32_t*>(to);
  for (std::size_t i = 0; i < size / sizeof *words; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, source + i * sizeof word, sizeof word);
    __atomic_store_n(words + i, word, __ATOMIC_RELAXED);
  }
}

}  // namespace

RecordingWriter::RecordingWriter(const RecordingOptions& options)
    : options_(options),
      words_((wire::kHeaderSize + std::size_t{options.chunks} * wire::kChunkSize) /
             sizeof(std::uint64_t)) {
  wire::FileHeader& h = header();
  std::memcpy(h.magic, wire::kMagic, sizeof h.magic);
  h.major = wire::kMajor;
  h.minor = wire::kMinor;
  h.header_size = wire::kHeaderSize;
  h.chunk_size = wire::kChunkSize;
  h.record_size = wire::kRecordSize;
  h.mode = options.mode;
  h.clock = options.clock;
  h.ticks_per_second = options.ticks_per_second;
  std::memcpy(h.host, "testhost", 9);
  std::memcpy(h.boot_id, "00000000-0000-0000-0000-000000000001", 37);
  h.chunk_count = options.mode == wire::kRing ? options.chunks : 0;
  h.allocated_chunks = options.mode == wire::kLinear ? options.chunks : 0;
  h.max_chunks = options.chunks;
  h.recording = 1;
  AddAnchor(options.start_ns);
}

wire::FileHeader& RecordingWriter::header() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the layout of wire.h
  return *reinterpret_cast<wire::FileHeader*>(words_.data());
}

wire::ChunkHeader& RecordingWriter::chunk(std::uint32_t i) {
  const std::size_t offset = wire::kHeaderSize + std::size_t{i} * wire::kChunkSize;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the layout of wire.h
  return *reinterpret_cast<wire::ChunkHeader*>(words_.data() + offset / sizeof(std::uint64_t));
}

std::uint64_t RecordingWriter::Ticks(std::uint64_t ns) const {
  if (options_.clock == wire::kClockMonotonic) {
    return ns;
  }
  return kTscOrigin +
         static_cast<std::uint64_t>(Unsigned128{ns} * options_.ticks_per_second / 1'000'000'000);
}

wire::ClockAnchor RecordingWriter::Anchor(std::uint64_t ns) const {
  return {Ticks(ns), ns, ns + kRealtimeOffset};
}

void RecordingWriter::AddAnchor(std::uint64_t ns) {
  wire::FileHeader& h = header();
  const std::uint32_t count = __atomic_load_n(&h.anchor_count, __ATOMIC_RELAXED);
  h.anchors[count % wire::kMaxAnchors] = Anchor(ns);
  __atomic_store_n(&h.anchor_count, count + 1, __ATOMIC_RELEASE);
}

std::uint32_t RecordingWriter::AddProcess(std::uint32_t pid, std::uint64_t process_start,
                                          wire::ProcessRole role, std::int32_t worker_id) {
  wire::FileHeader& h = header();
  for (std::uint32_t i = 0; i < wire::kMaxProcesses; ++i) {
    wire::ProcessSlot& slot = h.processes[i];
    if (__atomic_load_n(&slot.state, __ATOMIC_RELAXED) != wire::kProcessFree) {
      continue;
    }
    slot.pid = pid;
    slot.parent = h.root_pid;
    h.root_pid = h.root_pid == 0 ? pid : h.root_pid;
    slot.process_start = process_start;
    slot.role = role;
    slot.worker_id = worker_id;
    slot.rank = slot.local_rank = slot.world_size = -1;
    std::memcpy(slot.comm, "python", 7);
    __atomic_store_n(&slot.state, std::uint32_t{wire::kProcessLive}, __ATOMIC_RELEASE);
    return i;
  }
  return wire::kMaxProcesses;
}

void RecordingWriter::Seal() {
  __atomic_store_n(&header().sealed, 1u, __ATOMIC_RELEASE);
}

wire::ChunkHeader* RecordingWriter::ClaimChunk(std::uint32_t* index) {
  if (options_.mode == wire::kLinear) {
    *index = __atomic_fetch_add(&header().next_chunk, 1u, __ATOMIC_RELAXED);
    return *index < options_.chunks ? &chunk(*index) : nullptr;
  }
  for (*index = 0; *index < options_.chunks; ++*index) {
    std::uint32_t expected = wire::kChunkFree;
    if (__atomic_compare_exchange_n(&chunk(*index).state, &expected,
                                    std::uint32_t{wire::kChunkOwned}, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return &chunk(*index);
    }
  }
  return nullptr;
}

RecordingWriter::Thread::Thread(RecordingWriter& recording, std::uint32_t slot, std::uint32_t tid,
                                std::string_view name)
    : recording_(recording), slot_(slot), tid_(tid) {
  std::memcpy(name_, name.data(), std::min(name.size(), sizeof name_ - 1));
}

bool RecordingWriter::Thread::Claim() {
  std::uint32_t index = 0;
  wire::ChunkHeader* next = recording_.ClaimChunk(&index);
  if (next == nullptr) {
    return false;
  }
  const wire::ProcessSlot* slot =
      slot_ < wire::kMaxProcesses ? &recording_.header().processes[slot_] : nullptr;
  __atomic_store_n(&next->magic, wire::kChunkMagic, __ATOMIC_RELAXED);
  const wire::ClockAnchor anchor = recording_.Anchor(recording_.options_.start_ns);
  const std::uint64_t process_start = slot != nullptr ? slot->process_start : 7;
  Store(&next->index, &index, sizeof index);
  Store(&next->process, &slot_, sizeof slot_);
  Store(&next->sequence, &sequence_, sizeof sequence_);
  ++sequence_;
  Store(&next->tid, &tid_, sizeof tid_);
  Store(&next->process_start, &process_start, sizeof process_start);
  Store(&next->dropped, &dropped_, sizeof dropped_);
  Store(next->thread_name, name_, sizeof name_);
  Store(&next->anchor, &anchor, sizeof anchor);
  std::uint32_t depth = 0;
  if (chunk_ != nullptr) {
    depth = chunk_->inflight_depth;
    Store(next->inflight, chunk_->inflight, sizeof next->inflight);
  }
  __atomic_store_n(&next->inflight_depth, depth, __ATOMIC_RELEASE);
  __atomic_store_n(&next->pid, slot != nullptr ? slot->pid : 4242u, __ATOMIC_RELEASE);
  if (chunk_ != nullptr) {
    __atomic_store_n(&chunk_->state, std::uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
  if (recording_.options_.mode == wire::kLinear) {
    __atomic_store_n(&next->state, std::uint32_t{wire::kChunkOwned}, __ATOMIC_RELEASE);
  }
  chunk_ = next;
  used_ = 0;
  return true;
}

bool RecordingWriter::Thread::Room(std::uint32_t records) {
  if ((chunk_ != nullptr && used_ + records <= wire::kRecordsPerChunk) || Claim()) {
    return true;
  }
  dropped_ += records;
  __atomic_fetch_add(&recording_.header().dropped, records, __ATOMIC_RELAXED);
  if (slot_ < wire::kMaxProcesses) {
    __atomic_fetch_add(&recording_.header().processes[slot_].dropped, records, __ATOMIC_RELAXED);
  }
  return false;
}

void RecordingWriter::Thread::Publish(const void* record) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the layout of wire.h
  char* base = reinterpret_cast<char*>(chunk_) + wire::kChunkHeaderSize;
  std::memcpy(base + std::size_t{used_} * wire::kRecordSize, record, wire::kRecordSize);
  ++used_;
}

// Counts the bytes of reads with a busy time, as the agent's hooks do.
void RecordingWriter::Thread::Count(const wire::Record& record) {
  if (record.kind == wire::kKindSpan && record.stage == wire::kRead &&
      slot_ < wire::kMaxProcesses &&
      (record.flags & (wire::kFlagBusy | wire::kFlagMapped)) == wire::kFlagBusy) {
    wire::ProcessSlot& slot = recording_.header().processes[slot_];
    const bool network = (record.flags & wire::kFlagNetwork) != 0;
    __atomic_fetch_add(network ? &slot.bytes_network : &slot.bytes_dataset, record.bytes,
                       __ATOMIC_RELAXED);
  }
}

bool RecordingWriter::Thread::Write(wire::Record record) {
  if (!Room(1)) {
    return false;
  }
  record.check = wire::CheckOf(&record);
  Publish(&record);
  Count(record);
  __atomic_store_n(&chunk_->committed, used_, __ATOMIC_RELEASE);
  return true;
}

std::uint64_t RecordingWriter::Thread::Text(wire::TextType type, std::string_view text) {
  const std::string_view key = type == wire::kTextFact ? text.substr(0, text.find('=')) : text;
  const std::uint64_t id = wire::HashOf(key.data(), key.size());
  const std::size_t parts =
      std::max<std::size_t>(1, (text.size() + wire::kTextPayload - 1) / wire::kTextPayload);
  if (!Room(static_cast<std::uint32_t>(parts))) {
    return id;
  }
  for (std::size_t part = 0; part < parts; ++part) {
    wire::TextRecord record{};
    record.kind = wire::kKindText;
    record.type = type;
    record.part = static_cast<std::uint16_t>(part);
    record.total = static_cast<std::uint16_t>(text.size());
    record.id = id;
    const std::string_view piece =
        text.substr(std::min(part * wire::kTextPayload, text.size()), wire::kTextPayload);
    std::memcpy(record.payload, piece.data(), piece.size());
    record.check = wire::CheckOf(&record);
    Publish(&record);
  }
  __atomic_store_n(&chunk_->committed, used_, __ATOMIC_RELEASE);
  return id;
}

void RecordingWriter::Thread::Open(const wire::Inflight& operation) {
  if ((chunk_ == nullptr && !Claim()) || chunk_->inflight_depth >= wire::kMaxInflight) {
    return;
  }
  const std::uint32_t depth = chunk_->inflight_depth;
  chunk_->inflight[depth] = operation;
  __atomic_store_n(&chunk_->inflight_depth, depth + 1, __ATOMIC_RELEASE);
}

void RecordingWriter::Thread::Close() {
  if (chunk_ != nullptr && chunk_->inflight_depth > 0) {
    __atomic_store_n(&chunk_->inflight_depth, chunk_->inflight_depth - 1, __ATOMIC_RELEASE);
  }
}

void RecordingWriter::Thread::Exit() {
  if (chunk_ != nullptr) {
    __atomic_store_n(&chunk_->inflight_depth, 0u, __ATOMIC_RELEASE);
    __atomic_store_n(&chunk_->state, std::uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
    chunk_ = nullptr;
  }
}

wire::Record SpanRecord(const RecordingWriter& recording, wire::Stage stage, std::uint32_t name,
                        std::uint64_t start_ns, std::uint64_t duration_ns) {
  wire::Record record{};
  record.kind = wire::kKindSpan;
  record.stage = stage;
  record.name = name;
  record.start = recording.Ticks(start_ns);
  record.duration = recording.Ticks(start_ns + duration_ns) - record.start;
  record.sample = wire::kNoSample;
  record.batch = wire::kNoBatch;
  return record;
}

}  // namespace penstock::traces
