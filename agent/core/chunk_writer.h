// SPDX-License-Identifier: Apache-2.0
//
// Writes records into a thread's chunk, and takes a fresh chunk when that one is full. Only the
// recording core uses this. Every function takes the BusyScope of the thread that owns the chunk.
// Requires: the scope was entered (its operator bool).
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"
#include "traces/wire.h"

namespace penstock::agent {

// Gives the thread an empty chunk that has the open spans and pending reads of the old one. Without
// a collector it writes the old chunk to the file and goes on in the same memory. False if no chunk
// can be had.
bool NextChunk(const BusyScope& busy);

// Counts records for which there was no room.
void Drop(const BusyScope& busy, uint64_t records);

// Gives the chunk to the collector. If there is no collector, writes it to the file.
void PublishChunk(const BusyScope& busy);

// Whether the thread's chunk has room for so many records. If not, takes an empty chunk.
inline bool Room(const BusyScope& busy, uint32_t records) {
  const ThreadState* s = busy.state();
  if (__builtin_expect(s->chunk != nullptr && s->used + records <= wire::kRecordsPerChunk, 1)) {
    return true;
  }
  // If no chunk is free, looks again only now and then, since the search costs the program time.
  return (s->dropped & 63) == 0 && NextChunk(busy);
}

inline uint64_t Rotate(uint64_t v, int by) {
  return (v << by) | (v >> (64 - by));
}

inline uint64_t Word(uint64_t low, uint64_t high) {
  return low | high << 32;
}

// The fields of a record that do not come from its Context. wire::Record says what each kind of
// record keeps in them.
struct RecordFields {
  uint8_t kind;
  uint8_t stage = 0;
  uint8_t flags = 0;
  uint32_t depth = 0;  // recorded as at most 255
  uint32_t name = 0;
  uint64_t start = 0;
  uint64_t duration = 0;
  uint64_t work = 0;
  uint64_t bytes = 0;
  uint64_t object = 0;
};

// Writes one record. Always inline, so that the record is composed in registers. Its check equals
// wire::CheckOf() of the stored bytes (tested).
__attribute__((always_inline)) inline void Put(const BusyScope& busy, const Context& context,
                                               const RecordFields& fields) {
  if (!Room(busy, 1)) {
    Drop(busy, 1);
    return;
  }
  ThreadState* s = busy.state();
  const uint64_t depth = fields.depth < 255 ? fields.depth : 255;
  uint64_t w0 = Word(uint64_t{fields.kind} | uint64_t{fields.stage} << 8, fields.name);
  const auto sample = static_cast<uint64_t>(context.sample);
  const uint64_t w7 = Word(
      context.batch, uint64_t{context.generation} | uint64_t{fields.flags} << 16 | depth << 24);
  const uint64_t mix = w0 ^ Rotate(fields.start, 7) ^ Rotate(fields.duration, 14) ^
                       Rotate(fields.work, 21) ^ Rotate(fields.bytes, 28) ^ Rotate(sample, 35) ^
                       Rotate(fields.object, 42) ^ Rotate(w7, 49);
  w0 |= (mix * 0x9e3779b97f4a7c15u) >> 48 << 16;
  auto* out = reinterpret_cast<uint64_t*>(s->records + s->used);
  out[0] = w0;
  out[1] = fields.start;
  out[2] = fields.duration;
  out[3] = fields.work;
  out[4] = fields.bytes;
  out[5] = sample;
  out[6] = fields.object;
  out[7] = w7;
  ++s->used;
  __atomic_store_n(&s->chunk->committed, s->used, __ATOMIC_RELEASE);
}

}  // namespace penstock::agent
