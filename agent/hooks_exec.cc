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

// What an exec would run, as far as it matters to us.
struct Target {
  bool can_load_agent;  // dynamically linked against the same C library
  bool sanitized;       // linked with AddressSanitizer, which ends a program that loads us first
};

bool ReadAt(int fd, void* to, size_t size, uint64_t offset) {
  return sys::Call(SYS_pread64, fd, sys::Pointer(to), static_cast<long>(size),
                   static_cast<long>(offset)) == static_cast<long>(size);
}

// The libraries that it names come first in its dynamic section, the sanitizer's before the others.
bool NeedsSanitizer(int fd, const Elf64_Phdr& dynamic, const Elf64_Phdr* loads, size_t count) {
  constexpr size_t kEntries = 48;
  Elf64_Dyn entries[kEntries] = {};
  const size_t size = dynamic.p_filesz < sizeof entries ? dynamic.p_filesz : sizeof entries;
  if (!ReadAt(fd, entries, size, dynamic.p_offset)) {
    return false;
  }
  uint64_t texts = 0;
  for (const Elf64_Dyn& entry : entries) {
    for (size_t i = 0; entry.d_tag == DT_STRTAB && i < count; ++i) {
      if (entry.d_un.d_ptr - loads[i].p_vaddr < loads[i].p_filesz) {
        texts = loads[i].p_offset + (entry.d_un.d_ptr - loads[i].p_vaddr);
      }
    }
  }
  for (size_t i = 0; texts != 0 && i < 4 && entries[i].d_tag == DT_NEEDED; ++i) {
    char name[24] = {};
    sys::Call(SYS_pread64, fd, sys::Pointer(name), sizeof name - 1,
              static_cast<long>(texts + entries[i].d_un.d_val));
    if (StartsWith(name, "libasan.so") || StartsWith(name, "libclang_rt.asan")) {
      return true;
    }
  }
  return false;
}

// Scripts count by their fate: their interpreter is exec'ed by the kernel with the same
// environment.
Target LookAt(int dir, const char* path) {
  Target target = {};
  const int fd =
      static_cast<int>(sys::Call(SYS_openat, dir, sys::Pointer(path), O_RDONLY | O_CLOEXEC, 0));
  if (fd < 0) {
    return target;
  }
  Elf64_Ehdr head = {};
  const long got = sys::Read(fd, &head, sizeof head);
  target.can_load_agent = got >= 2 && head.e_ident[0] == '#' && head.e_ident[1] == '!';
  if (got == static_cast<long>(sizeof head) && __builtin_memcmp(head.e_ident, ELFMAG, 4) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(Elf64_Phdr)) {
    constexpr unsigned kSegments = 24;
    Elf64_Phdr segments[kSegments];
    Elf64_Phdr dynamic = {};
    const unsigned count = head.e_phnum < kSegments ? head.e_phnum : kSegments;
    const bool read = ReadAt(fd, segments, count * sizeof segments[0], head.e_phoff);
    size_t loads = 0;
    for (unsigned i = 0; read && i < count; ++i) {
      char interpreter[64] = {};
      if (segments[i].p_type == PT_INTERP) {
        sys::Call(SYS_pread64, fd, sys::Pointer(interpreter), sizeof interpreter - 1,
                  static_cast<long>(segments[i].p_offset));
        target.can_load_agent = Find(interpreter, "ld-linux") != nullptr;
      } else if (segments[i].p_type == PT_DYNAMIC) {
        dynamic = segments[i];
      } else if (segments[i].p_type == PT_LOAD) {
        segments[loads++] = segments[i];
      }
    }
    target.sanitized = target.can_load_agent && NeedsSanitizer(fd, dynamic, segments, loads);
  }
  sys::Call(SYS_close, fd);
  return target;
}

// What is missing in `env`: fills `missing` with our variables that have no counterpart there.
// Returns their number; `*preload` is the LD_PRELOAD that lacks us, "" if there is none at all,
// nullptr if we are in it.
size_t Missing(char* const* env, const char** missing, const char** preload) {
  *preload = "";
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p) {
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

// LD_PRELOAD of `env`; nullptr: none. Counts its variables.
const char* Preloads(char* const* env, size_t* count) {
  const char* value = nullptr;
  *count = 0;
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p, ++*count) {
    if (StartsWith(*p, "LD_PRELOAD=")) {
      value = *p + 11;
    }
  }
  return value;
}

// What is to be done to the environment of an exec.
struct Plan {
  const char* missing[24];  // variables of ours that it lacks
  size_t absent;            // so many
  size_t count;             // variables that it has
  const char* preload;      // LD_PRELOAD that is to be changed; nullptr: stays
  bool leave;               // the agent must not be in it
};

bool NeedsRepair(int dir, const char* path, char* const* env, Plan* plan) {
  if (!g_config.on || path == nullptr) {
    return false;
  }
  plan->absent = Missing(env, plan->missing, &plan->preload);
  plan->leave = false;
  const char* preloads = Preloads(env, &plan->count);
  if (plan->count >= kMaxVariables) {
    return false;
  }
  const Target target = LookAt(dir, path);
  if (target.sanitized &&
      (preloads == nullptr || (Find(preloads, "libasan.so") == nullptr &&
                               Find(preloads, "libclang_rt.asan") == nullptr))) {
    plan->absent = 0;
    plan->preload = preloads;
    plan->leave = true;
    return preloads != nullptr && Find(preloads, g_config.agent) != nullptr;
  }
  return (plan->absent != 0 || plan->preload != nullptr) && target.can_load_agent;
}

// `preloads` without the agent.
void AddOthers(const char* preloads, Text* line) {
  const size_t start = line->size;
  while (*preloads != 0) {
    size_t n = 0;
    while (preloads[n] != 0 && preloads[n] != ':' && preloads[n] != ' ') {
      ++n;
    }
    const bool ours = StartsWith(preloads, g_config.agent) && n == Length(g_config.agent);
    if (n > 0 && !ours) {
      line->Add(line->size > start ? ":" : "").Add(preloads, n);
    }
    preloads += n + (preloads[n] != 0 ? 1 : 0);
  }
}

// Writes the repaired environment into `to`, room for count + absent + 2.
void Repair(char* const* env, const Plan& plan, char* text, size_t room, char** to) {
  size_t n = 0;
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p) {
    if (plan.preload == nullptr || !StartsWith(*p, "LD_PRELOAD=")) {
      to[n++] = *p;
    }
  }
  for (size_t i = 0; i < plan.absent; ++i) {
    to[n++] = const_cast<char*>(plan.missing[i]);
  }
  if (plan.preload != nullptr) {
    Text line{text, room};
    line.Add("LD_PRELOAD=");
    if (plan.leave) {
      AddOthers(plan.preload, &line);
    } else {
      line.Add(plan.preload).Add(plan.preload[0] != 0 ? ":" : "").Add(g_config.agent);
    }
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
  penstock::agent::Plan plan;                                                                  \
  char line[8192];                                                                             \
  char* const* env_to_use = (env);                                                             \
  if (NeedsRepair(dir, target, env, &plan)) {                                                  \
    auto** copy =                                                                              \
        static_cast<char**>(__builtin_alloca((plan.count + plan.absent + 2) * sizeof(char*))); \
    Repair(env, plan, line, sizeof line, copy);                                                \
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
  const long result = penstock::agent::sys::Raw(
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
