// SPDX-License-Identifier: Apache-2.0
#include "agent/core/thread_state.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/core/chunk_writer.h"
#include "agent/core/pending_reads.h"
#include "agent/core/process.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

__thread ThreadState* t_state = nullptr;
__thread uint32_t t_starting = 0;  // `t_state` is being made

constexpr size_t kStateSize = (sizeof(ThreadState) + 4095) & ~size_t{4095};

// All states that were ever made. None is freed; after its thread has ended, another one may take
// it.
ThreadState* g_states = nullptr;  // atomic

bool Take(ThreadState* s) {
  uint32_t expected = 0;
  return __atomic_load_n(&s->taken, __ATOMIC_RELAXED) == 0 &&
         __atomic_compare_exchange_n(&s->taken, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

void GiveBack(ThreadState* s) {
  __atomic_store_n(&s->taken, 0u, __ATOMIC_RELEASE);
}

ThreadState* MakeState() {
  auto* s = static_cast<ThreadState*>(
      sys::Map(nullptr, kStateSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (s != nullptr) {
    s->taken = 1;
    s->next = __atomic_load_n(&g_states, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&g_states, &s->next, s, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
  return s;
}

uint32_t ThreadOf(const ThreadState* s) {
  return s->writer != 0 ? s->writer : s->tid;
}

// Whether the state belongs to the process with this token, and to another thread than `tid`. A
// state without a token is being made, so it counts too.
bool IsOfAnother(const ThreadState* s, uint32_t tid, uint64_t token) {
  return __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE) != 0 &&
         (s->token == token || s->token == 0) && ThreadOf(s) != tid;
}

// Whether the thread of this state is inside the core and still runs.
bool IsBusy(const ThreadState* s) {
  return __atomic_load_n(&s->busy, __ATOMIC_ACQUIRE) != 0 &&
         sys::Call(SYS_tgkill, sys::Pid(), ThreadOf(s), 0) != -3 /* ESRCH */;
}

// Makes every running thread of this process pass a memory barrier. The caller then sees all that
// each thread stored before the barrier, and each thread sees all that the caller stored before
// this call.
void PassBarrier() {
  constexpr int kGlobal = 1;
  constexpr int kExpedited = 8;
  constexpr int kRegisterExpedited = 16;
  if (sys::Call(SYS_membarrier, kRegisterExpedited, 0, 0) != 0 ||
      sys::Call(SYS_membarrier, kExpedited, 0, 0) != 0) {
    sys::Call(SYS_membarrier, kGlobal, 0, 0);
  }
}

// Called at the first event of a thread, and at the first after a fork.
__attribute__((noinline)) ThreadState* SelfSlow() {
  uint64_t token;
  if (!EnsureProcess(&token) || (token & kEnded) != 0) {
    return nullptr;
  }
  ThreadState* s = t_state;
  if (s == nullptr) {
    if (t_starting != 0) {
      CountDropped(1);  // a signal handler interrupted the lines below
      return nullptr;
    }
    t_starting = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s = TakeState();
    if (s != nullptr) {
      ResetState(s, token);
      t_state = s;
      OnThreadExit(s);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t_starting = 0;
    if (s == nullptr) {
      return nullptr;
    }
  } else if (s->token != token && s->busy == 0) {
    // In a forked child the chunk is still the parent's. The context (sample and batch) survives
    // the fork.
    const Context context = s->context;
    ResetState(s, token);
    s->context = context;
  }
  if (s->busy != 0) {
    // A signal handler interrupted the lines below. Or it interrupted the core in the parent and
    // forked this process, which will return into the core too. So the state must stay as it is.
    // Self() counts the record as dropped.
    return s;
  }
  // This thread stores `taken` and `token`, then reads the process's token again. StopThreads()
  // stores the process's token, then reads `taken` and `token`. With this fence, one of the two
  // sees the other's store. An atomic exchange alone would not ensure that on aarch64, and after a
  // fork there is no exchange.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  bool claimed;
  {
    BusyScope busy(s);
    if (!busy) {
      return nullptr;
    }
    claimed = NextChunk(busy);
  }
  if (claimed) {
    AnnounceProcess();
  }
  return s;
}

}  // namespace

bool StopThreads() {
  constexpr int kPatience = 600;  // 500 us each: a thread may wait for a disk
  const uint64_t token = *g_guard;
  const uint32_t self = sys::Tid();
  MarkEnded();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);  // as in SelfSlow()
  bool alone = true;
  for (ThreadState* s = __atomic_load_n(&g_states, __ATOMIC_ACQUIRE); s != nullptr; s = s->next) {
    alone = alone && !IsOfAnother(s, self, token);
  }
  if (alone) {
    return true;
  }
  PassBarrier();
  ThreadState* s = __atomic_load_n(&g_states, __ATOMIC_ACQUIRE);
  for (int i = 0; s != nullptr && i < kPatience;) {
    if (IsOfAnother(s, self, token) && IsBusy(s)) {
      struct timespec pause = {0, 500000};
      sys::Call(SYS_nanosleep, sys::Pointer(&pause), 0);
      ++i;
    } else {
      s = s->next;
    }
  }
  if (s != nullptr) {
    UnmarkEnded();
  }
  return s == nullptr;
}

ThreadState* TakeState() {
  for (ThreadState* s = __atomic_load_n(&g_states, __ATOMIC_ACQUIRE); s != nullptr; s = s->next) {
    if (Take(s)) {
      return s;
    }
  }
  return MakeState();
}

void ResetState(ThreadState* s, uint64_t token) {
  NvtxThread* const nvtx = s->nvtx;
  // Leaves `taken` and `next` alone, which other threads look at.
  __builtin_memset(static_cast<void*>(s), 0, offsetof(ThreadState, taken));
  s->nvtx = nvtx;
  s->token = token;
  s->tid = sys::Tid();
  s->context = Context{};
}

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

ThreadState* Attached() {
  ThreadState* s = t_state;
  return s != nullptr && s->token == *g_guard ? s : nullptr;
}

// Gives back what an ending thread has. Runs as a pthread key destructor.
void ReleaseThread(void* state) {
  auto* s = static_cast<ThreadState*>(state);
  if (s == nullptr || s->token != *g_guard || t_state != s) {
    return;
  }
  // False if a signal handler left the core by longjmp. The chunk then stays as it is for its
  // reader, as if the thread had been killed.
  const bool whole = s->busy == 0;
  if (whole) {
    FlushReads(s);
    EndOpenSpans(s);
  }
  CloseRanges(s->nvtx);
  t_state = nullptr;
  {
    BusyScope busy(s);
    if (whole && busy && s->chunk != nullptr) {
      __atomic_store_n(&s->chunk->operation.stage, uint8_t{0}, __ATOMIC_RELEASE);
      PublishChunk(busy);
    }
  }
  GiveBack(s);
}

}  // namespace penstock::agent
