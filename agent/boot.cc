// SPDX-License-Identifier: Apache-2.0
//
// The constructor finds libc's functions, reads the environment and changes it for children. It
// changes nothing where the agent was not preloaded. The recording is mapped at the first event.

#include "agent/boot.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/process.h"
#include "agent/core/run_name.h"
#include "agent/core/thread_state.h"
#include "agent/gpu/level.h"
#include "agent/hooks/hook.h"
#include "agent/system/isolated_python.h"
#include "agent/system/resolve.h"
#include "agent/system/strings.h"
#include "agent/system/symver.h"
#include "agent/system/sys.h"

extern "C" char** environ;

namespace penstock::agent {

const char* g_variables[24] = {};

namespace {

constexpr uint32_t kOn = 1;
constexpr uint64_t kDefaultBudget = uint64_t{8} << 30;
char g_variable_text[24 * 1024];

const char* Variable(const char* name) {
  const size_t n = Length(name);
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    if (StartsWith(*p, name) && (*p)[n] == '=') {
      return *p + n + 1;
    }
  }
  return nullptr;
}

void CopyVariable(const char* name, char* to, size_t capacity) {
  Text text{to, capacity};
  const char* value = Variable(name);
  text.Add(value != nullptr ? value : "");
  if (text.cut) {
    to[0] = 0;
  }
}

// Calls libc's own setenv, since programs such as bash export one that cannot be used this early.
void SetVariable(const char* name, const char* value) {
  PENSTOCK_REAL(setenv)(name, value, 1);
}

bool Readable(const char* path) {
  constexpr int kRead = 4;
#if defined(SYS_access)  // the call that the loader makes too
  return sys::Call(SYS_access, sys::Pointer(path), kRead) == 0;
#else
  return sys::Call(SYS_faccessat, -100, sys::Pointer(path), kRead) == 0;
#endif
}

// Finds our Python half: beside the agent or, if the agent's name is a link, beside the file that
// the link leads to. (LD_PRELOAD takes no path with a blank, so such a path is given as a link.) If
// it is in neither place, g_config.python is empty.
void FindPython() {
  constexpr int kMostLinks = 8;
  static char file[sizeof g_config.agent];  // the constructor runs once
  static char target[sizeof g_config.agent];
  Text{file, sizeof file}.Add(g_config.agent);
  for (int links = 0; links <= kMostLinks; ++links) {
    const auto folder = static_cast<size_t>(BaseName(file) - file);
    Text python{g_config.python, sizeof g_config.python};
    python.Add(file, folder).Add("penstock_python");
    if (python.cut) break;
    if (Readable(g_config.python)) return;
    const long n = sys::Readlink(file, target, sizeof target - 1);
    if (n <= 0) break;
    Text next{file, sizeof file, target[0] == '/' ? 0 : folder};
    next.Add(target, static_cast<size_t>(n));
    if (next.cut) break;
  }
  g_config.python[0] = 0;
}

void FindOurselves() {
  Dl_info info;
  Text agent{g_config.agent, sizeof g_config.agent};
  if (dladdr(reinterpret_cast<void*>(&FindOurselves), &info) != 0 && info.dli_fname != nullptr) {
    if (info.dli_fname[0] != '/' && getcwd(g_config.agent, sizeof g_config.agent - 1) != nullptr) {
      agent.size = Length(g_config.agent);
      agent.Add("/");
    }
    agent.Add(info.dli_fname);
  }
  if (agent.cut) {
    g_config.agent[0] = 0;
  } else {
    FindPython();
  }
}

struct LoadOrder {
  bool agent = false;
  bool libc_first = false;
};

int NoteOrder(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto* order = static_cast<LoadOrder*>(data);
  const auto here = reinterpret_cast<uintptr_t>(&NoteOrder);
  for (uint32_t i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    order->agent =
        order->agent || (segment.p_type == PT_LOAD && here - begin < uintptr_t{segment.p_memsz});
  }
  const char* base = info->dlpi_name != nullptr ? BaseName(info->dlpi_name) : "";
  order->libc_first =
      !order->agent && (StartsWith(base, "libc.so.") || StartsWith(base, "libc-2."));
  return order->agent || order->libc_first ? 1 : 0;
}

// Whether the agent was preloaded or linked, and so comes before libc. If not, the CUDA driver or
// NVTX has loaded it into a running program. This happens in a child whose environment still has
// CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH, but not LD_PRELOAD. The agent's hooks then come
// after libc's functions and see nothing, and other threads may be reading the environment.
bool ArePreloaded() {
  LoadOrder order;
  dl_iterate_phdr(NoteOrder, &order);
  return !order.libc_first;
}

// False if a copy of the agent from another file was loaded before this one. Both would record.
bool AreFirst() {
  const void* first = dlsym(RTLD_DEFAULT, "penstock_native_bridge");
  return first == nullptr || InsideAgent(first);
}

void FindClock() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* found = libc != nullptr ? dlsym(libc, "clock_gettime") : nullptr;
  if (found != nullptr) {
    g_clock_gettime = reinterpret_cast<decltype(g_clock_gettime)>(found);
  }
  if (libc != nullptr) {
    dlclose(libc);
  }
}

