// SPDX-License-Identifier: Apache-2.0

#include "agent/core/audit.h"

#include <sys/resource.h>

#include "agent/core/process.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {

void FoldLocals(wire::ProcessSlot* slot) {
  const auto fold = [](uint64_t* local, uint64_t* field) {
    if (__atomic_load_n(local, __ATOMIC_RELAXED) != 0) {
      __atomic_fetch_add(field, __atomic_exchange_n(local, uint64_t{0}, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
  };
  fold(&g_local.hooked, &slot->bytes_hooked);
  fold(&g_local.dataset, &slot->bytes_dataset);
  fold(&g_local.network, &slot->bytes_network);
  fold(&g_local.mapped, &slot->bytes_mapped);
  fold(&g_local.lost, &slot->bytes_lost);
  fold(&g_local.claimed, &slot->bytes_claimed);
  fold(&g_local.network_lost, &slot->network_lost);
  fold(&g_local.network_claimed, &slot->network_claimed);
}

uint64_t KernelReadBytes() {
  PENSTOCK_SCRATCH(text);
  if (sys::ReadFile("/proc/self/io", text, 256) == 0) {
    return 0;
  }
  const char* p = Find(text, "rchar: ");
  int64_t value = p != nullptr ? ParseNumber(p + 7) : 0;
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

namespace {

// A number that changes whenever a child is reaped: the page faults of all reaped children.
__attribute__((noinline)) uint64_t ReapedChildren() {
  struct rusage usage = {};
  sys::Call(SYS_getrusage, RUSAGE_CHILDREN, sys::Pointer(&usage));
  return static_cast<uint64_t>(usage.ru_minflt);
}

// An interval is compared once it has this many bytes. The agent itself reads some hundreds of
// bytes to claim a chunk and to ask the kernel, which is little in comparison.
constexpr uint64_t kWorth = 64 << 10;

struct AuditPoint {
  uint64_t kernel;
  uint64_t hooked;
  uint64_t reaped;
};
AuditPoint g_audit = {};
uint32_t g_audit_lock = 0;  // guards g_audit and the slot's pair; nobody waits for it

uint64_t HookedBytes() {
  FoldLocals(g_slot);
  return __atomic_load_n(&g_slot->bytes_hooked, __ATOMIC_RELAXED);
}

}  // namespace

// Without a collector the process compares its own counts with the kernel's, chunk by chunk. When a
// parent reaps a child, its rchar grows by the child's rchar, so an interval with a reaped child is
// left out. Other threads go on reading while this one asks the kernel. So the hooks' count at that
// moment lies somewhere between `low` and `high`: the value of this range that is nearest to the
// kernel's count is taken.
void Audit() {
  uint32_t expected = 0;
  if (!__atomic_compare_exchange_n(&g_audit_lock, &expected, 1u, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  // The number of page faults is read before and after the kernel's count. If another thread reaps
  // a child in between, the child's bytes may be in this interval or in the next one, so both are
  // left out.
  const uint64_t reaped = ReapedChildren();
  const uint64_t low = HookedBytes() - g_audit.hooked;
  const uint64_t kernel = KernelReadBytes();
  const uint64_t high = HookedBytes() - g_audit.hooked;
  const bool comparable = ReapedChildren() == g_audit.reaped;
  const uint64_t grown = kernel > g_audit.kernel ? kernel - g_audit.kernel : 0;
  // An interval is joined to the next one if it is too short, or if the kernel's count could not be
  // read at its end (no descriptor was left).
  if (kernel == 0 || (grown < kWorth && comparable)) {
    __atomic_store_n(&g_audit_lock, 0u, __ATOMIC_RELEASE);
    return;
  }
  const uint64_t hooked = grown < low ? low : grown > high ? high : grown;
  if (comparable) {
    __atomic_store_n(&g_slot->rchar_last, g_slot->rchar_last + grown, __ATOMIC_RELAXED);
    __atomic_store_n(&g_slot->hooked_last, g_slot->hooked_last + hooked, __ATOMIC_RELAXED);
  }
  g_audit = {kernel, g_audit.hooked + hooked, reaped};
  __atomic_store_n(&g_audit_lock, 0u, __ATOMIC_RELEASE);
}

// Also called in a forked child. Its parent may have held the lock at the fork, so this frees it.
void StartAudit() {
  g_audit = {g_slot->rchar_last, g_slot->hooked_last, ReapedChildren()};
  __atomic_store_n(&g_audit_lock, 0u, __ATOMIC_RELEASE);
}

}  // namespace penstock::agent
