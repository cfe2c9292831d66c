// SPDX-License-Identifier: Apache-2.0
#include "agent/thread_state.h"

#include <stddef.h>
#include <sys/mman.h>

#include "agent/chunk_writer.h"
#include "agent/pending_reads.h"
#include "agent/process.h"
#include "agent/sys.h"

namespace penstock::agent {
namespace {

__thread ThreadState* t_state = nullptr;
__thread uint32_t t_starting = 0;  // `t_state` is being made

constexpr size_t kStateSize = (sizeof(ThreadState) + 4095) & ~size_t{4095};

// States of ended threads, for reuse.
uint32_t g_free_lock = 0;
ThreadState* g_free = nullptr;  // atomic: changed under the lock, looked at without it

// First event of this thread, or first after a fork.
__attribute__((noinline)) ThreadState* SelfSlow() {
  uint64_t token;
  if (!EnsureProcess(&token) || IsEnded()) {
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
    ResetState(s, token);
    t_state = s;
    OnThreadExit(s);
  } else if (s->token != token) {
    // A forked child. The chunk is the parent's; the loader's context survives the fork.
    const Context context = s->context;
    ResetState(s, token);
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

}  // namespace

ThreadState* TakeState() {
  ThreadState* state = nullptr;
  uint32_t expected = 0;
  // Never waits: whoever finds the list taken maps fresh memory.
  if (__atomic_load_n(&g_free, __ATOMIC_RELAXED) != nullptr &&
      __atomic_compare_exchange_n(&g_free_lock, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED)) {
    state = __atomic_load_n(&g_free, __ATOMIC_RELAXED);
    if (state != nullptr) {
      __atomic_store_n(&g_free, state->next_free, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&g_free_lock, 0u, __ATOMIC_RELEASE);
  }
  if (state == nullptr) {
    state = static_cast<ThreadState*>(
        sys::Map(nullptr, kStateSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  return state;
}

void ResetState(ThreadState* s, uint64_t token) {
  NvtxThread* const nvtx = s->nvtx;
  __builtin_memset(static_cast<void*>(s), 0, sizeof *s);
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

// What the exit of a thread gives back. Runs as a pthread key destructor.
void ReleaseThread(void* state) {
  auto* s = static_cast<ThreadState*>(state);
  if (s == nullptr || s->token != *g_guard || t_state != s) {
    return;
  }
  FlushReads(s);
  EndOpenSpans(s);
  CloseRanges(s->nvtx);
  t_state = nullptr;
  if (s->chunk != nullptr) {
    __atomic_store_n(&s->chunk->operation.stage, uint8_t{0}, __ATOMIC_RELEASE);
    PublishChunk(s);
  }
  uint32_t expected = 0;
  if (__atomic_compare_exchange_n(&g_free_lock, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED)) {
    s->next_free = __atomic_load_n(&g_free, __ATOMIC_RELAXED);
    __atomic_store_n(&g_free, s, __ATOMIC_RELAXED);
    __atomic_store_n(&g_free_lock, 0u, __ATOMIC_RELEASE);
  } else {
    FreeRanges(s->nvtx);
    sys::Unmap(s, kStateSize);
  }
}

}  // namespace penstock::agent
