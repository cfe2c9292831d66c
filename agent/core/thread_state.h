// SPDX-License-Identifier: Apache-2.0
//
// What the agent keeps for each thread: its chunk, its stack of open spans, and the sample and
// batch that it works on. The memory is mapped at the thread's first event. After the thread's end
// another thread reuses it.
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
// Called when a thread ends. Forgets the NVTX ranges that the thread has pushed and not popped, so
// that the next thread with this memory cannot end them.
void CloseRanges(NvtxThread* nvtx);

struct OpenSpan {
  uint64_t start;
  uint64_t cpu;  // thread CPU at start, ns
  void* frame;   // C frame of a hook; nullptr: opened by Python or the program, ended by its token
  uint32_t name;
  uint32_t serial;
  Context saved;    // restored at the end, if `sets_context`
  uint64_t faults;  // major faults at start, if `has_faults`
  uint64_t reads;   // ProbedPiece::reads at start
  uint8_t stage;
  bool has_cpu;
  bool sets_context;
  bool has_faults;
  bool native;  // opened by the program itself, see BeginNative()
};

struct ProbedTime {
  uint64_t wall;  // ticks
  uint64_t cpu;   // ns, of the spans whose CPU time was measured
};

// The piece of a thread's work that an experiment may slow down (agent/core/probe.h).
struct ProbedPiece {
  uint64_t window;  // in which it began, from 1; 0: none is measured
  uint64_t start;   // ticks
  uint64_t cpu;     // ns, of the thread, at the start
  uint64_t queued;  // ns that the thread had waited for a core, at the start
  uint64_t reads;   // ticks inside reads
  // Times of outermost spans; those of decode and tokenize leave out the reads inside.
  ProbedTime decode, tokenize, sample, collate;
  uint64_t rest;  // ns of the delay to wait for without computing
  uint64_t told;  // number of the last window that was recorded, from 1
};

struct ThreadState {
  uint64_t token;            // of the process that it belongs to
  wire::ChunkHeader* chunk;  // nullptr: none
  wire::Record* records;     // in `chunk`
  uint32_t used;
  uint32_t depth;
  uint32_t serial;  // atomic: of the span that was begun last
  uint32_t tid;
  uint32_t sequence;
  uint32_t busy;     // the thread is in the core: events of a signal handler are dropped
  bool written_out;  // without a collector: the full chunk has been written to the file
  Context context;
  uint64_t cpu_ticks;  // when thread CPU time was read last, 0 = never
  uint64_t cpu_value;  // what it was, ns
  uint64_t dropped;
  // The entries of ChunkHeader::pending: those in use (bits), the one used last, and the descriptor
  // of each with its serial number.
  uint32_t pending;
  uint32_t pending_last;
  int pending_fd[wire::kPendingReads];
  uint32_t pending_serial[wire::kPendingReads];
  uint32_t open_stage[wire::kStageCount];
  uint32_t native_stage[wire::kStageCount];  // how many of open_stage are `native`
  OpenSpan open[kMaxDepth];
  Operation operations[kOperations];
  ProbedPiece probe;
  NvtxThread* nvtx;   // NVTX ranges; kept after a fork and when this state is reused
  uint32_t writer;    // in a lane: id of the thread that writes it; else 0
  char name[16];      // in a lane: its name
  uint32_t taken;     // atomic: 0 = free for the next thread
  ThreadState* next;  // in the list of all states; none is ever freed
};

// Marks a thread's state as busy while the core works on it. A signal handler on the same thread
// finds it busy; for that the order of the instructions is enough (signal fence).
//
// A process that ends its recording first makes its token void, then waits until no thread is busy
// (StopThreads()). So this class sets `busy`, then reads the token again; if the token is void, the
// scope is false and the caller must leave the state alone. This class needs no barrier between the
// two accesses, not even on aarch64: StopThreads() makes all running threads pass one between its
// own two steps. Wherever that barrier falls, one side sees the other's store. A thread that finds
// the state not busy sees all that was written in the scope (release and acquire).
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

// Returns the calling thread's state; attaches the thread first if it is not. nullptr: recording is
// off or impossible, or a signal handler has interrupted the core (counted as dropped).
ThreadState* Self();
// Returns the state of a thread that is attached, else nullptr. Attaches and counts nothing.
ThreadState* Attached();

// Makes the process token void and waits until no other thread is in the core: from then on only
// the caller changes chunks of this process. False: a thread did not leave the core in time. The
// token is valid again and all threads go on recording, so the caller must not write their chunks.
bool StopThreads();

// Returns memory for a state: that of a thread that has ended, or new; nullptr: no memory.
ThreadState* TakeState();
// Clears a state for the process `token` and the calling thread. It keeps only the NVTX ranges.
void ResetState(ThreadState* state, uint64_t token);

// Makes the C library call ReleaseThread(state) when the calling thread ends. Does nothing if the
// program has no pthread keys, or no key is left.
void OnThreadExit(ThreadState* state);
void ReleaseThread(void* state);

// Called when a thread ends. Writes the thread's open spans as unfinished, but drops those of C
// calls, because they may be left over from a longjmp. When a Python interpreter finalises, its
// daemon threads (a queue's feeder thread, for example) end in the middle of a call.
void EndOpenSpans(ThreadState* state);

// Opens a span from Python. Unlike Begin(), it takes no frame and does not drop spans that a
// longjmp left open: the End() of an outer span drops them. `context` may be null.
Token BeginPython(Stage stage, uint32_t name, const Context* context);
// Opens a span for a native program, likewise. Inside it ProgramWrites(stage) is true for hooks.
Token BeginNative(Stage stage, uint32_t name, const Context* context, bool cpu);
// From now on the program writes the spans of these stages (bits) itself.
void ClaimStages(uint32_t stages);
void EmitEvent(uint8_t type, const Context& context, int64_t value);
void EmitCounter(uint32_t name, int64_t value);
void EmitText(uint8_t type, uint64_t id, const char* text, size_t size);
// Writes a followed unit or a node of its calls: wire::kKindUnit and kKindCall say what the fields
// are.
void EmitFollowed(uint8_t kind, uint8_t depth, const Context& context, const FinishedSpan& span);
// Makes a lane: a state for records of something that is not a thread of this process, or of a
// thread whose records another thread writes. Only the thread that made the lane may write to it.
// nullptr: no memory, or not recording.
ThreadState* MakeLane(uint32_t tid, const char* name);
void EmitOnLane(ThreadState* lane, const Context& context, const FinishedSpan& span);
// Writes an NVTX range or mark. Its depth is that of the open spans plus `nvtx_depth`.
void EmitMark(ThreadState* state, const Context& context, const FinishedSpan& range,
              uint32_t nvtx_depth);
// Hands the lane's chunk to the collector, or writes it to the file if there is none; the next
// record takes another chunk.
void PublishLane(ThreadState* lane);

// Like Emit(), but with `context` instead of the thread's own.
void EmitAt(const Context& context, const FinishedSpan& span);

}  // namespace penstock::agent
