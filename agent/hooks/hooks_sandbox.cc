// SPDX-License-Identifier: Apache-2.0

// Hooks for a program that locks itself in (restricts its own process). After it has installed a
// seccomp filter, a system call of the agent may end the program. After it has forbidden the time
// stamp counter or CPUID, reading the clock may end it. From then on the agent does neither, in
// this process and its children. The agent notices only calls of prctl() and syscall(). It does not
// see a system call instruction in the program's own code, or a call of libc's arch_prctl().

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

constexpr int kSetCpuid = 0x1012;  // ARCH_SET_CPUID, after which CPUID raises SIGSEGV

// An unprivileged program must set PR_SET_NO_NEW_PRIVS before it installs a filter. Setting it
// counts as locking in, since no hook may see the system call that then installs the filter.
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

__attribute__((noinline)) void NoteLockedIn(bool filter) {
  if (!g_config.on) {
    g_filtered |= filter ? 1u : 0u;  // the agent stood down earlier, perhaps at PR_SET_NO_NEW_PRIVS
    return;
  }
  const int saved = errno;
  if (RunsInMemoryOfParent()) {
    t_child_locked_in = 1;  // the parent's recording goes on
  } else {
    g_filtered |= filter ? 1u : 0u;
    StandDown(wire::kFeatureSandboxed);
  }
  errno = saved;
}

// Does for a call of syscall() what the hooks of prctl() and mlockall() do.
__attribute__((noinline)) void LookAt(long number, long a, long b) {
  if (number == SYS_prctl && PrctlLocksIn(static_cast<int>(a), static_cast<unsigned long>(b))) {
    NoteLockedIn(Filters(static_cast<int>(a)));
  }
  if (number == SYS_seccomp && SeccompLocksIn(a)) {
    NoteLockedIn(true);
  }
#if defined(__x86_64__)
  if (number == SYS_arch_prctl && a == kSetCpuid && b == 0) {
    NoteLockedIn(false);
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

bool VforkChildIsSandboxed() {
  return t_child_locked_in != 0;
}

bool ProgramUsesSeccomp() {
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
    penstock::agent::NoteLockedIn(penstock::agent::Filters(option));
  }
  return PENSTOCK_REAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

// Declared with plain arguments and under another name, so that the compiler ends it with a jump to
// the real function. A call may return twice or on another stack (vfork, clone), so the hook must
// leave nothing on the stack.
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
