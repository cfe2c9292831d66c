// SPDX-License-Identifier: Apache-2.0

#include "agent/core/linear_output.h"

#include "agent/core/output.h"
#include "agent/core/process.h"
#include "agent/core/run_name.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

// The file grows by this many chunks (4 MiB) at a time.
constexpr uint32_t kGrowChunks = 64;

char g_beside[4200] = {};   // second name of the file: used if the first is taken or the file lost
long g_user = -1;           // the user who owns the file
uint32_t g_relocating = 0;  // 1: a thread is moving the run to g_beside

}  // namespace

uint64_t RunHash() {
  return wire::HashOf(g_config.run, Length(g_config.run));
}

const char* NameOutputs() {
  g_user = sys::Call(SYS_geteuid);
  return NameBeside(g_config.out, g_config.run, g_beside, sizeof g_beside) ? g_beside : nullptr;
}

int OpenOrRelocate() {
  int fd = OpenOutput();
  uint32_t expected = 0;
  if (fd >= 0 || g_beside[0] == 0 || g_user != sys::Call(SYS_geteuid) ||
      !__atomic_compare_exchange_n(&g_relocating, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return fd;
  }
  const OutputLook first = LookAtOutput(g_config.out, RunHash());
  const OutputLook second = LookAtOutput(g_beside, RunHash());
  if (first.kind == OutputLook::kOfThisRun) {
    // The name has a copy of this run's file, with another inode: do not move.
    CloseOutput(first.fd);
  } else if (second.kind == OutputLook::kOfThisRun) {
    RememberOutput(g_beside, RunHash(), second.fd);  // another process of the run has moved it
  } else if (second.kind == OutputLook::kAbsent) {
    CreateOutput(g_beside, g_header, false);
  }
  if (second.kind == OutputLook::kOfThisRun) {
    CloseOutput(second.fd);
  }
  __atomic_store_n(&g_relocating, 0u, __ATOMIC_RELEASE);
  return OpenOutput();
}

bool TakePlace(uint32_t* index) {
  for (;;) {
    uint32_t next = __atomic_load_n(&g_header->next_chunk, __ATOMIC_RELAXED);
    uint32_t have = __atomic_load_n(&g_header->allocated_chunks, __ATOMIC_ACQUIRE);
    if (next < have) {
      if (__atomic_compare_exchange_n(&g_header->next_chunk, &next, next + 1, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        *index = next;
        return true;
      }
      continue;
    }
    // Two threads may reserve the same range, which does no harm.
    uint32_t want = have + kGrowChunks - have % kGrowChunks;
    want = want <= g_header->max_chunks ? want : static_cast<uint32_t>(g_header->max_chunks);
    if (want <= have) {
      return false;
    }
    const int fd = OpenOrRelocate();
    if (fd < 0) {
      return false;
    }
    bool ok = ReserveChunks(fd, have, want);
    if (!ok) {  // little room is left: take one chunk at a time
      want = have + 1;
      ok = ReserveChunks(fd, have, want);
    }
    CloseOutput(fd);
    if (!ok) {
      return false;
    }
    __atomic_compare_exchange_n(&g_header->allocated_chunks, &have, want, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
  }
}

}  // namespace penstock::agent
