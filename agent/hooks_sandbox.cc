// SPDX-License-Identifier: Apache-2.0

// A program that locks itself in: after a seccomp filter any system call but the program's own may
// be the one that ends it. From then on the agent makes none, in this process and its children.

#include <stdarg.h>
#include <sys/prctl.h>

#include "agent/hook.h"
#include "agent/process.h"

namespace penstock::agent {
namespace {

// The second is what an unprivileged program does first; the filter may then come by a system call
// that passes no library.
bool LocksIn(int option) {
  return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

}  // namespace
}  // namespace penstock::agent

PENSTOCK_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) {
    argument = va_arg(list, unsigned long);
  }
  va_end(list);
  if (penstock::agent::LocksIn(option)) {
    const int saved = errno;
    penstock::agent::StandDown(penstock::wire::kFeatureSandboxed);
    errno = saved;
  }
  return PENSTOCK_REAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
