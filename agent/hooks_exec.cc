// SPDX-License-Identifier: Apache-2.0
//
// Children whose environment was rebuilt: our variables, and only ours, are put back, and only for
// programs that can load the agent. May run in a vfork child: changes no state of ours.

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/boot.h"
#include "agent/hook.h"
#include "agent/process.h"
#include "agent/strings.h"
#include "agent/sys.h"

extern "C" char** environ;

namespace penstock::agent {
namespace {

constexpr size_t kMaxVariables = 8192;

bool Names(const char* variable, const char* other) {
  while (*variable != 0 && *variable == *other && *variable != '=') {
    ++variable;
    ++other;
  }
  return *variable == '=' && *other == '=';
}

// Dynamically linked against the same C library, and not set-uid; scripts count by their fate:
// their interpreter is exec'ed by the kernel with the same environment.
bool CanLoadAgent(int dir, const char* path) {
  const int fd =
      static_cast<int>(sys::Call(SYS_openat, dir, sys::Pointer(path), O_RDONLY | O_CLOEXEC, 0));
  if (fd < 0) {
    return false;
  }
  Elf64_Ehdr head = {};
  const long got = sys::Read(fd, &head, sizeof head);
  bool can = got >= 2 && head.e_ident[0] == '#' && head.e_ident[1] == '!';
  if (got == static_cast<long>(sizeof head) && __builtin_memcmp(head.e_ident, ELFMAG, 4) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr)) {
    for (unsigned i = 0; i < head.e_phnum && i < 64 && !can; ++i) {
      Elf64_Phdr segment;
      char interpreter[64] = {};
      if (sys::Call(SYS_pread64, fd, sys::Pointer(&segment), sizeof segment,
                    static_cast<long>(head.e_phoff + i * sizeof segment)) !=
          static_cast<long>(sizeof segment)) {
        break;
      }
      if (segment.p_type == PT_INTERP) {
        sys::Call(SYS_pread64, fd, sys::Pointer(interpreter), sizeof interpreter - 1,
                  static_cast<long>(segment.p_offset));
        can = Find(interpreter, "ld-linux") != nullptr;
        break;
      }
    }
  }
  sys::Call(SYS_close, fd);
  return can;
}

// What is missing in `env`: fills `missing` with our variables that have no counterpart there.
// Returns their number; `*preload` is the LD_PRELOAD that lacks us, "" if there is none at all,
// nullptr if we are in it.
size_t Missing(char* const* env, const char** missing, const char** preload, size_t* count) {
  *preload = "";
  *count = 0;
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p, ++*count) {
    if (StartsWith(*p, "PENSTOCK_OFF=")) {
      *preload = nullptr;
      return 0;  // somebody wants this child untraced
    }
    if (StartsWith(*p, "LD_PRELOAD=")) {
      *preload = Find(*p, g_config.agent) != nullptr ? nullptr : *p + 11;
    }
  }
  size_t found = 0;
  for (const char* const* v = g_variables; *v != nullptr; ++v) {
    bool there = false;
    for (char* const* p = env; p != nullptr && *p != nullptr && !there; ++p) {
      there = Names(*p, *v);
    }
    if (!there) {
      missing[found++] = *v;
    }
  }
  return found;
}

bool NeedsRepair(int dir, const char* path, char* const* env, const char** missing, size_t* absent,
                 const char** preload, size_t* count) {
  if (!g_config.on || path == nullptr) {
    return false;
  }
  *absent = Missing(env, missing, preload, count);
  return (*absent != 0 || *preload != nullptr) && *count < kMaxVariables && CanLoadAgent(dir, path);
}

// Writes the repaired environment into `to`, room for count + absent + 2.
void Repair(char* const* env, const char* const* missing, size_t absent, const char* preload,
            char* text, size_t room, char** to) {
  size_t n = 0;
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p) {
    if (preload == nullptr || !StartsWith(*p, "LD_PRELOAD=")) {
      to[n++] = *p;
    }
  }
  for (size_t i = 0; i < absent; ++i) {
    to[n++] = const_cast<char*>(missing[i]);
  }
  if (preload != nullptr) {
    Text line{text, room};
    line.Add("LD_PRELOAD=").Add(preload);
    if (preload[0] != 0) {
      line.Add(":");
    }
    line.Add(g_config.agent);
    to[n++] = text;
  }
  to[n] = nullptr;
}

