// SPDX-License-Identifier: Apache-2.0
//
// Hooks of the exec and posix_spawn functions. A caller may give the new program an environment
// that lacks the agent. If the program can load the agent, the hooks put back the agent's variables
// and its entry in LD_PRELOAD, and change nothing else. If the program's loader would refuse the
// agent, they take it out of LD_PRELOAD. They may run in a vfork child, so they change no state of
// the process but ExecScratch.

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/boot.h"
#include "agent/core/process.h"
#include "agent/hooks/exec_target.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/hooks_sandbox.h"
#include "agent/system/scratch.h"
#include "agent/system/strings.h"
#include "agent/system/sys.h"

extern "C" char** environ;

namespace penstock::agent {
namespace {

constexpr size_t kMaxVariables = 8192;

// Whether two variables ("NAME=value") have the same name.
bool HaveSameName(const char* variable, const char* other) {
  while (*variable != 0 && *variable == *other && *variable != '=') {
    ++variable;
    ++other;
  }
  return *variable == '=' && *other == '=';
}

// Whether this is PENSTOCK_OFF with a value that switches the agent off, as boot.cc judges it.
bool SwitchesOff(const char* variable) {
  constexpr char kName[] = "PENSTOCK_OFF=";
  const char* const value = StartsWith(variable, kName) ? variable + sizeof kName - 1 : "";
  return value[0] != 0 && value[0] != '0';
}

// Fills `missing` with our variables that `env` does not have, and returns their number. Sets
// `*preload` to the value of LD_PRELOAD if that lacks the agent, to "" if there is no LD_PRELOAD,
// and to nullptr if the agent is in it. If PENSTOCK_OFF is set, nothing is missing.
size_t Missing(char* const* env, const char** missing, const char** preload) {
  *preload = "";
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p) {
    if (SwitchesOff(*p)) {
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
      there = HaveSameName(*p, *v);
    }
    if (!there) {
      missing[found++] = *v;
    }
  }
  return found;
}

// Returns the value of LD_PRELOAD in `env`, or nullptr. Sets `*count` to the number of variables.
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

// The changes that the environment of an exec needs.
struct Plan {
  const char* missing[24];  // variables of ours that the environment lacks
  size_t absent;            // their number
  size_t count;             // number of variables in the environment
  const char* preload;      // value of LD_PRELOAD to change; nullptr: keep it
  bool remove_agent;        // take the agent out of `preload`, instead of adding it
};

// Whether the environment needs a repair; if so, fills `plan`.
bool NeedsRepair(int dir, const char* path, char* const* env, ExecScratch* scratch, Plan* plan) {
  if (ProgramUsesSeccomp()) {  // the agent makes no more system calls: they might end the program
    plan->absent = 0;
    plan->preload = Preloads(env, &plan->count);
    plan->remove_agent = true;
    return plan->count < kMaxVariables && plan->preload != nullptr &&
           Find(plan->preload, g_config.agent) != nullptr;
  }
  if (path == nullptr) {
    return false;
  }
  plan->absent = Missing(env, plan->missing, &plan->preload);
  plan->remove_agent = false;
  const char* preloads = Preloads(env, &plan->count);
  if (plan->count >= kMaxVariables) {
    return false;
  }
  const ExecTarget target =
      LookAtProgram(dir, path, reinterpret_cast<ProgramFile*>(scratch->program));
  const bool sanitizer_comes_first =
      preloads != nullptr &&
      (Find(preloads, "libasan.so") != nullptr || Find(preloads, "libclang_rt.asan") != nullptr);
  if (target == ExecTarget::kRefuses ||
      (target == ExecTarget::kSanitized && !sanitizer_comes_first)) {
    plan->absent = 0;
    plan->preload = preloads;
    plan->remove_agent = true;
    return preloads != nullptr && Find(preloads, g_config.agent) != nullptr;
  }
  return (plan->absent != 0 || plan->preload != nullptr) && target != ExecTarget::kOther;
}

// Appends `preloads` without the agent.
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

// Writes the repaired environment to `to`, which needs room for count + absent + 2 pointers. If the
// new LD_PRELOAD does not fit into `text`, the old one stays: a shortened one would name a library
// that does not exist.
void Repair(char* const* env, const Plan& plan, char* text, size_t room, char** to) {
  Text line{text, room};
  line.Add("LD_PRELOAD=");
  if (plan.preload != nullptr && plan.remove_agent) {
    AddOthers(plan.preload, &line);
  } else if (plan.preload != nullptr) {
    line.Add(plan.preload).Add(plan.preload[0] != 0 ? ":" : "").Add(g_config.agent);
  }
  const bool replaces = plan.preload != nullptr && !line.cut;
  size_t n = 0;
  for (char* const* p = env; p != nullptr && *p != nullptr; ++p) {
    if (!replaces || !StartsWith(*p, "LD_PRELOAD=")) {
      to[n++] = *p;
    }
  }
  for (size_t i = 0; i < plan.absent; ++i) {
    to[n++] = const_cast<char*>(plan.missing[i]);
  }
  if (replaces) {
    to[n++] = text;
  }
  to[n] = nullptr;
}

// Whether the agent records and may make system calls of its own, which it needs to look at a
// program.
bool MayLook() {
  return g_config.on && !sys::IsShut() && !VforkChildIsSandboxed();
}

// Whether the agent must be taken out of LD_PRELOAD: the program has installed a seccomp filter,
// which the next program keeps and which may forbid the agent's system calls.
bool MustRemoveAgent() {
  return ProgramUsesSeccomp() && g_config.agent[0] != 0;
}

// Whether execvp() would run this file. It skips folders, which faccessat() calls executable.
__attribute__((noinline)) bool IsExecutable(const char* path) {
  struct stat st;
  return sys::Call(SYS_faccessat, AT_FDCWD, sys::Pointer(path), X_OK) == 0 &&
         sys::Call(SYS_newfstatat, AT_FDCWD, sys::Pointer(path), sys::Pointer(&st), 0) == 0 &&
         !S_ISDIR(st.st_mode);
}

// Returns the file that execvp() would run. Returns nullptr if there is none, or if the agent may
// make no system calls. In the latter case NeedsRepair() takes the agent out of LD_PRELOAD for any
// file.
const char* SearchPath(const char* file, ExecScratch* scratch) {
  if (!MayLook()) {
    return nullptr;
  }
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
  for (;;) {
    size_t n = 0;
    while (path[n] != 0 && path[n] != ':') {
      ++n;
    }
    Text text{scratch->found, sizeof scratch->found};
    text.Add(path, n).Add(n > 0 ? "/" : "").Add(file);  // an empty entry is the current folder
    if (!text.cut && IsExecutable(scratch->found)) {
      return scratch->found;
    }
    if (path[n] == 0) {
      return nullptr;
    }
    path += n + 1;
  }
}

// A name for an open program.
struct NameOfDescriptor {
  char text[40];
  explicit NameOfDescriptor(int fd) {
    Text name{text, sizeof text};
    name.Add("/proc/self/fd/").Number(static_cast<uint64_t>(fd < 0 ? 0 : fd));
  }
};

}  // namespace
}  // namespace penstock::agent

