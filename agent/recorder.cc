// SPDX-License-Identifier: Apache-2.0

#include "agent/recorder.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "agent/fd_table.h"
#include "agent/gpu/deliveries.h"
#include "agent/process.h"
#include "agent/strings.h"
#include "agent/sys.h"
#include "agent/text.h"
#include "agent/thread_state.h"
#include "agent/time_namespace.h"

namespace penstock::agent {
namespace {

__thread ThreadState* t_state = nullptr;
__thread uint32_t t_starting = 0;  // `t_state` is being made

// While the core is at work on a thread's state. A signal handler that reads meanwhile finds it
// busy, on the same thread: what matters is the order of the instructions.
struct BusyScope {
  explicit BusyScope(uint32_t* flag) : busy(flag) {
    __atomic_store_n(busy, 1u, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  explicit BusyScope(ThreadState* state) : BusyScope(&state->busy) {}
  ~BusyScope() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(busy, 0u, __ATOMIC_RELAXED);
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;
  uint32_t* busy;
};

// States of ended threads, for reuse.
uint32_t g_free_lock = 0;
ThreadState* g_free = nullptr;

uint32_t g_claimed = 0;  // atomic: stages (bits) whose spans the program writes itself
static_assert(wire::kStageCount <= 32);

ThreadState* TakeState() {
  ThreadState* state = nullptr;
  uint32_t expected = 0;
  // Never waits: whoever finds the list taken maps fresh memory.
  if (__atomic_load_n(&g_free, __ATOMIC_RELAXED) != nullptr &&
      __atomic_compare_exchange_n(&g_free_lock, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED)) {
    state = g_free;
    if (state != nullptr) {
      g_free = state->next_free;
    }
    __atomic_store_n(&g_free_lock, 0u, __ATOMIC_RELEASE);
  }
  if (state == nullptr) {
    state = static_cast<ThreadState*>(
        sys::Map(nullptr, (sizeof(ThreadState) + 4095) & ~size_t{4095}, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  return state;
}

void Reset(ThreadState* s, uint64_t token) {
  NvtxThread* const nvtx = s->nvtx;
  __builtin_memset(static_cast<void*>(s), 0, sizeof *s);
  s->nvtx = nvtx;
  s->token = token;
  s->tid = sys::Tid();
  s->context = Context{};
}

bool NextChunk(ThreadState* s);

// First event of this thread, or first after a fork.
__attribute__((noinline)) ThreadState* SelfSlow() {
  uint64_t token;
  if (!EnsureProcess(&token)) {
    return nullptr;
  }
  ThreadState* s = t_state;
  if (s == nullptr) {
    if (t_starting != 0) {
      CountDropped(1);  // a signal handler interrupted the lines below
      return nullptr;
    }
    BusyScope starting(&t_starting);
    s = TakeState();
    if (s == nullptr) {
      return nullptr;
    }
    Reset(s, token);
    t_state = s;
    OnThreadExit(s);
  } else if (s->token != token) {
    // A forked child. The chunk is the parent's; the loader's context survives the fork.
    const Context context = s->context;
    Reset(s, token);
    s->context = context;
  }
  if (s->busy != 0) {
    return s;  // a signal handler interrupted the lines below: Self() counts and drops
  }
  bool claimed;
  {
    BusyScope busy(s);
    claimed = NextChunk(s);
  }
  if (claimed) {
    AnnounceProcess();
  }
  return s;
}

__attribute__((noinline)) bool NextChunk(ThreadState* s) {
  wire::ChunkHeader* old = s->chunk;
  uint32_t inflight = 0;
  wire::Inflight saved[wire::kMaxInflight];
  wire::Inflight operation = {};
  if (old != nullptr) {
    inflight = old->inflight_depth;
    __builtin_memcpy(saved, old->inflight, inflight * sizeof saved[0]);
    operation = old->operation;
  }
  wire::ChunkHeader* chunk = ClaimChunk(old, s->tid, s->sequence, s->dropped, s->writer,
                                        s->writer != 0 ? s->name : nullptr);
  if (chunk == nullptr) {
    return false;
  }
  if (old != nullptr && g_header->mode == wire::kRing) {
    __atomic_store_n(&old->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  }
  __builtin_memcpy(chunk->inflight, saved, inflight * sizeof saved[0]);
  chunk->operation = operation;
  __atomic_store_n(&chunk->inflight_depth, inflight, __ATOMIC_RELEASE);
  s->sequence += s->writer == 0 ? 1u : 0u;  // a lane keeps out of its thread's count
  s->chunk = chunk;
  s->records =
      reinterpret_cast<wire::Record*>(reinterpret_cast<char*>(chunk) + wire::kChunkHeaderSize);
  s->used = 0;
  return true;
}

inline bool Room(ThreadState* s, uint32_t records) {
  if (__builtin_expect(s->chunk != nullptr && s->used + records <= wire::kRecordsPerChunk, 1)) {
    return true;
  }
  // With nothing free, look again only now and then: the search must not cost the program time.
  return (s->dropped & 63) == 0 && NextChunk(s);
}

__attribute__((noinline)) void Drop(ThreadState* s, uint64_t records) {
  s->dropped += records;
  CountDropped(records);
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

inline void SetInflightDepth(ThreadState* s, uint32_t depth) {
  if (s->chunk != nullptr) {
    __atomic_store_n(&s->chunk->inflight_depth,
                     depth < wire::kMaxInflight ? depth : wire::kMaxInflight, __ATOMIC_RELEASE);
  }
}

// Drops the innermost open span without a record.
void Pop(ThreadState* s) {
  const OpenSpan& o = s->open[s->depth - 1];
  --s->open_stage[o.stage];
  s->native_stage[o.stage] -= o.native ? 1u : 0u;
  if (o.sets_context) {
    s->context = o.saved;
  }
  // Last: a signal handler that opens a span here writes over what is above the stack.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  --s->depth;
}

// C spans left by longjmp or an exception: their frame lies at or below the one that opens now.
inline void Heal(ThreadState* s, const void* frame) {
  while (s->depth > 0 && s->open[s->depth - 1].frame != nullptr &&
         reinterpret_cast<uintptr_t>(s->open[s->depth - 1].frame) <=
             reinterpret_cast<uintptr_t>(frame)) {
    Pop(s);
  }
}

uint64_t MajorFaults() {
  struct rusage usage;
  if (sys::Call(SYS_getrusage, RUSAGE_THREAD, sys::Pointer(&usage)) != 0) {
    return 0;
  }
  return static_cast<uint64_t>(usage.ru_majflt);
}

bool MapsFiles() {
  return g_slot != nullptr &&
         (__atomic_load_n(&g_slot->features, __ATOMIC_RELAXED) & wire::kFeatureMapped) != 0;
}

// Thread CPU time at `*ticks`. The system call costs more than many a span, and spans begin and end
// in clusters (a transform inside a Compose inside a sample): within 20 us of a reading the CPU
// time has grown by at most the wall time, so that is what is added. Otherwise reads, and moves
// `*ticks` behind the reading.
inline uint64_t CpuAt(ThreadState* s, uint64_t* ticks) {
  const uint64_t since = *ticks - s->cpu_ticks;
  if (s->cpu_ticks != 0 && since < g_cpu_reuse_ticks) {
    return s->cpu_value + (since * g_ns_per_tick >> 20);
  }
  s->cpu_value = ThreadCpu();
  s->cpu_ticks = *ticks = Now();
  return s->cpu_value;
}

// Pushes a span; the caller has healed.
inline Token Push(ThreadState* s, Stage stage, uint32_t name, void* frame, bool cpu,
                  const Context* context, bool native = false) {
  if (s->depth >= kMaxDepth) {
    return {};
  }
  BusyScope busy(s);
  const uint32_t at = s->depth;
  OpenSpan& o = s->open[at];
  o.frame = frame;
  o.name = name;
  o.stage = stage;
  o.serial = ++s->serial;
  o.sets_context = context != nullptr;
  if (context != nullptr) {
    o.saved = s->context;
    s->context = *context;
  }
  ++s->open_stage[stage];
  o.native = native;
  s->native_stage[stage] += native ? 1u : 0u;
  s->depth = at + 1;
  o.has_faults = stage == wire::kSample && MapsFiles();
  if (o.has_faults) {
    o.faults = MajorFaults();
  }
  o.has_cpu = cpu;
  o.start = Now();
  if (cpu) {
    o.cpu = CpuAt(s, &o.start);
  }
  if (at < wire::kMaxInflight && s->chunk != nullptr) {
    wire::Inflight& f = s->chunk->inflight[at];
    f.stage = stage;
    f.flags = 0;
    f.generation = s->context.generation;
    f.name = name;
    f.start = o.start;
    f.sample = s->context.sample;
    f.object = 0;
    f.batch = s->context.batch;
    __atomic_store_n(&s->chunk->inflight_depth, at + 1, __ATOMIC_RELEASE);
  }
  return {at + 1, o.serial};
}

// Self(), for what is a record of its own.
inline ThreadState* SelfOrCount() {
  ThreadState* s = Self();
  if (s == nullptr && g_without_slot) {
    CountDropped(1);
  }
  return s;
}

inline bool IsOpen(const ThreadState* s, Token token) {
  return token.depth != 0 && token.depth <= s->depth &&
         s->open[token.depth - 1].serial == token.serial;
}

}  // namespace

ThreadState* Self() {
  ThreadState* s = t_state;
  if (__builtin_expect(s == nullptr || s->token != *g_guard, 0)) {
    s = SelfSlow();
    if (s == nullptr) {
      return nullptr;
    }
  }
  if (__builtin_expect(s->busy != 0, 0)) {
    CountDropped(1);  // a signal handler interrupted the core on this thread
    return nullptr;
  }
  return s;
}

// What the exit of a thread gives back. Runs as a pthread key destructor.
void ReleaseThread(void* state) {
  auto* s = static_cast<ThreadState*>(state);
  if (s == nullptr || s->token != *g_guard || t_state != s) {
    return;
  }
  FlushDirtyFiles(s);
  CloseRanges(s->nvtx);
  t_state = nullptr;
  if (s->chunk != nullptr) {
    __atomic_store_n(&s->chunk->inflight_depth, 0u, __ATOMIC_RELEASE);
    __atomic_store_n(&s->chunk->operation.stage, uint8_t{0}, __ATOMIC_RELEASE);
    __atomic_store_n(&s->chunk->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
    if (g_header->mode == wire::kLinear) {
      sys::Unmap(s->chunk, wire::kChunkSize);
    }
    s->chunk = nullptr;
  }
  uint32_t expected = 0;
  if (__atomic_compare_exchange_n(&g_free_lock, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED)) {
    s->next_free = g_free;
    g_free = s;
    __atomic_store_n(&g_free_lock, 0u, __ATOMIC_RELEASE);
  } else {
    FreeRanges(s->nvtx);
    sys::Unmap(s, (sizeof(ThreadState) + 4095) & ~size_t{4095});
  }
}

bool Recording() {
  return __atomic_load_n(__atomic_load_n(&g_recording, __ATOMIC_RELAXED), __ATOMIC_RELAXED) != 0;
}

uint64_t Now() {
#if defined(__x86_64__)
  if (__builtin_expect(g_tsc, 1)) {
    return __rdtsc();
  }
#endif
  struct timespec t;
  g_clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec) -
         static_cast<uint64_t>(g_clock_shift);
}

uint64_t ThreadCpu() {
  struct timespec t;
  sys::Call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, sys::Pointer(&t));
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

Token Begin(Stage stage, uint32_t name, void* frame, bool cpu) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return {};
  }
  Heal(s, frame);
  return Push(s, stage, name, frame, cpu, nullptr);
}

Token BeginPython(Stage stage, uint32_t name, const Context* context) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return {};
  }
  // Of the spans that only ever wait or wrap others, CPU time says nothing.
  // Nor of a library function inside a named transform (PIL.resize in RandomResizedCrop in
  // Compose), or a codec inside a decode: the outer span has it.
  const bool cpu = stage != wire::kWait && stage != wire::kIdle && stage != wire::kStep &&
                   stage != wire::kRead && (stage != wire::kAugment || s->open_stage[stage] < 2) &&
                   (stage != wire::kDecode || s->open_stage[stage] == 0);
  return Push(s, stage, name, nullptr, cpu, context);
}

Token BeginNative(Stage stage, uint32_t name, const Context* context, bool cpu) {
  ThreadState* s = Self();
  return s != nullptr ? Push(s, stage, name, nullptr, cpu, context, true) : Token{};
}

void ClaimStages(uint32_t stages) {
  __atomic_fetch_or(&g_claimed, stages, __ATOMIC_RELAXED);
}

bool ProgramWrites(Stage stage) {
  if ((__atomic_load_n(&g_claimed, __ATOMIC_RELAXED) >> stage & 1) != 0) {
    return true;
  }
  const ThreadState* s = t_state;
  return s != nullptr && s->token == *g_guard && s->native_stage[stage] != 0;
}

void End(Token token, uint64_t bytes, uint64_t object, uint8_t flags) {
  const uint64_t end = Now();
  if (token.depth == 0 && g_without_slot) {
    CountDropped(1);
    return;
  }
  ThreadState* s = Self();
  if (s == nullptr || !IsOpen(s, token)) {
    return;
  }
  while (s->depth > token.depth) {
    Pop(s);
  }
  const OpenSpan& o = s->open[token.depth - 1];
  uint64_t work = 0;
  if (o.has_cpu) {
    uint64_t read_at = end;
    const uint64_t cpu = CpuAt(s, &read_at);
    work = cpu > o.cpu ? cpu - o.cpu : 0;
    flags |= wire::kFlagCpu;
  }
  if (o.stage == wire::kSample && s->dirty_count != 0) {
    FlushDirtyFiles(s);
  }
  if (o.has_faults) {
    const uint64_t faults = MajorFaults() - o.faults;
    if (faults != 0) {
      EmitEvent(wire::kMajorFaults, s->context, static_cast<int64_t>(faults));
    }
  }
  BusyScope busy(s);
  Put(s, wire::kKindSpan, o.stage, o.name, o.start, end > o.start ? end - o.start : 0, work, bytes,
      s->context, object, flags, static_cast<uint8_t>(token.depth - 1));
  Pop(s);
  SetInflightDepth(s, s->depth);
}

void Cancel(Token token) {
  ThreadState* s = Self();
  if (s == nullptr || !IsOpen(s, token)) {
    return;
  }
  while (s->depth >= token.depth) {
    Pop(s);
  }
  SetInflightDepth(s, s->depth);
}

void Emit(Stage stage, uint32_t name, uint64_t start, uint64_t duration, uint64_t work,
          uint64_t bytes, uint64_t object, uint8_t flags) {
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    Put(s, wire::kKindSpan, stage, name, start, duration, work, bytes, s->context, object, flags,
        static_cast<uint8_t>(s->depth));
  }
}

void EmitAt(const Context& context, Stage stage, uint32_t name, uint64_t start, uint64_t duration,
            uint64_t work, uint64_t bytes, uint64_t object, uint8_t flags) {
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    Put(s, wire::kKindSpan, stage, name, start, duration, work, bytes, context, object, flags,
        static_cast<uint8_t>(s->depth));
  }
}

ThreadState* MakeLane(uint32_t tid, const char* name) {
  const ThreadState* self = Self();
  ThreadState* lane = self != nullptr ? TakeState() : nullptr;
  if (lane == nullptr) {
    return nullptr;
  }
  Reset(lane, self->token);
  lane->tid = tid;
  lane->writer = self->tid;
  Text text{lane->name, sizeof lane->name};
  text.Add(name);
  return lane;
}

void EmitOnLane(ThreadState* lane, const Context& context, Stage stage, uint32_t name,
                uint64_t start, uint64_t duration, uint64_t bytes, uint64_t object) {
  if (lane != nullptr && lane->token == *g_guard) {
    Put(lane, wire::kKindSpan, stage, name, start, duration, 0, bytes, context, object, 0, 0);
  }
}

void EmitMark(ThreadState* state, const Context& context, uint32_t name, uint64_t start,
              uint64_t duration, uint64_t domain, uint32_t nvtx_depth) {
  BusyScope busy(state);
  const uint32_t depth = state->depth + nvtx_depth;
  Put(state, wire::kKindSpan, wire::kMark, name, start, duration, 0, 0, context, domain, 0,
      static_cast<uint8_t>(depth < 255 ? depth : 255));
}

void PublishLane(ThreadState* lane) {
  if (lane == nullptr || lane->token != *g_guard || lane->chunk == nullptr) {
    return;
  }
  __atomic_store_n(&lane->chunk->state, uint32_t{wire::kChunkFull}, __ATOMIC_RELEASE);
  if (g_header->mode == wire::kLinear) {
    sys::Unmap(lane->chunk, wire::kChunkSize);
  }
  lane->chunk = nullptr;
}

void EmitEvent(uint8_t type, const Context& context, int64_t value) {
  if (type == wire::kBatchDelivered) {
    NoteDelivery(context.batch, context.generation);
  }
  if (ThreadState* s = SelfOrCount(); s != nullptr) {
    BusyScope busy(s);
    Put(s, wire::kKindEvent, type, 0, Now(), 0, static_cast<uint64_t>(value), 0, context, 0, 0,
        static_cast<uint8_t>(s->depth));
  }
}

void EmitCounter(uint32_t name, int64_t value) {
  if (ThreadState* s = Self(); s != nullptr) {
    BusyScope busy(s);
    Put(s, wire::kKindCounter, 0, name, Now(), 0, static_cast<uint64_t>(value), 0, Context{},
        g_slot != nullptr ? g_slot->pid : 0, 0, 0);
  }
}

uint32_t OpenSpans(Stage stage) {
  ThreadState* s = t_state;
  return s != nullptr && s->token == *g_guard ? s->open_stage[stage] : 0;
}

void WriteText(uint8_t type, uint64_t id, const char* text, size_t size) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return;
  }
  size = size < kMaxText ? size : kMaxText;
  const auto parts =
      static_cast<uint32_t>(size == 0 ? 1 : (size + wire::kTextPayload - 1) / wire::kTextPayload);
  BusyScope busy(s);
  if (!Room(s, parts)) {
    Drop(s, parts);
    return;
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
}

Operation* FindOperation(const void* key) {
  ThreadState* s = Self();
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
  ThreadState* s = Self();
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
  ThreadState* s = t_state;
  if (s != nullptr && s->token == *g_guard && s->chunk != nullptr) {
    __atomic_store_n(&s->chunk->operation.stage, uint8_t{0}, __ATOMIC_RELEASE);
  }
}

}  // namespace penstock::agent
