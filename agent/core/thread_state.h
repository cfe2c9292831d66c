// SPDX-License-Identifier: Apache-2.0
//
// What the agent keeps per thread: its chunk, its stack of open spans, its place in the loader
// (sample and batch). Memory is mapped at the thread's first event and reused after its end.
#pragma once

#include <stdint.h>

#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "traces/wire.h"

namespace penstock::agent {

inline constexpr uint32_t kMaxDepth = 32;

struct Context {
  int64_t sample = wire::kNoSample;
  uint32_t batch = wire::kNoBatch;
  uint16_t generation = 0;
};

struct NvtxThread;
// Of a thread that ends: its open ranges end with it, never on the next thread that gets its
// memory.
void CloseRanges(NvtxThread* nvtx);

struct OpenSpan {
  uint64_t start;
  uint64_t cpu;  // thread CPU at start, ns
  void* frame;   // C frame, or nullptr: opened from Python, ends by token alone
  uint32_t name;
  uint32_t serial;
  Context saved;    // restored at the end, if `sets_context`
  uint64_t faults;  // major faults at start, if `has_faults`
  uint8_t stage;
  bool has_cpu;
  bool sets_context;
  bool has_faults;
  bool native;  // opened by the program itself
};

struct ThreadState {
  uint64_t token;            // process token it was made for
  wire::ChunkHeader* chunk;  // nullptr: none
  wire::Record* records;     // of the chunk
  uint32_t used;
  uint32_t depth;
  uint32_t serial;
  uint32_t tid;
  uint32_t sequence;
  uint32_t busy;     // inside the core: an event from a signal handler is dropped
  bool written_out;  // without a collector: the chunk is full and in the file
  Context context;
  uint64_t cpu_ticks;  // when thread CPU time was read last, 0 = never
  uint64_t cpu_value;  // what it was, ns
  uint64_t dropped;
  // Of ChunkHeader::pending: which are in use (bits), of which descriptors, the one used last.
  uint32_t pending;
  uint32_t pending_last;
  int pending_fd[wire::kPendingReads];
  uint32_t pending_serial[wire::kPendingReads];
  uint32_t open_stage[wire::kStageCount];
  uint32_t native_stage[wire::kStageCount];  // of those, opened by the program itself
  OpenSpan open[kMaxDepth];
  Operation operations[kOperations];
  NvtxThread* nvtx;   // ranges of the program, outlives forks and reuse of this state
  uint32_t writer;    // of a lane: the thread that fills it, else 0
  char name[16];      // of a lane
  uint32_t taken;     // atomic: 0 = free for the next thread
  ThreadState* next;  // of all states that were ever made
};

// While the core is at work on a thread's state. A signal handler that reads meanwhile finds it
// busy, on the same thread: what matters is the order of the instructions.
//
// A process that ends its recording first makes its token void, then waits until no thread is busy
// (StopThreads()). So whoever is busy asks once more, and leaves the state alone if he came too
// late: there the scope is false. StopThreads() makes all processors pass a barrier in between;
// here none is needed, on aarch64 either: that barrier falls before or after the two accesses of
// this thread, or between them, and in each case one side sees the other. What the thread has
// written in the scope is seen by whoever finds it not busy (release and acquire).
class BusyScope {
 public:
  explicit BusyScope(ThreadState* state) : state_(state), was_(state->busy) {
    __atomic_store_n(&state->busy, 1u, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    entered_ = state->token == *g_guard;
  }
  ~BusyScope() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&state_->busy, was_, __ATOMIC_RELEASE);
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;
  explicit operator bool() const { return entered_; }
  [[nodiscard]] ThreadState* state() const { return state_; }

 private:
  ThreadState* state_;
  uint32_t was_;
  bool entered_;
};

// The calling thread's state, attached; nullptr when recording is off or impossible.
ThreadState* Self();
// The same where it is attached already; attaches nothing and counts nothing.
ThreadState* Attached();

// From now on no thread of this process but the caller changes what a chunk says; each finds that
// its token is void. False: one of them did not leave the core in time, so nobody may write its
// chunk; all go on recording.
bool StopThreads();

// Memory for a state: of an ended thread, or fresh; nullptr: none. Then made anew for the process
// `token` and the calling thread; only its NVTX ranges stay.
ThreadState* TakeState();
void ResetState(ThreadState* state, uint64_t token);

// Arranges for ReleaseThread(state) at the end of the calling thread, where the C library can.
void OnThreadExit(ThreadState* state);
void ReleaseThread(void* state);

// Of a thread that ends: what it was in the middle of becomes unfinished spans, those of C calls
// apart, which may be left over from a longjmp. An interpreter that finalises ends its daemon
// threads (a queue's feeder) so, in whatever call they are.
void EndOpenSpans(ThreadState* state);

// Python's spans: as Begin(), but healed by token only. `context` may be null.
Token BeginPython(Stage stage, uint32_t name, const Context* context);
// Spans of a native program: the same, and the hooks inside know of it.
Token BeginNative(Stage stage, uint32_t name, const Context* context, bool cpu);
// From now on the program writes the spans of these stages (bits) itself.
void ClaimStages(uint32_t stages);
void EmitEvent(uint8_t type, const Context& context, int64_t value);
void EmitCounter(uint32_t name, int64_t value);
void EmitText(uint8_t type, uint64_t id, const char* text, size_t size);
// A lane: records of something that is no thread of this process, or of a thread of which another
// one tells. Only the thread that made it may write to it. nullptr: no memory, not recording.
ThreadState* MakeLane(uint32_t tid, const char* name);
void EmitOnLane(ThreadState* lane, const Context& context, const FinishedSpan& span);
// A range of the program, at `nvtx_depth` of its own kind.
void EmitMark(ThreadState* state, const Context& context, const FinishedSpan& range,
              uint32_t nvtx_depth);
// Gives its chunk to whoever drains the recording; the next record takes another.
void PublishLane(ThreadState* lane);

// As Emit(), with the given place instead of the thread's.
void EmitAt(const Context& context, const FinishedSpan& span);

}  // namespace penstock::agent