using penstock::agent::ExecScratch;
using penstock::agent::MayLook;
using penstock::agent::MustRemoveAgent;
using penstock::agent::NameOfDescriptor;
using penstock::agent::NeedsRepair;
using penstock::agent::Plan;
using penstock::agent::Repair;
using penstock::agent::SearchPath;

// The body of a hook: runs `call`, in which `env_to_use` is `env` or a repaired copy. The
// expression `target` may use `scratch`.
#define PENSTOCK_EXEC(dir, target, env, call)                                                      \
  if (!MayLook() && !MustRemoveAgent()) {                                                          \
    char* const* env_to_use = (env);                                                               \
    return call;                                                                                   \
  }                                                                                                \
  ExecScratch* const taken = penstock::agent::TakeExecScratch();                                   \
  ExecScratch* const scratch =                                                                     \
      taken != nullptr ? taken : static_cast<ExecScratch*>(__builtin_alloca(sizeof(ExecScratch))); \
  Plan plan;                                                                                       \
  char* const* env_to_use = (env);                                                                 \
  if (NeedsRepair(dir, target, env, scratch, &plan)) {                                             \
    const size_t count = plan.count + plan.absent + 2;                                             \
    char** const copy = count <= sizeof scratch->environment / sizeof(char*)                       \
                            ? scratch->environment                                                 \
                            : static_cast<char**>(__builtin_alloca(count * sizeof(char*)));        \
    Repair(env, plan, scratch->line, sizeof scratch->line, copy);                                  \
    env_to_use = copy;                                                                             \
  }                                                                                                \
  const int result = call;                                                                         \
  if (taken != nullptr) {                                                                          \
    penstock::agent::ReleaseExecScratch(taken);                                                    \
  }                                                                                                \
  return result;

