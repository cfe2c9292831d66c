// SPDX-License-Identifier: Apache-2.0

// A program that locks itself in: after a seccomp filter any system call but the program's own may
// be the one that ends it, and with the time stamp counter or CPUID forbidden any look at the
// clock. From then on the agent makes none, in this process and its children. They come by
// functions of libc, or by its syscall(); a system call instruction of the program's own passes us
// unseen.

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/hooks_sandbox.h"
#include "agent/system/memory_limits.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

constexpr int kSetCpuid = 0x1012;  // ARCH_SET_CPUID: afterwards CPUID raises SIGSEGV

// PR_SET_NO_NEW_PRIVS is what an unprivileged program does first; the filter may then come by a
// system call that passes no library.
bool PrctlLocksIn(int option, unsigned long argument) {
  return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS ||
         (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV);
}

bool Filters(int option) {
  return option == PR_SET_SECCOMP;
}

bool SeccompLocksIn(long operation) {
  return operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER;
}

__thread uint32_t t_child_locked_in = 0;
uint32_t g_filtered = 0;

__attribute__((noinline)) void LockIn(bool filter) {
  if (!g_config.on) {
    g_filtered |= filter ? 1u : 0u;  // after NO_NEW_PRIVS, say
    return;
  }
  const int saved = errno;
  if (RunsInMemoryOfParent()) {
    t_child_locked_in = 1;  // what the parent records is no business of this child
  } else {
    g_filtered |= filter ? 1u : 0u;
    StandDown(wire::kFeatureSandboxed);
  }
  errno = saved;
}

__attribute__((noinline)) void LookAt(long number, long a, long b) {
  if (number == SYS_prctl && PrctlLocksIn(static_cast<int>(a), static_cast<unsigned long>(b))) {
    LockIn(Filters(static_cast<int>(a)));
  }
  if (number == SYS_seccomp && SeccompLocksIn(a)) {
    LockIn(true);
  }
#if defined(__x86_64__)
  if (number == SYS_arch_prctl && a == kSetCpuid && b == 0) {
    LockIn(false);
  }
#endif
  if (number == SYS_mlockall) {
    const int saved = errno;
    BeforeLockingAll(static_cast<int>(a));
    errno = saved;
  }
}

PENSTOCK_SYMBOL Symbol g_syscall = {"syscall", nullptr};

}  // namespace

bool ChildIsLockedIn() {
  return t_child_locked_in != 0;
}

bool HasOwnFilter() {
  return g_filtered != 0;
}

}  // namespace penstock::agent

PENSTOCK_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) {
    argument = va_arg(list, unsigned long);
  }
  va_end(list);
  if (penstock::agent::PrctlLocksIn(option, arguments[0])) {
    penstock::agent::LockIn(penstock::agent::Filters(option));
  }
  return PENSTOCK_REAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

// Declared as what it is in a register machine, and under a name of its own: the compiler then ends
// it with a jump, so that nothing of ours is on the stack of a call that returns twice or on
// another stack (vfork, clone).
PENSTOCK_EXPORT long penstock_syscall(long number, long a, long b, long c, long d, long e,
                                      long f) __asm__("syscall");
PENSTOCK_EXPORT long penstock_syscall(long number, long a, long b, long c, long d, long e, long f) {
  using FnSyscall = long(long, long, long, long, long, long, long);
  if (__builtin_expect(number == SYS_prctl || number == SYS_seccomp || number == SYS_mlockall
#if defined(__x86_64__)
                           || number == SYS_arch_prctl
#endif
                       ,
                       0)) {
    penstock::agent::LookAt(number, a, b);
  }
  auto* real = reinterpret_cast<FnSyscall*>(
      __atomic_load_n(&penstock::agent::g_syscall.next, __ATOMIC_RELAXED));
  if (__builtin_expect(real == nullptr, 0)) {
    real = reinterpret_cast<FnSyscall*>(penstock::agent::RealLibc(&penstock::agent::g_syscall));
  }
  return real(number, a, b, c, d, e, f);
}