void ExtendPythonPath() {
  if (g_config.python[0] == 0) {
    return;
  }
  SetVariable("PENSTOCK_PYTHON", g_config.python);
  const char* old = Variable("PYTHONPATH");
  if (old != nullptr && Find(old, g_config.python) != nullptr) {
    return;
  }
  static char path[16384];  // the constructor runs once
  Text text{path, sizeof path};
  text.Add(g_config.python);
  if (old != nullptr && old[0] != 0) {
    text.Add(":").Add(old);
  }
  if (!text.cut) {
    SetVariable("PYTHONPATH", path);
  }
}

void SaveVariables() {
  Text text{g_variable_text, sizeof g_variable_text};
  int count = 0;
  for (char** p = environ; *p != nullptr && count < 23; ++p) {
    if (StartsWith(*p, "PENSTOCK_")) {
      const char* copy = g_variable_text + text.size;
      text.Add(*p, Length(*p) + 1);
      if (text.cut) {
        return;
      }
      g_variables[count++] = copy;
    }
  }
}

using FnKeyCreate = int(unsigned*, void (*)(void*));
using FnSetSpecific = int(unsigned, const void*);
uint32_t g_key_state = 0;  // 0 unknown, 1 being made, 2 usable, 3 none
unsigned g_key = 0;
FnKeyCreate* g_key_create = nullptr;
FnSetSpecific* g_set_specific = nullptr;

// Looks these functions up at run time, since glibc 2.34 moved them from libpthread to libc.
void FindThreadKeys() {
  g_key_create = reinterpret_cast<FnKeyCreate*>(dlsym(RTLD_DEFAULT, "pthread_key_create"));
  g_set_specific = reinterpret_cast<FnSetSpecific*>(dlsym(RTLD_DEFAULT, "pthread_setspecific"));
}

__attribute__((constructor)) void Start() {
  const int saved = errno;
  FindLibc();
  const char* off = Variable("PENSTOCK_OFF");
  if (IsGlibc() && (off == nullptr || off[0] == 0 || off[0] == '0') && ArePreloaded() &&
      AreFirst()) {
    NoteProcess();
    FindOurselves();
    CopyVariable("PENSTOCK_ARENA", g_config.arena, sizeof g_config.arena);
    CopyVariable("PENSTOCK_DATA", g_config.data, sizeof g_config.data);
    CopyVariable("PENSTOCK_STAGE", g_config.stage, sizeof g_config.stage);
    const char* clock = Variable("PENSTOCK_CLOCK");
    g_config.monotonic = clock != nullptr && StartsWith(clock, "monotonic");
    const char* no_command = Variable("PENSTOCK_NO_COMMAND");
    g_config.no_command = no_command != nullptr && no_command[0] == '1';
    const char* budget = Variable("PENSTOCK_MAX_BYTES");
    const int64_t bytes = budget != nullptr ? ParseNumber(budget) : -1;
    g_config.max_bytes = bytes > 0 ? static_cast<uint64_t>(bytes) : kDefaultBudget;
    const char* force = Variable("PENSTOCK_FORCE");
    g_config.force = force != nullptr && force[0] != 0 && force[0] != '0';
    const char* batches = Variable("PENSTOCK_BATCHES");
    const int64_t limit = batches != nullptr ? ParseNumber(batches) : -1;
    g_config.batches = limit > 0 ? static_cast<uint64_t>(limit) : 0;
    const Environment environment{Variable, SetVariable};
    ReadRank(environment);
    NameRun(environment);
    SetVariable("PENSTOCK_AGENT", g_config.agent);
    ExtendPythonPath();
    SaveVariables();
    g_config.on = g_config.agent[0] != 0 && (g_config.arena[0] != 0 || g_config.out[0] != 0);
    if (g_config.on) {
      FindClock();
      FindThreadKeys();
      g_recording = &kOn;
      NoteIsolatedPython();
      StartGpu(Variable("PENSTOCK_GPU"), Variable, SetVariable);
    }
  }
  errno = saved;
}

// Runs at exit() and at the end of main(). If the process ends in another way, the reader of the
// recording does the same work.
__attribute__((destructor)) void AtExit() {
  const int saved = errno;
  EndProcess();
  errno = saved;
}

}  // namespace

void OnThreadExit(ThreadState* state) {
  const int saved = errno;
  uint32_t expected = 0;
  if (__atomic_load_n(&g_key_state, __ATOMIC_ACQUIRE) == 0 &&
      __atomic_compare_exchange_n(&g_key_state, &expected, 1u, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    if (g_key_create == nullptr) {
      FindThreadKeys();  // libpthread was loaded after us
    }
    const bool made = g_key_create != nullptr && g_set_specific != nullptr &&
                      g_key_create(&g_key, ReleaseThread) == 0;
    __atomic_store_n(&g_key_state, made ? 2u : 3u, __ATOMIC_RELEASE);
  }
  if (__atomic_load_n(&g_key_state, __ATOMIC_ACQUIRE) == 2) {
    g_set_specific(g_key, state);
  }
  errno = saved;
}

}  // namespace penstock::agent
