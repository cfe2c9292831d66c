// SPDX-License-Identifier: Apache-2.0
#include "agent/core/recorder.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "agent/core/chunk_writer.h"
#include "agent/core/process.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/deliveries.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"
#include "agent/system/time_namespace.h"

namespace penstock::agent {
namespace {

// Self(), for a caller with one record to write. Counts the record as dropped if this process has
// no slot or has ended its recording.
inline ThreadState* SelfOrCount() {
  ThreadState* s = Self();
  if (s == nullptr && g_without_slot) {
    CountDropped(1);
  }
  return s;
}

// Calls Put(), or counts the record as dropped if the recording has ended meanwhile.
__attribute__((always_inline)) inline void PutOrCount(const BusyScope& busy, const Context& context,
                                                      const RecordFields& fields) {
  if (__builtin_expect(!busy, 0)) {
    CountDropped(1);
    return;
  }
  Put(busy, context, fields);
}

__attribute__((always_inline)) inline RecordFields FieldsOf(const FinishedSpan& span,
                                                            uint32_t depth) {
  return {.kind = wire::kKindSpan,
          .stage = span.stage,
          .flags = span.flags,
          .depth = depth,
          .name = span.name,
          .start = span.start,
          .duration = span.duration,
          .work = span.work,
          .bytes = span.bytes,
          .object = span.object};
}

}  // namespace

bool Recording() {
  return __atomic_load_n(__atomic_load_n(&g_recording, __ATOMIC_RELAXED), __ATOMIC_RELAXED) != 0;
}

// On aarch64 this is always the C library's clock_gettime(), which reads the virtual counter
// (cntvct_el0) in the vDSO. Reading that register ourselves, as we do with the TSC, would save the
// vDSO's overhead, but would need another kind of clock in the format. The gain has not been
// measured on a real machine.
uint64_t Now() {
#if defined(__x86_64__)
  if (__builtin_expect(g_tsc, 1)) {
    return __rdtsc();
  }
#endif
  if (__builtin_expect(sys::IsShut(), 0)) {
    return 0;  // reading a clock may end the program now; nobody uses this time
  }
  struct timespec t = {};  // stays 0 if the program may make no system calls
  g_clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec) -
         static_cast<uint64_t>(g_clock_shift);
}

uint64_t ThreadCpu() {
  struct timespec t = {};  // stays 0 if the program may make no system calls
  sys::Call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, sys::Pointer(&t));
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t ProcessCpu() {
  struct timespec t = {};  // stays 0 if the program may make no system calls
  sys::Call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, sys::Pointer(&t));
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void Emit(const FinishedSpan& span) {
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    if (s->probe.window != 0 && span.stage == wire::kDecode && s->open_stage[wire::kDecode] == 0) {
      s->probe.decode.wall += span.duration;
      s->probe.decode.cpu += (span.flags & wire::kFlagCpu) != 0 ? span.work : 0;
    }
    BusyScope busy(s);
    PutOrCount(busy, s->context, FieldsOf(span, s->depth));
  }
}

void EmitAt(const Context& context, const FinishedSpan& span) {
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    PutOrCount(busy, context, FieldsOf(span, s->depth));
  }
}

void EmitFollowed(uint8_t kind, uint8_t depth, const Context& context, const FinishedSpan& span) {
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    RecordFields fields = FieldsOf(span, depth);
    fields.kind = kind;
    PutOrCount(busy, context, fields);
  }
}

ThreadState* MakeLane(uint32_t tid, const char* name) {
  const ThreadState* self = Self();
  ThreadState* lane = self != nullptr ? TakeState() : nullptr;
  if (lane == nullptr) {
    return nullptr;
  }
  ResetState(lane, self->token);
  lane->tid = tid;
  lane->writer = self->tid;
  Text text{lane->name, sizeof lane->name};
  text.Add(name);
  return lane;
}

void EmitOnLane(ThreadState* lane, const Context& context, const FinishedSpan& span) {
  if (lane != nullptr && lane->token == *g_guard) {
    BusyScope busy(lane);
    PutOrCount(busy, context, FieldsOf(span, 0));
  }
}

void EmitMark(ThreadState* state, const Context& context, const FinishedSpan& range,
              uint32_t nvtx_depth) {
  BusyScope busy(state);
  PutOrCount(busy, context, FieldsOf(range, state->depth + nvtx_depth));
}

void PublishLane(ThreadState* lane) {
  if (lane == nullptr || lane->token != *g_guard || lane->chunk == nullptr) {
    return;
  }
  BusyScope busy(lane);
  if (busy) {
    PublishChunk(busy);
  }
}

void EmitEvent(uint8_t type, const Context& context, int64_t value) {
  if (type == wire::kBatchDelivered) {
    NoteDelivery(context.batch, context.generation);
  }
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    PutOrCount(busy, context,
               {.kind = wire::kKindEvent,
                .stage = type,
                .depth = s->depth,
                .start = Now(),
                .work = static_cast<uint64_t>(value)});
  }
}

void EmitCounter(uint32_t name, int64_t value) {
  if (ThreadState* s = Self(); s != nullptr) {
    BusyScope busy(s);
    PutOrCount(busy, Context{},
               {.kind = wire::kKindCounter,
                .name = name,
                .start = Now(),
                .work = static_cast<uint64_t>(value),
                .object = g_slot != nullptr ? g_slot->pid : 0});
  }
}

Operation* FindOperation(const void* key) {
  ThreadState* s = key != nullptr ? Self() : nullptr;  // free entries have no key
  if (s != nullptr) {
    for (Operation& o : s->operations) {
      if (o.key == key) {
        return &o;
      }
    }
  }
  return nullptr;
}

Operation* AddOperation(const void* key) {
  ThreadState* s = key != nullptr ? Self() : nullptr;
  if (s == nullptr) {
    return nullptr;
  }
  Operation* slot = &s->operations[0];
  for (Operation& o : s->operations) {
    if (o.key == nullptr) {
      slot = &o;
      break;
    }
    if (o.start < slot->start) {
      slot = &o;
    }
  }
  *slot = Operation{};
  slot->key = key;
  return slot;
}

void ShowOperation(Stage stage, uint32_t name, uint64_t start) {
  ThreadState* s = Self();
  if (s == nullptr || s->chunk == nullptr) {
    return;
  }
  wire::Inflight& o = s->chunk->operation;
  __atomic_store_n(&o.stage, uint8_t{0}, __ATOMIC_RELEASE);
  o.flags = 0;
  o.generation = s->context.generation;
  o.name = name;
  o.start = start;
  o.sample = s->context.sample;
  o.object = 0;
  o.batch = s->context.batch;
  __atomic_store_n(&o.stage, uint8_t{stage}, __ATOMIC_RELEASE);
}

void HideOperation() {
  ThreadState* s = Attached();
  if (s != nullptr && s->chunk != nullptr) {
    __atomic_store_n(&s->chunk->operation.stage, uint8_t{0}, __ATOMIC_RELEASE);
  }
}

}  // namespace penstock::agent
