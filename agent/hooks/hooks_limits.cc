// SPDX-License-Identifier: Apache-2.0
//
// Hook on mlockall(): when a program locks its memory, the ring must not be locked with it.

#include <sys/mman.h>

#include "agent/hooks/hook.h"
#include "agent/system/memory_limits.h"

PENSTOCK_EXPORT int mlockall(int flags) noexcept {
  const int saved = errno;
  penstock::agent::BeforeLockingAll(flags);
  errno = saved;
  return PENSTOCK_REAL(mlockall)(flags);
}
