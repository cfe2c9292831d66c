// SPDX-License-Identifier: Apache-2.0
//
// Programs under resource limits, and in situations that could break an agent, such as a chroot.
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/agent/alone/victim.h"

extern char** environ;

namespace alone {
namespace {

void DropCapabilities() {
  struct {
    unsigned version;
    int pid;
  } head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct {
    unsigned effective, permitted, inheritable;
  } none[2] = {};
  if (syscall(SYS_capset, &head, none) != 0) Fail("capset");
}

// Maps `wanted` megabytes and writes to them. Returns how many it got.
long MapMegabytes(long wanted) {
  long done = 0;
  for (; done < wanted; ++done) {
    void* memory =
        mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) break;
    std::memset(memory, 1, 1 << 20);
  }
  return done;
}

int ReapStatus(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

int Limits(const std::string& how, const char* path) {
  if (how.find("late") == std::string::npos) Say("before", ReadFile(path));
  if (how.rfind("lock", 0) == 0) {
    DropCapabilities();
    const int flags = how.find("future") != std::string::npos ? MCL_CURRENT | MCL_FUTURE
                                                              : static_cast<int>(MCL_CURRENT);
    errno = 0;
    const long done =
        how.find("syscall") != std::string::npos ? syscall(SYS_mlockall, flags) : mlockall(flags);
    Say("mlockall", done);
    Say("errno", errno);
  }
  if (how.rfind("map", 0) == 0) Say("megabytes", MapMegabytes(std::atol(how.c_str() + 4)));
  if (how.rfind("threads", 0) == 0) {
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) {
      all.emplace_back([path] {
        if (ReadFile(path) < 0) std::_Exit(7);
      });
    }
    for (auto& one : all) one.join();
  }
  for (int i = 0; i < 50; ++i) {
    if (ReadFile(path) <= 0) return 6;
  }
  Say("after", ReadFile(path));
  return 0;
}

namespace {

// Closes the descriptors 3 to 39, which the program does not have open, while other threads read.
// Each time it makes a file and checks that the file holds only what this function has written: the
// agent must not write to a descriptor that it lost.
int CloseNumbers(const char* path) {
  const int shared = dup2(open(path, O_RDONLY), 500);
  static int over = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([shared] {
      char byte = 0;
      while (__atomic_load_n(&over, __ATOMIC_RELAXED) == 0 && pread(shared, &byte, 1, 0) == 1) {
      }
    });
  }
  const std::string own = std::string(path) + ".own";
  char text[4096];
  std::memset(text, 'x', sizeof text);
  long wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    for (int fd = 3; fd < 40; ++fd) close(fd);
    const int file = open(own.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    const bool whole =
        write(file, text, sizeof text) == sizeof text && lseek(file, 0, SEEK_END) == sizeof text;
    wrong += whole ? 0 : 1;
    close(file);
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for (auto& one : readers) one.join();
  Say("wrong", wrong);
  return 0;
}

}  // namespace

int Places(const std::string& how, const char* path, char** command) {
  if (how == "close-numbers") return CloseNumbers(path);
  if (how.find("late") == std::string::npos) Say("before", ReadFile(path));
  if (how.rfind("vfork", 0) == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      execv(command[0], command);
      _exit(99);
    }
    Say("child", ReapStatus(child));
    Say("after", ReadFile(path));
    return 0;
  }
  if (how == "environ-null") {
    environ = nullptr;
  } else if (how == "environ-other") {
    static char home[] = "HOME=/";
    static char* other[] = {home, nullptr};
    environ = other;
  } else if (how == "undumpable") {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  } else if (how.rfind("unshare", 0) == 0) {
    Say("unshare", unshare(CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS));
  } else if (how == "chroot") {
    const int file = open(path, O_RDONLY);
    const std::string folder = std::string(path).substr(0, std::string(path).rfind('/'));
    Say("chroot", chroot(folder.c_str()) == 0 && chdir("/") == 0 ? 0 : 1);
    char buffer[512];
    Say("kept", read(file, buffer, sizeof buffer));
    Say("inside", ReadFile(std::string(path).substr(folder.size()).c_str()));
    return 0;
  } else if (how == "descriptors") {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    for (int fd = 3; fd < 64; ++fd) dup2(1, fd);
    Say("next", open("/dev/null", O_RDONLY));
  } else if (how == "traced") {
    const pid_t child = fork();
    if (child == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      _exit(ReadFile(path) > 0 ? 5 : 6);
    }
    int status = 0;
    waitpid(child, &status, 0);
    while (WIFSTOPPED(status)) {
      ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
      waitpid(child, &status, 0);
    }
    Say("child", status);
  } else if (how == "clone-vm") {
    static char stack[64 * 1024];
    const auto entry = [](void* file) -> int {
      return ReadFile(static_cast<const char*>(file)) > 0 ? 5 : 6;
    };
    const pid_t child =
        clone(entry, stack + sizeof stack, CLONE_VM | CLONE_FS | SIGCHLD, const_cast<char*>(path));
    Say("child", ReapStatus(child));
  } else if (how != "late-exec" && how != "exec") {
    Fail("place?");
  }
  if (how != "traced" && how.rfind("unshare", 0) != 0) {
    const pid_t child = fork();
    if (child == 0) _exit(ReadFile(path) > 0 ? 5 : 6);
    Say("forked", ReapStatus(child));
  }
  Say("after", ReadFile(path));
  if (command[0] != nullptr) {
    execv(command[0], command);
    Say("exec", errno);
    return 9;
  }
  return 0;
}

}  // namespace alone
