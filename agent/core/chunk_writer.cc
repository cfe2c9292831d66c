// SPDX-License-Identifier: Apache-2.0
#include "agent/core/chunk_writer.h"

#include <stddef.h>

#include "agent/core/anchor.h"
#include "agent/core/audit.h"
#include "agent/core/linear_chunks.h"
#include "agent/core/linear_output.h"
#include "agent/core/process.h"
#include "agent/core/text.h"
#include "agent/system/memory_limits.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// Makes earlier stores visible before later ones. A release store does not order the stores that
// follow it. Without this fence, a reader on aarch64 that copies the chunk of a running thread
// could see records of the chunk's new use under its old index. x86 needs no instruction for the
// fence.
inline void OrderStores() {
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

// Takes a free chunk and sets `index` to its number. nullptr if there is none.
wire::ChunkHeader* TakeFreeChunk(uint32_t* index) {
  const uint32_t owned = wire::kChunkOwned | (g_slot_index + 1) << wire::kChunkClaimerShift;
  auto* base = reinterpret_cast<char*>(g_header) + wire::kHeaderSize;
  for (uint32_t i = 0; i < g_header->chunk_count; ++i) {
    auto* candidate = reinterpret_cast<wire::ChunkHeader*>(base + uint64_t{i} * wire::kChunkSize);
    uint32_t expected = wire::kChunkFree;
    if (__atomic_load_n(&candidate->state, __ATOMIC_RELAXED) == wire::kChunkFree &&
        __atomic_compare_exchange_n(&candidate->state, &expected, owned, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      *index = i;
      return candidate;
    }
  }
  return nullptr;
}

// The same without a collector: each use of a chunk has its own place in the file, and `index` is
// set to that place. If no chunk is free, this thread frees the chunks of ended threads.
wire::ChunkHeader* TakeLinearChunk(uint32_t* index) {
  wire::ChunkHeader* chunk = TakeFreeChunk(index);
  if (chunk == nullptr) {
    ReclaimDeadChunks();
    chunk = TakeFreeChunk(index);
  }
  if (chunk != nullptr && !TakePlace(index)) {
    __atomic_store_n(&chunk->state, uint32_t{wire::kChunkFree}, __ATOMIC_RELEASE);
    chunk = nullptr;
  }
  Audit();
  return chunk;
}

// Copies the thread's open spans and pending reads to the new chunk. If a reader finds both chunks
// owned, it uses the one that names the other as its previous one.
void TakeOver(const wire::ChunkHeader* previous, wire::ChunkHeader* chunk) {
  chunk->closing = 0;
  chunk->counting = 0;
  if (previous == nullptr) {
    chunk->previous = 0;
    chunk->inflight_depth = 0;
    chunk->operation.stage = 0;
    for (wire::PendingRead& read : chunk->pending) {
      read.bytes = 0;
    }
    return;
  }
  chunk->previous = previous->anchor.ticks;
  chunk->inflight_depth = previous->inflight_depth;
  __builtin_memcpy(chunk->inflight, previous->inflight, sizeof chunk->inflight);
  chunk->operation = previous->operation;
  __builtin_memcpy(chunk->pending, previous->pending, sizeof chunk->pending);
}

// Returns a fresh chunk for the calling thread, with what TakeOver() copies from `previous`;
// nullptr if there is none. `writer`: as in the chunk's header. `name`: the name of the chunk's
// thread; nullptr: the calling thread's.
// Requires: EnterClaim() returned true, so the memory of the chunks stays mapped.
wire::ChunkHeader* ClaimMappedChunk(const wire::ChunkHeader* previous, uint32_t tid,
                                    uint32_t sequence, uint64_t dropped, uint32_t writer,
                                    const char* name) {
  uint32_t index = 0;
  wire::ChunkHeader* chunk =
      g_header->mode == wire::kRing ? TakeFreeChunk(&index) : TakeLinearChunk(&index);
  if (chunk == nullptr) {
    return nullptr;
  }
  __atomic_store_n(&chunk->magic, wire::kChunkMagic, __ATOMIC_RELAXED);
  chunk->index = index;
  chunk->process = g_slot_index;
  chunk->sequence = sequence;
  chunk->process_start = g_slot->process_start;
  chunk->dropped = dropped;
  chunk->writer = writer;
  if (name != nullptr) {
    Text text{chunk->thread_name, sizeof chunk->thread_name};
    text.Add(name);
  } else {
    sys::Call(SYS_prctl, 16 /* PR_GET_NAME */, sys::Pointer(chunk->thread_name));
  }
  chunk->anchor = TakeAnchor();
  chunk->tid = tid;
  TakeOver(previous, chunk);
  // Stored last: from here on the chunk belongs to the thread.
  __atomic_store_n(&chunk->pid, g_slot->pid, __ATOMIC_RELEASE);
  OrderStores();
  return chunk;
}

wire::ChunkHeader* ClaimChunk(const wire::ChunkHeader* previous, uint32_t tid, uint32_t sequence,
                              uint64_t dropped, uint32_t writer, const char* name) {
  if (!EnterClaim()) {
    return nullptr;
  }
  wire::ChunkHeader* chunk = ClaimMappedChunk(previous, tid, sequence, dropped, writer, name);
  LeaveClaim();
  return chunk;
}

// Writes the thread's full chunk to the file, so that the thread can go on in the same memory. kNo:
// the chunk cannot be written now and stays in memory as it is. kNoPlace: the chunk is written, but
// the file has no place for its next use.
enum class Renewed { kYes, kNo, kNoPlace };
Renewed RenewLinearChunk(ThreadState* s) {
  wire::ChunkHeader* chunk = s->chunk;
  if (!s->written_out && !WriteOut(chunk)) {
    return Renewed::kNo;
  }
  s->written_out = true;
  uint32_t index = 0;
  Audit();
  if (!TakePlace(&index)) {
    return Renewed::kNoPlace;
  }
  // The four stores must stay in this order. A reader that finds no record in this chunk takes the
  // records from the file, and the open spans and pending reads from this chunk.
  __atomic_store_n(&chunk->previous, chunk->anchor.ticks, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->committed, 0u, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->sequence, s->sequence, __ATOMIC_RELEASE);
  __atomic_store_n(&chunk->index, index, __ATOMIC_RELEASE);
  OrderStores();
  chunk->drained = 0;
  chunk->dropped = s->dropped;
  chunk->anchor = TakeAnchor();
  s->sequence += s->writer == 0 ? 1u : 0u;  // chunks of lanes are not counted
  s->used = 0;
  s->written_out = false;
  return Renewed::kYes;
}

}  // namespace

__attribute__((noinline)) bool NextChunk(const BusyScope& busy) {
  ThreadState* s = busy.state();
  wire::ChunkHeader* old = s->chunk;
  if (old != nullptr && g_header->mode == wire::kLinear) {
    const Renewed renewed = RenewLinearChunk(s);
    if (renewed != Renewed::kNo) {
      return renewed == Renewed::kYes;
    }
  }
  wire::ChunkHeader* chunk = ClaimChunk(old, s->tid, s->sequence, s->dropped, s->writer,
                                        s->writer != 0 ? s->name : nullptr);
  if (chunk == nullptr) {
    return false;
  }
  if (old != nullptr) {
    __atomic_store_n(&old->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
  s->sequence += s->writer == 0 ? 1u : 0u;  // chunks of lanes are not counted
  s->chunk = chunk;
  s->records =
      reinterpret_cast<wire::Record*>(reinterpret_cast<char*>(chunk) + wire::kChunkHeaderSize);
  s->used = 0;
  return true;
}

__attribute__((noinline)) void Drop(const BusyScope& busy, uint64_t records) {
  busy.state()->dropped += records;
  CountDropped(records);
}

void PublishChunk(const BusyScope& busy) {
  ThreadState* s = busy.state();
  if (g_header->mode == wire::kLinear) {
    RetireChunk(s->chunk);
  } else {
    __atomic_store_n(&s->chunk->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
  s->chunk = nullptr;
}

bool WriteText(uint8_t type, uint64_t id, const char* text, size_t size) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return false;
  }
  size = size < kMaxText ? size : kMaxText;
  const auto parts =
      static_cast<uint32_t>(size == 0 ? 1 : (size + wire::kTextPayload - 1) / wire::kTextPayload);
  BusyScope busy(s);
  if (!busy) {
    return false;
  }
  if (!Room(busy, parts)) {
    Drop(busy, parts);
    return false;
  }
  for (uint32_t part = 0; part < parts; ++part) {
    wire::TextRecord r = {};
    r.kind = wire::kKindText;
    r.type = type;
    r.part = static_cast<uint16_t>(part);
    r.total = static_cast<uint16_t>(size);
    r.id = id;
    const size_t from = size_t{part} * wire::kTextPayload;
    const size_t left = size - from;
    __builtin_memcpy(r.payload, text + from, left < wire::kTextPayload ? left : wire::kTextPayload);
    r.check = wire::CheckOf(&r);
    __builtin_memcpy(s->records + s->used + part, &r, sizeof r);
  }
  s->used += parts;
  __atomic_store_n(&s->chunk->committed, s->used, __ATOMIC_RELEASE);
  return true;
}

}  // namespace penstock::agent
