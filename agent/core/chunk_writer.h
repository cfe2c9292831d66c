// SPDX-License-Identifier: Apache-2.0
//
// Records into the chunk of a thread, and a fresh chunk when that one is full. For the recording
// core alone: the caller holds a BusyScope.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"
#include "traces/wire.h"

namespace penstock::agent {

// Takes a chunk, and takes over what the old one says of open spans. False: none is free.
bool NextChunk(ThreadState* s);

// Counts records for which there was no room.
void Drop(ThreadState* s, uint64_t records);

// Gives the chunk to whoever drains the recording.
void PublishChunk(ThreadState* s);

inline bool Room(ThreadState* s, uint32_t records) {
  if (__builtin_expect(s->chunk != nullptr && s->used + records <= wire::kRecordsPerChunk, 1)) {
    return true;
  }
  // With nothing free, look again only now and then: the search must not cost the program time.
  return (s->dropped & 63) == 0 && NextChunk(s);
}

inline uint64_t Rotate(uint64_t v, int by) {
  return (v << by) | (v >> (64 - by));
}

inline uint64_t Word(uint64_t low, uint64_t high) {
  return low | high << 32;
}

// Composes the record in registers; equals wire::CheckOf of the stored bytes (tested).
inline void Put(ThreadState* s, uint8_t kind, uint8_t stage, uint32_t name, uint64_t start,
                uint64_t duration, uint64_t work, uint64_t bytes, const Context& context,
                uint64_t object, uint8_t flags, uint8_t depth) {
  if (!Room(s, 1)) {
    Drop(s, 1);
    return;
  }
  uint64_t w0 = Word(uint64_t{kind} | uint64_t{stage} << 8, name);
  const auto sample = static_cast<uint64_t>(context.sample);
  const uint64_t w7 = Word(
      context.batch, uint64_t{context.generation} | uint64_t{flags} << 16 | uint64_t{depth} << 24);
  const uint64_t mix = w0 ^ Rotate(start, 7) ^ Rotate(duration, 14) ^ Rotate(work, 21) ^
                       Rotate(bytes, 28) ^ Rotate(sample, 35) ^ Rotate(object, 42) ^ Rotate(w7, 49);
  w0 |= (mix * 0x9e3779b97f4a7c15u) >> 48 << 16;
  auto* out = reinterpret_cast<uint64_t*>(s->records + s->used);
  out[0] = w0;
  out[1] = start;
  out[2] = duration;
  out[3] = work;
  out[4] = bytes;
  out[5] = sample;
  out[6] = object;
  out[7] = w7;
  ++s->used;
  __atomic_store_n(&s->chunk->committed, s->used, __ATOMIC_RELEASE);
}

}  // namespace penstock::agent
