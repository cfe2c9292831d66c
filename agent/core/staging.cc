// SPDX-License-Identifier: Apache-2.0

#include "agent/core/staging.h"

#include <fcntl.h>

#include "agent/core/process.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

namespace penstock::agent {
namespace {

__attribute__((noinline)) bool IsCopyOf(int copy, const struct stat& original) {
  struct stat st;
  return sys::Call(SYS_fstat, copy, sys::Pointer(&st)) == 0 && S_ISREG(st.st_mode) &&
         st.st_size == original.st_size;
}

}  // namespace

bool MayUseCopy(int flags) {
  constexpr int kHarmless = O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NOATIME;
#if defined(__x86_64__)
  constexpr int kLargeFile = 0100000;  // O_LARGEFILE, which 64-bit headers call 0
#else
  constexpr int kLargeFile = 0400000;
#endif
  return (flags & ~(kHarmless | kLargeFile)) == O_RDONLY;
}

bool MayUseCopy(const char* stdio_mode) {
  if (stdio_mode == nullptr || stdio_mode[0] != 'r') {
    return false;
  }
  for (const char* c = stdio_mode; *c != 0 && *c != ','; ++c) {
    if (*c == '+') {
      return false;
    }
  }
  return true;
}

__attribute__((noinline)) void UseCopy(int fd) {
  if (g_config.stage[0] == 0 || fd < 0) {
    return;
  }
  struct stat st;
  if (sys::Call(SYS_fstat, fd, sys::Pointer(&st)) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
    return;
  }
  const Scratch scratch;  // if none is left, the original is used
  char* const path = scratch.data();
  if (path == nullptr) {
    return;
  }
  Text text{path, kScratch};
  text.Add(g_config.stage).Add("/");
  if (CopyName(st, path + text.size, kScratch - text.size) == 0) {
    return;
  }
  const int copy = sys::Open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (copy < 0) {
    return;
  }
  const long flags = sys::Call(SYS_fcntl, fd, F_GETFD);
  if (flags >= 0 && IsCopyOf(copy, st)) {
    sys::Call(SYS_dup3, copy, fd, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  }
  sys::Close(copy);
}

}  // namespace penstock::agent