// The file that execvp() would run.
const char* SearchPath(const char* file, char* buffer, size_t room) {
  if (Find(file, "/") != nullptr) {
    return file;
  }
  const char* path = nullptr;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    if (StartsWith(*p, "PATH=")) {
      path = *p + 5;
    }
  }
  path = path != nullptr ? path : "/bin:/usr/bin";
  while (*path != 0) {
    size_t n = 0;
    while (path[n] != 0 && path[n] != ':') {
      ++n;
    }
    Text text{buffer, room};
    text.Add(path, n).Add("/").Add(file);
    if (!text.cut && sys::Call(SYS_faccessat, AT_FDCWD, sys::Pointer(buffer), X_OK) == 0) {
      return buffer;
    }
    path += n + (path[n] == ':' ? 1 : 0);
  }
  return nullptr;
}

}  // namespace
}  // namespace penstock::agent

using penstock::agent::NeedsRepair;
using penstock::agent::Repair;
using penstock::agent::SearchPath;

// Declares `env_to_use`: `env`, or a repaired copy on this stack frame. The preloads of a child
// that do not fit `line` stay as they are.
#define PENSTOCK_ENVIRONMENT(dir, target, env)                                                 \
  const char* missing[24];                                                                     \
  size_t absent = 0;                                                                           \
  size_t count = 0;                                                                            \
  const char* preload = nullptr;                                                               \
  char line[8192];                                                                             \
  char* const* env_to_use = (env);                                                             \
  if (NeedsRepair(dir, target, env, missing, &absent, &preload, &count)) {                     \
    auto** copy = static_cast<char**>(__builtin_alloca((count + absent + 2) * sizeof(char*))); \
    Repair(env, missing, absent, preload, line, sizeof line, copy);                            \
    env_to_use = copy;                                                                         \
  }

PENSTOCK_EXPORT int execve(const char* path, char* const argv[], char* const env[]) noexcept {
  PENSTOCK_ENVIRONMENT(AT_FDCWD, path, env)
  return PENSTOCK_REAL(execve)(path, argv, env_to_use);
}

PENSTOCK_EXPORT int execv(const char* path, char* const argv[]) noexcept {
  PENSTOCK_ENVIRONMENT(AT_FDCWD, path, environ)
  return PENSTOCK_REAL(execve)(path, argv, env_to_use);
}

PENSTOCK_EXPORT int execvpe(const char* file, char* const argv[], char* const env[]) noexcept {
  char found[4096];
  PENSTOCK_ENVIRONMENT(AT_FDCWD, SearchPath(file, found, sizeof found), env)
  return PENSTOCK_REAL(execvpe)(file, argv, env_to_use);
}

PENSTOCK_EXPORT int execvp(const char* file, char* const argv[]) noexcept {
  char found[4096];
  PENSTOCK_ENVIRONMENT(AT_FDCWD, SearchPath(file, found, sizeof found), environ)
  return PENSTOCK_REAL(execvpe)(file, argv, env_to_use);
}

PENSTOCK_EXPORT int fexecve(int fd, char* const argv[], char* const env[]) noexcept {
  char path[40];
  penstock::agent::Text text{path, sizeof path};
  text.Add("/proc/self/fd/").Number(static_cast<uint64_t>(fd < 0 ? 0 : fd));
  PENSTOCK_ENVIRONMENT(AT_FDCWD, path, env)
  return PENSTOCK_REAL(fexecve)(fd, argv, env_to_use);
}

PENSTOCK_EXPORT int execveat(int dir, const char* path, char* const argv[], char* const env[],
                             int flags) noexcept {
  PENSTOCK_ENVIRONMENT(dir, path, env)
  // The system call itself: glibc has a function for it from 2.34 on.
  const long result = penstock::agent::sys::Call(
      SYS_execveat, dir, penstock::agent::sys::Pointer(path), penstock::agent::sys::Pointer(argv),
      penstock::agent::sys::Pointer(env_to_use), flags);
  errno = static_cast<int>(-result);
  return -1;
}

PENSTOCK_EXPORT int posix_spawn(pid_t* pid, const char* path,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[],
                                char* const env[]) {
  PENSTOCK_ENVIRONMENT(AT_FDCWD, path, env)
  return PENSTOCK_REAL(posix_spawn)(pid, path, actions, attributes, argv, env_to_use);
}

PENSTOCK_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                                 const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const argv[],
                                 char* const env[]) {
  char found[4096];
  PENSTOCK_ENVIRONMENT(AT_FDCWD, SearchPath(file, found, sizeof found), env)
  return PENSTOCK_REAL(posix_spawnp)(pid, file, actions, attributes, argv, env_to_use);
}
