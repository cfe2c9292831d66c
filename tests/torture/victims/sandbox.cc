// SPDX-License-Identifier: Apache-2.0
//
// Victims that close all descriptors, that install filters which refuse system calls or kill the
// process, or that load a second agent.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/torture/victims/victim.h"

namespace torture {

int CloseAll(int rounds) {
  long bytes = 0;
  for (int i = 0; i < rounds; ++i) {
    bytes += ReadFile(static_cast<std::size_t>(i));
    if (i % 3 == 0 && syscall(SYS_close_range, 3, ~0U, 0) != 0) Fail("close_range");
    if (i % 3 == 1) {
      for (int fd = 3; fd < 256; ++fd) close(fd);
    }
    const int spare = open("/dev/null", O_RDONLY);
    if (i % 3 == 2 && dup2(spare, 100) != 100) Fail("dup2");
    bytes += ReadFile(static_cast<std::size_t>(i + 1));
    if (spare != 3) Fail("somebody holds a descriptor");
    close(spare);
    close(100);
  }
  std::printf("%ld bytes\n", bytes);
  return 0;
}

namespace {

constexpr unsigned kArchitecture =
#if defined(__x86_64__)
    AUDIT_ARCH_X86_64;
#else
    AUDIT_ARCH_AARCH64;
#endif

// Returns a seccomp filter with the verdict `then` for the calls in `listed` and `otherwise` for
// all others.
std::vector<sock_filter> Filter(const std::vector<long>& listed, unsigned then,
                                unsigned otherwise) {
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long number : listed) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, then));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, otherwise));
  return code;
}

void Install(std::vector<sock_filter> code, bool by_prctl) {
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("PR_SET_NO_NEW_PRIVS");
  const long done = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                             : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  if (done != 0) Fail("no filter");
}

}  // namespace

// Reads files, then installs a filter and reads on. Calls that this function does not need are
// refused by the filter, or kill the process.
int LockIn(const std::string& how, int reads) {
  long bytes = 0;
  for (int i = 0; i < reads; ++i) bytes += ReadFile(static_cast<std::size_t>(i));
  std::vector<int> open_files;
  for (std::size_t i = 0; i < 8; ++i) {
    open_files.push_back(open(Files()[i % Files().size()].c_str(), O_RDONLY));
  }
  Reads().Tell();
  const int page = open("/dev/null", O_WRONLY);
  close(page);
  std::printf("%ld bytes before\n", bytes);
  std::fflush(stdout);
  if (how == "strict") {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) Fail("strict");
  } else {
    const unsigned otherwise =
        how == "refuse" ? SECCOMP_RET_ERRNO | unsigned{EPERM} : SECCOMP_RET_KILL_PROCESS;
    Install(Filter({SYS_read, SYS_pread64, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn,
                    SYS_brk, SYS_clone, SYS_wait4},
                   SECCOMP_RET_ALLOW, otherwise),
            how != "kill-by-syscall");
  }
  char buffer[256];
  long inside = 0;
  for (int i = 0; i < reads; ++i) {
    for (const int fd : open_files) {
      const ssize_t got =
          how == "strict" ? read(fd, buffer, sizeof buffer) : pread(fd, buffer, sizeof buffer, 0);
      inside += got > 0 ? got : 0;
    }
  }
  if (how != "strict") {
    const long child = syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
    if (child == 0) {
      syscall(SYS_exit_group, pread(open_files[0], buffer, sizeof buffer, 0) > 0 ? 5 : 6);
    }
    int status = 0;
    syscall(SYS_wait4, child, &status, 0, nullptr);
    inside = inside * 1000 + (status >> 8);
  }
  char line[64];
  const int size = std::snprintf(line, sizeof line, "%ld inside\n", inside);
  if (write(1, line, static_cast<std::size_t>(size)) != size) syscall(SYS_exit, 9);
  syscall(SYS_exit, 0);
  return 0;
}

// Runs a command behind a filter that refuses many system calls that a recorder makes.
int RunLockedIn(char** command) {
  const unsigned refused = SECCOMP_RET_ERRNO | unsigned{EPERM};
  Install(Filter({SYS_memfd_create, SYS_madvise, SYS_prctl, SYS_readlinkat, SYS_getrusage,
                  SYS_fallocate, SYS_linkat, SYS_renameat2, SYS_socketpair, SYS_socket,
                  SYS_nanosleep, SYS_gettid, SYS_flock, SYS_statfs, SYS_sched_setscheduler,
                  SYS_setpriority, SYS_setsid, SYS_signalfd4},
                 refused, SECCOMP_RET_ALLOW),
          true);
  execvp(command[0], command);
  Fail("exec");
}

// Loads the library `agent` by dlopen() and closes it again, many times, while the program reads.
int LoadAgent(const char* agent, int reads) {
  long bytes = 0;
  for (int i = 0; i < reads; ++i) {
    bytes += ReadFile(static_cast<std::size_t>(i));
    if (i % 50 == 25) {
      void* handle = dlopen(agent, i % 100 == 25 ? RTLD_NOW | RTLD_GLOBAL : RTLD_LAZY | RTLD_LOCAL);
      bytes += handle != nullptr ? 1 : 0;
      if (handle != nullptr) dlclose(handle);
    }
  }
  std::printf("%ld bytes and loads\n", bytes);
  return 0;
}

}  // namespace torture
