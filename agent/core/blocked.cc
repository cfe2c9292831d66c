// SPDX-License-Identifier: Apache-2.0
#include "agent/core/blocked.h"

#include <errno.h>

#include "agent/core/fd_table.h"
#include "agent/core/process.h"
#include "agent/core/recorder.h"
#include "agent/core/thread_state.h"
#include "agent/system/sys.h"

// Non-null in a Python process: the interpreter or its library is loaded before the agent runs.
extern "C" __attribute__((weak)) int Py_IsInitialized();

namespace penstock::agent {
namespace {

PENSTOCK_NAME(g_lock_name, "lock");
PENSTOCK_NAME(g_pipe_name, "pipe");
PENSTOCK_NAME(g_poll_name, "poll");

// A thread that records nothing else gets a chunk after kWorthAChunk waits, or after one wait of
// kWorthAtOnce ticks.
constexpr uint32_t kWorthAChunk = 8;
constexpr uint64_t kWorthAtOnce = 100000000;  // 100 ms if ticks are nanoseconds; less with the TSC
__thread uint32_t t_blocked = 0;

NameTag* NameOf(BlockedOn what) {
  return what == BlockedOn::kLock   ? &g_lock_name
         : what == BlockedOn::kPipe ? &g_pipe_name
                                    : &g_poll_name;
}

// Whether a thread that has recorded nothing yet may get a chunk for a wait. A wait in poll()
// counts only on the main thread: network libraries have many threads that poll, and the training
// loop does not wait for them.
bool MayBegin(BlockedOn what, uint64_t wait) {
  if (what == BlockedOn::kPoll && sys::Tid() != sys::Pid()) {
    return false;
  }
  if (++t_blocked < kWorthAChunk && wait < kWorthAtOnce) {
    return false;
  }
  // Without a collector the first event makes the file, and a wait alone is no reason to make one.
  return g_slot != nullptr || g_config.arena[0] != 0;
}

bool LoaderIsKnown() {
  return g_slot != nullptr && __atomic_load_n(&g_slot->role, __ATOMIC_RELAXED) != wire::kRoleOther;
}

// Whether a wait is too short for a span: below 20 us. Before the process attaches, the length of a
// tick is not known, and Now() counts nanoseconds.
bool IsShort(uint64_t wait) {
  constexpr uint64_t kLeast = 20000;
  return wait < (g_cpu_reuse_ticks != 0 ? g_cpu_reuse_ticks : kLeast);
}

}  // namespace

bool WatchesBlocks() {
  return Py_IsInitialized != nullptr;
}

void OnBlocked(BlockedOn what, uint64_t start) {
  const uint64_t end = Now();
  if (start == 0 || IsShort(end - start)) {
    return;
  }
  const int saved = errno;
  const ThreadState* s = Attached();
  if (s != nullptr && s->depth == 0 && !LoaderIsKnown()) {
    Emit({.stage = wire::kBlock,
          .name = Name(NameOf(what)),
          .start = start,
          .duration = end - start});
  } else if (s == nullptr && !LoaderIsKnown() && MayBegin(what, end - start)) {
    // Self() may attach the process now, or another thread may have attached it during the wait.
    // Attaching may change the clock, so `start` may be of the old clock.
    const bool same_clock =
        g_slot != nullptr && (!g_tsc || (start >= g_attached_at && start <= end));
    if (Self() != nullptr && same_clock) {
      Emit({.stage = wire::kBlock,
            .name = Name(NameOf(what)),
            .start = start,
            .duration = end - start});
    }
  }
  errno = saved;
}

void OnBlockedWrite(int fd, uint64_t start) {
  if (start == 0 || IsShort(Now() - start)) {
    return;
  }
  if (Identify(fd).kind == FdKind::kPipe) {
    OnBlocked(BlockedOn::kPipe, start);
  }
}

}  // namespace penstock::agent
