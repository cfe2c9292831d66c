// SPDX-License-Identifier: Apache-2.0
//
// Raw system calls: without errno, cancellation points and hooks of other libraries. Results are
// those of the kernel, a negative errno on failure. All of the agent's own system calls go through
// Call(), a gate that Shut() closes for good: after a program has installed a seccomp filter, a
// system call of the agent may end the program. Raw() is for calls that the program itself has
// asked for, and for the few calls of the agent that must work after Shut() or must not delay it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace penstock::agent::sys {

#if defined(__x86_64__)
inline long Raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long Raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "the agent knows x86-64 and aarch64"
#endif

// A short pause for loops that wait for another thread.
inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield" ::: "memory");
#endif
}

// A system call of the agent. Returns -1 (EPERM) once the gate is shut.
long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

// Shuts the gate for this process and those that it will fork. Waits, some milliseconds at most,
// until no thread is in a call.
void Shut();
inline uint32_t g_shut = 0;  // atomic
inline bool IsShut() {
  return __atomic_load_n(&g_shut, __ATOMIC_RELAXED) != 0;
}

inline long Pointer(const void* p) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(p));
}

// Atomic: how many descriptors the agent holds now on all threads, each for microseconds.
inline int g_descriptors = 0;
// Atomic: how many it has given back so far.
inline uint32_t g_released = 0;

// Opens a file. Waits, a millisecond at most, while the program closes numbers that may not be its
// own (agent/system/descriptors.h).
int OpenAt(int dir, const char* path, int flags, int mode = 0);
inline int Open(const char* path, int flags, int mode = 0) {
  return OpenAt(-100 /* AT_FDCWD */, path, flags, mode);
}
// Counts one held descriptor less, but not below 0: in a forked child, ForgetDescriptorsOfOthers()
// may have forgotten a descriptor that a thread of the child holds.
inline void CountReleased() {
  int held = __atomic_load_n(&g_descriptors, __ATOMIC_RELAXED);
  while (held > 0 && !__atomic_compare_exchange_n(&g_descriptors, &held, held - 1, true,
                                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}
// Closes a descriptor that Open() or OpenAt() returned.
inline void Close(int fd) {
  Call(SYS_close, fd);
  __atomic_fetch_add(&g_released, 1u, __ATOMIC_RELEASE);
  CountReleased();
}
inline long Read(int fd, void* to, size_t size) {
  return Call(SYS_read, fd, Pointer(to), static_cast<long>(size));
}
inline long Pwrite(int fd, const void* from, size_t size, uint64_t offset) {
  return Call(SYS_pwrite64, fd, Pointer(from), static_cast<long>(size), static_cast<long>(offset));
}
inline long Readlink(const char* path, char* to, size_t size) {
  return Call(SYS_readlinkat, -100, Pointer(path), Pointer(to), static_cast<long>(size));
}
// Maps memory. nullptr on failure, or if the program's limits leave no room
// (agent/system/memory_limits.h).
void* Map(void* at, size_t size, int prot, int flags, int fd, uint64_t offset);
inline void Unmap(void* at, size_t size) {
  Call(SYS_munmap, Pointer(at), static_cast<long>(size));
}
inline uint32_t Pid() {
  return static_cast<uint32_t>(Call(SYS_getpid));
}
inline uint32_t Tid() {
  return static_cast<uint32_t>(Call(SYS_gettid));
}

// Reads at most size - 1 bytes of a small file and terminates them. Returns the number of bytes; 0
// on failure. Does not write to `to` if the file cannot be opened.
inline size_t ReadFile(const char* path, char* to, size_t size) {
  int fd = Open(path, 0x80000 /* O_RDONLY | O_CLOEXEC */);
  if (fd < 0) {
    return 0;
  }
  size_t used = 0;
  while (used + 1 < size) {
    long n = Read(fd, to + used, size - 1 - used);
    if (n <= 0) {
      break;
    }
    used += static_cast<size_t>(n);
  }
  Close(fd);
  to[used] = 0;
  return used;
}

}  // namespace penstock::agent::sys
