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
#if defined(SYS_access)
  // ld.so makes this call at the start of every program. So a sandbox that kills a program at
  // system calls that it does not allow must allow this one.
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

// Whether one of the entries of `path`, which have colons between them, is `folder`.
bool HasEntry(const char* path, const char* folder) {
  const size_t size = Length(folder);
  for (const char* at = path; (at = Find(at, folder)) != nullptr; ++at) {
    if ((at == path || at[-1] == ':') && (at[size] == 0 || at[size] == ':')) {
      return true;
    }
  }
  return false;
}

void ExtendPythonPath() {
  if (g_config.python[0] == 0) {
    return;
  }
  SetVariable("PENSTOCK_PYTHON", g_config.python);
  const char* old = Variable("PYTHONPATH");
  if (old != nullptr && HasEntry(old, g_config.python)) {
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

// The functions of thread keys. Looked up at run time, since glibc 2.34 moved them from libpthread
// to libc.
struct ThreadKeys {
  int (*create)(unsigned*, void (*)(void*)) = nullptr;
  int (*remove)(unsigned) = nullptr;
  int (*set)(unsigned, const void*) = nullptr;
  explicit operator bool() const {
    return create != nullptr && remove != nullptr && set != nullptr;
  }
};
ThreadKeys g_thread_keys;  // set by the constructor; empty if libpthread was not loaded then

constexpr uint64_t kNoKey = 1;
constexpr uint64_t kFirstKey = 2;
// atomic: 0: no thread has made a key yet; kNoKey: none could be made; else the key + kFirstKey
uint64_t g_key = 0;

ThreadKeys FindThreadKeys() {
  ThreadKeys keys;
  keys.create = reinterpret_cast<decltype(keys.create)>(dlsym(RTLD_DEFAULT, "pthread_key_create"));
  keys.remove = reinterpret_cast<decltype(keys.remove)>(dlsym(RTLD_DEFAULT, "pthread_key_delete"));
  keys.set = reinterpret_cast<decltype(keys.set)>(dlsym(RTLD_DEFAULT, "pthread_setspecific"));
  return keys;
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
      g_thread_keys = FindThreadKeys();
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

// Returns the value of g_key. If several threads come here at once, each makes a key; that of the
// first counts, and the others delete theirs. So no thread waits for another, and a child that was
// forked meanwhile goes on.
uint64_t MakeKey(const ThreadKeys& keys) {
  unsigned made = 0;
  const bool ok = keys && keys.create(&made, ReleaseThread) == 0;
  uint64_t key = 0;
  const uint64_t ours = ok ? made + kFirstKey : kNoKey;
  if (__atomic_compare_exchange_n(&g_key, &key, ours, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return ours;
  }
  if (ok) {
    keys.remove(made);
  }
  return key;
}

}  // namespace

void OnThreadExit(ThreadState* state) {
  const int saved = errno;
  const uint64_t known = __atomic_load_n(&g_key, __ATOMIC_ACQUIRE);
  if (known != kNoKey) {
    // If the constructor did not find the functions, libpthread was loaded after it.
    const ThreadKeys keys = g_thread_keys ? g_thread_keys : FindThreadKeys();
    const uint64_t key = known != 0 ? known : MakeKey(keys);
    if (key != kNoKey && keys) {
      keys.set(static_cast<unsigned>(key - kFirstKey), state);
    }
  }
  errno = saved;
}

}  // namespace penstock::agent
