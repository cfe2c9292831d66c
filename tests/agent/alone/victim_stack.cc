// SPDX-License-Identifier: Apache-2.0
//
// A signal handler reads a file on a small stack of its own. The program reports how many bytes of
// this stack were used.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/agent/alone/victim.h"

namespace alone {
namespace {

constexpr unsigned char kPaint = 0xa5;
const char* g_path = nullptr;
const char* g_how = "";
char g_buffer[512];
long g_bytes = 0;

extern "C" char** environ;

void Work(const char* how) {
  if (std::strcmp(how, "nothing") == 0) return;
  if (std::strcmp(how, "spawn") == 0) {
    char self[] = "/bin/true";
    char* arguments[] = {self, nullptr};
    const pid_t pid = vfork();
    if (pid == 0) {
      execve(self, arguments, environ);
      _exit(99);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    g_bytes += status;
    return;
  }
  const int fd = openat(AT_FDCWD, g_path, O_RDONLY);
  const int copy = dup(fd);
  if (read(fd, g_buffer, sizeof g_buffer) > 0) g_bytes += 1;
  if (pread(copy, g_buffer, sizeof g_buffer, 7) > 0) g_bytes += 1;
  iovec part = {g_buffer, sizeof g_buffer};
  if (readv(fd, &part, 1) > 0) g_bytes += 1;
  void* map = mmap(nullptr, 512, PROT_READ, MAP_PRIVATE, fd, 0);
  munmap(map, 512);
  close(fd);
  close(copy);
}

void Handle(int) {
  Work(g_how);
}

}  // namespace

int OnSmallStack(long size, const char* path, const char* depth) {
  // `depth` is "HOW:FILE". HOW says what the handler does; FILE gets the number of bytes used.
  g_path = path;
  static char how[32];
  const char* colon = std::strchr(depth, ':');
  if (colon != nullptr) std::memcpy(how, depth, static_cast<std::size_t>(colon - depth));
  g_how = how;
  const auto room = (static_cast<std::size_t>(size) + 4095) & ~std::size_t{4095};
  auto* memory = static_cast<unsigned char*>(
      mmap(nullptr, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory, 4096, PROT_NONE);
  unsigned char* const bottom = memory + 4096 + (room - static_cast<std::size_t>(size));
  std::memset(bottom, kPaint, static_cast<std::size_t>(size));
  stack_t stack = {};
  stack.ss_sp = bottom;
  stack.ss_size = static_cast<std::size_t>(size);
  if (sigaltstack(&stack, nullptr) != 0) Fail("sigaltstack");
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  raise(SIGUSR1);
  long untouched = 0;
  while (untouched < size && bottom[untouched] == kPaint) ++untouched;
  if (colon != nullptr && colon[1] != 0) {
    std::FILE* file = std::fopen(colon + 1, "w");
    std::fprintf(file, "%ld\n", size - untouched);
    std::fclose(file);
  }
  Say("reads", g_bytes);
  return 0;
}

}  // namespace alone
