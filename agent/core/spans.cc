// SPDX-License-Identifier: Apache-2.0
//
// The stack of open spans of a thread: the functions of recorder.h and thread_state.h that begin
// and end spans.
#include <stdint.h>
#include <sys/resource.h>

#include "agent/core/chunk_writer.h"
#include "agent/core/pending_reads.h"
#include "agent/core/probe.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

uint32_t g_claimed = 0;  // atomic: stages (bits) whose spans the program writes itself
static_assert(wire::kStageCount <= 32);

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
  // `depth` is decremented last: only then may a signal handler that opens a span overwrite `o`.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  --s->depth;
}

// Drops spans that a longjmp or an exception left open. The C stack grows
// downwards, and a new call now uses `frame`. So the calls with spans at or below it have ended.
inline void DropLeftOpen(ThreadState* s, const void* frame) {
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

// Returns the thread's CPU time at `*ticks`. Many spans take less time than the system call, and
// spans begin and end in clusters (a transform inside a Compose inside a sample). So within 20 us
// of the last reading it returns that reading plus the wall time since then, which is the most that
// CPU time can have grown. Otherwise it reads the CPU time, and sets `*ticks` to the moment after
// the reading.
inline uint64_t CpuAt(ThreadState* s, uint64_t* ticks) {
  const uint64_t since = *ticks - s->cpu_ticks;
  if (s->cpu_ticks != 0 && since < g_cpu_reuse_ticks) {
    return s->cpu_value + (since * g_ns_per_tick >> 20);
  }
  s->cpu_value = ThreadCpu();
  s->cpu_ticks = *ticks = Now();
  return s->cpu_value;
}

// Pushes a span. Returns an empty token if the stack is full or the process ends its recording.
// Requires: if the span has a frame, DropLeftOpen() was called.
inline Token Push(ThreadState* s, Stage stage, uint32_t name, void* frame, bool cpu,
                  const Context* context, bool native = false) {
  if (s->depth >= kMaxDepth) {
    return {};
  }
  BusyScope busy(s);
  if (!busy) {
    return {};
  }
  const uint32_t at = s->depth;
  OpenSpan& o = s->open[at];
  o.frame = frame;
  o.name = name;
  o.stage = stage;
  o.serial = s->serial + 1;
  __atomic_store_n(&s->serial, o.serial, __ATOMIC_RELAXED);  // python_stalls.cc reads it
  o.sets_context = context != nullptr;
  if (context != nullptr) {
    o.saved = s->context;
    s->context = *context;
  }
  ++s->open_stage[stage];
  o.native = native;
  o.reads = s->probe.reads;
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

inline bool IsOpen(const ThreadState* s, Token token) {
  return token.depth != 0 && token.depth <= s->depth &&
         s->open[token.depth - 1].serial == token.serial;
}

}  // namespace

Token Begin(Stage stage, uint32_t name, void* frame, bool cpu) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return {};
  }
  DropLeftOpen(s, frame);
  return Push(s, stage, name, frame, cpu, nullptr);
}

Token BeginPython(Stage stage, uint32_t name, const Context* context) {
  ThreadState* s = Self();
  if (s == nullptr) {
    return {};
  }
  // Spans that mostly wait, and steps, get no CPU time. Transforms nest (PIL.resize in
  // RandomResizedCrop in Compose): only the two outermost get it. Decoders and tokenizers nest too:
  // only the outermost gets it.
  const bool cpu =
      stage != wire::kWait && stage != wire::kIdle && stage != wire::kStep &&
      stage != wire::kRead && (stage != wire::kAugment || s->open_stage[stage] < 2) &&
      ((stage != wire::kDecode && stage != wire::kTokenize) || s->open_stage[stage] == 0);
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
  const ThreadState* s = Attached();
  return s != nullptr && s->native_stage[stage] != 0;
}

void End(Token token, uint64_t bytes, uint64_t object, uint8_t flags) {
  const uint64_t end = Now();
  if (token.depth == 0 && g_without_slot) {
    CountDropped(1);  // this process only counts the records that it would have written
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
  if (s->probe.window != 0) {
    NoteProbed(s, o, end > o.start ? end - o.start : 0, work);
  }
  if (o.stage == wire::kSample && s->pending != 0) {
    FlushReads(s);
  }
  if (o.has_faults) {
    const uint64_t faults = MajorFaults() - o.faults;
    if (faults != 0) {
      EmitEvent(wire::kMajorFaults, s->context, static_cast<int64_t>(faults));
    }
  }
  BusyScope busy(s);
  if (!busy) {
    CountDropped(1);
    return;
  }
  Put(busy, s->context,
      {.kind = wire::kKindSpan,
       .stage = o.stage,
       .flags = flags,
       .depth = token.depth - 1,
       .name = o.name,
       .start = o.start,
       .duration = end > o.start ? end - o.start : 0,
       .work = work,
       .bytes = bytes,
       .object = object});
  Pop(s);
  SetInflightDepth(s, s->depth);
}

void Cancel(Token token) {
  ThreadState* s = Self();
  if (s == nullptr || !IsOpen(s, token)) {
    return;
  }
  BusyScope busy(s);
  if (!busy) {
    return;  // as in EndOpenSpans()
  }
  while (s->depth >= token.depth) {
    Pop(s);
  }
  SetInflightDepth(s, s->depth);
}

void EndOpenSpans(ThreadState* s) {
  const uint64_t end = Now();
  BusyScope busy(s);
  if (!busy) {
    return;  // the process is writing the chunk, and its open spans with it
  }
  while (s->depth > 0) {
    const OpenSpan& o = s->open[s->depth - 1];
    if (o.frame == nullptr) {
      Put(busy, s->context,
          {.kind = wire::kKindSpan,
           .stage = o.stage,
           .flags = wire::kFlagUnfinished,
           .depth = s->depth - 1,
           .name = o.name,
           .start = o.start,
           .duration = end > o.start ? end - o.start : 0});
    }
    Pop(s);
  }
  SetInflightDepth(s, 0);
}

uint32_t OpenSpans(Stage stage) {
  const ThreadState* s = Attached();
  return s != nullptr ? s->open_stage[stage] : 0;
}

}  // namespace penstock::agent