PENSTOCK_EXPORT int execve(const char* path, char* const argv[], char* const env[]) noexcept {
    PENSTOCK_EXEC(AT_FDCWD, path, env, PENSTOCK_REAL(execve)(path, argv, env_to_use))}

PENSTOCK_EXPORT int execv(const char* path, char* const argv[]) noexcept {
    PENSTOCK_EXEC(AT_FDCWD, path, environ, PENSTOCK_REAL(execve)(path, argv, env_to_use))}

PENSTOCK_EXPORT int execvpe(const char* file, char* const argv[], char* const env[]) noexcept {
    PENSTOCK_EXEC(AT_FDCWD, SearchPath(file, scratch), env,
                  PENSTOCK_REAL(execvpe)(file, argv, env_to_use))}

PENSTOCK_EXPORT int execvp(const char* file, char* const argv[]) noexcept {
    PENSTOCK_EXEC(AT_FDCWD, SearchPath(file, scratch), environ,
                  PENSTOCK_REAL(execvpe)(file, argv, env_to_use))}

PENSTOCK_EXPORT int fexecve(int fd, char* const argv[], char* const env[]) noexcept {
  const NameOfDescriptor name(fd);
  PENSTOCK_EXEC(AT_FDCWD, name.text, env, PENSTOCK_REAL(fexecve)(fd, argv, env_to_use))
}

namespace {

// Makes the system call directly, since glibc has a function for it only from 2.34 on.
int ExecveAt(int dir, const char* path, char* const* argv, char* const* env, int flags) {
  namespace sys = penstock::agent::sys;
  const long result =
      sys::Raw(SYS_execveat, dir, sys::Pointer(path), sys::Pointer(argv), sys::Pointer(env), flags);
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

PENSTOCK_EXPORT int execveat(int dir, const char* path, char* const argv[], char* const env[],
                             int flags) noexcept {
  const bool is_open = (flags & AT_EMPTY_PATH) != 0 && path != nullptr && path[0] == 0;
  const NameOfDescriptor name(dir);
  PENSTOCK_EXEC(dir, is_open ? name.text : path, env, ExecveAt(dir, path, argv, env_to_use, flags))
}

PENSTOCK_EXPORT
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const env[]){
    PENSTOCK_EXEC(AT_FDCWD, path, env,
                  PENSTOCK_REAL(posix_spawn)(pid, path, actions, attributes, argv, env_to_use))}

PENSTOCK_EXPORT
    int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const argv[], char* const env[]) {
  PENSTOCK_EXEC(AT_FDCWD, SearchPath(file, scratch), env,
                PENSTOCK_REAL(posix_spawnp)(pid, file, actions, attributes, argv, env_to_use))
}
