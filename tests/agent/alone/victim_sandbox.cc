// SPDX-License-Identifier: Apache-2.0
//
// Programs that forbid themselves things. With a filter, every system call that they do not make
// themselves kills them. Others forbid the time stamp counter or CPUID.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/agent/alone/victim.h"

namespace alone {
namespace {

// Makes a system call by the program's own instruction, so no function of libc is called.
long Raw(long number, long a, long b, long c, long d = 0, long e = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number, a, b, c, d, e);
#endif
}

constexpr unsigned kArchitecture =
#if defined(__x86_64__)
    AUDIT_ARCH_X86_64;
#else
    AUDIT_ARCH_AARCH64;
#endif

std::vector<sock_filter> KillsAllBut(const std::vector<long>& allowed) {
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long number : allowed) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  return code;
}

long Pointer(const void* p) {
  return static_cast<long>(reinterpret_cast<std::uintptr_t>(p));
}

// `how`: "prctl", "syscall", "syscall-prctl" or "raw" says which call installs the filter, and
// "strict" or "strict-syscall" which call turns on strict mode. With "-root", NO_NEW_PRIVS is not
// set. With
// "-tsync" the filter is for all threads.
void Install(const std::string& how, std::vector<sock_filter>* code) {
  sock_fprog program{static_cast<unsigned short>(code->size()), code->data()};
  const bool root = how.find("-root") != std::string::npos;
  const long flags = how.find("-tsync") != std::string::npos ? 1 : 0;
  if (how == "strict") {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) Fail("strict");
    return;
  }
  if (how == "strict-syscall") {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0) != 0) Fail("strict");
    return;
  }
  if (!root && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("NO_NEW_PRIVS");
  long done = -1;
  if (how.rfind("prctl", 0) == 0) {
    done = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  } else if (how.rfind("syscall-prctl", 0) == 0) {
    done = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  } else if (how.rfind("syscall", 0) == 0) {
    done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  } else {
    done = Raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, Pointer(&program));
  }
  if (done != 0) Fail("no filter");
}

const char* g_path = nullptr;
int g_stage = 0;
int g_ready = 0;

long ReadOpen(int fd) {
  char buffer[512];
  return read(fd, buffer, sizeof buffer);
}

void* ReadLater(void*) {
  __atomic_store_n(&g_ready, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&g_stage, __ATOMIC_ACQUIRE) == 0) {
  }
  const long bytes = ReadFile(g_path);
  __atomic_store_n(&g_stage, 2, __ATOMIC_RELEASE);
  for (;;) {
    if (bytes < 0) Raw(SYS_exit_group, 7, 0, 0);
  }
}

}  // namespace

// `when` says what the program reads. "reads": files, before and after it installs the filter.
// "first": files, only after that. "thread": as "reads", and a thread reads for the first time
// after that. "emfile": after that it opens files until there is no descriptor left.
int LockIn(const std::string& how, const std::string& when, const char* path) {
  g_path = path;
  const int known = open(path, O_RDONLY);
  if (when == "reads" || when == "thread") Say("before", ReadFile(path) + ReadFile(path));
  pthread_t thread;
  if (when == "thread" && pthread_create(&thread, nullptr, ReadLater, nullptr) != 0) Fail("thread");
  while (when == "thread" && __atomic_load_n(&g_ready, __ATOMIC_ACQUIRE) == 0) {
  }
  if (when == "emfile") {
    rlimit limit = {24, 24};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  std::vector<sock_filter> code =
      KillsAllBut({SYS_read, SYS_pread64, SYS_write, SYS_openat, SYS_close, SYS_exit,
                   SYS_exit_group, SYS_rt_sigreturn, SYS_clone, SYS_wait4});
  Install(how, &code);
  const bool strict = how.rfind("strict", 0) == 0;
  if (strict) {
    long bytes = 0;
    for (int i = 0; i < 300; ++i) bytes += ReadOpen(known);
    Say("inside", bytes);
    Raw(SYS_exit, 0, 0, 0);
  }
  if (when == "emfile") {
    long opened = 0;
    while (open(path, O_RDONLY) >= 0) ++opened;
    Say("opened", opened);
    Say("no more", open(path, O_RDONLY));
  } else {
    for (int i = 0; i < 100; ++i) {
      if (ReadFile(path) <= 0) Raw(SYS_exit_group, 6, 0, 0);
    }
  }
  if (when == "thread") {
    __atomic_store_n(&g_stage, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&g_stage, __ATOMIC_ACQUIRE) != 2) {
    }
  }
  const long child = Raw(SYS_clone, SIGCHLD, 0, 0);
  if (child == 0) Raw(SYS_exit_group, ReadFile(path) > 0 || when == "emfile" ? 5 : 6, 0, 0);
  int status = 0;
  Raw(SYS_wait4, child, Pointer(&status), 0);
  Say("child", status >> 8);
  Raw(SYS_exit_group, 0, 0, 0);
  return 0;
}

// Runs a command behind a filter that kills. The filter allows getpid and the calls that the loader
// and libc make when a program starts.
int RunLockedIn(char** command) {
  std::vector<sock_filter> code = KillsAllBut({
#if defined(__x86_64__)
    SYS_access, SYS_arch_prctl,
#endif
        SYS_execve, SYS_brk, SYS_mmap, SYS_faccessat, SYS_openat, SYS_newfstatat, SYS_fstat,
        SYS_close, SYS_read, SYS_pread64, SYS_mprotect, SYS_set_tid_address, SYS_set_robust_list,
        SYS_rseq, SYS_prlimit64, SYS_munmap, SYS_getrandom, SYS_futex, SYS_write, SYS_exit_group,
        SYS_exit, SYS_getpid, SYS_lseek
  });
  Install("syscall", &code);
  execv(command[0], command);
  Fail("exec");
}

// Searches PATH for a program that does not exist, behind a filter that allows only execve, write
// and exit_group.
int SearchLockedIn(char** command) {
  std::vector<sock_filter> code = KillsAllBut({SYS_execve, SYS_write, SYS_exit_group});
  Install("syscall", &code);
  execvp(command[0], command);
  Say("no program", errno);
  Raw(SYS_exit_group, 0, 0, 0);
  return 0;
}

int ForbidClock(const std::string& how, const char* path) {
  if (how.find("-first") == std::string::npos) Say("before", ReadFile(path));
  long done = -1;
  if (how.rfind("tsc-syscall", 0) == 0) {
    done = syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  } else if (how.rfind("tsc", 0) == 0) {
    done = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  } else {
#if defined(__x86_64__)
    syscall(SYS_arch_prctl, 0x1012 /* ARCH_SET_CPUID */, 0);  // not every processor supports it
#endif
    done = 0;
  }
  if (done != 0) Fail("clock");
  long bytes = 0;
  for (int i = 0; i < 100; ++i) bytes += ReadFile(path);
  Say("inside", bytes);
  const pid_t child = fork();
  if (child == 0) _exit(ReadFile(path) > 0 ? 5 : 6);
  int status = 0;
  waitpid(child, &status, 0);
  Say("child", status);
  return 0;
}

}  // namespace alone
