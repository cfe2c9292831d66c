// SPDX-License-Identifier: Apache-2.0

#include "agent/system/isolated_python.h"

#include <dlfcn.h>
#include <errno.h>

#include <initializer_list>

#include "agent/core/process.h"
#include "agent/system/strings.h"
#include "agent/system/symver.h"
#include "agent/system/sys.h"

namespace penstock::agent {

int g_isolated_python = 0;

namespace {

// Used only by NoteIsolatedPython(), which the agent's constructor (boot.cc) calls once.
char g_exe[4096];
char g_arguments[4096];

// The only long option that other options or a program may follow: after every other one, such as
// --help, Python prints something and ends. It takes an argument.
constexpr char kLongOption[] = "--check-hash-based-pycs";

// Whether Python's own options, those before the program's name, include -I, -E or -S, also among
// other letters (-Is, -bEu).
bool RunsNoSitecustomize(const char* arguments, size_t size) {
  const char* p = arguments + Length(arguments) + 1;
  while (p < arguments + size && p[0] == '-' && p[1] != 0) {
    bool last = false;
    bool takes_argument = StartsWith(p, kLongOption) && p[sizeof kLongOption - 1] == 0;
    if (p[1] == '-' && !takes_argument) {
      break;
    }
    for (const char* c = p + 1; *c != 0 && !takes_argument; ++c) {
      if (*c == 'I' || *c == 'E' || *c == 'S') {
        return true;
      }
      if (*c == 'c' || *c == 'm') {
        last = true;
        break;
      }
      if (*c == 'W' || *c == 'X') {
        takes_argument = c[1] == 0;
        break;
      }
    }
    if (last) {
      break;
    }
    p += Length(p) + 1;
    if (takes_argument && p < arguments + size) {
      p += Length(p) + 1;
    }
  }
  return false;
}

// The code runs in a namespace of its own, so the program's __main__ does not see its names.
constexpr char kCode[] =
    "import sys\n"
    "sys.path.insert(0, directory)\n"
    "try:\n"
    "    import penstock_hooks\n"
    "    penstock_hooks.install()\n"
    "except Exception:\n"
    "    pass\n"
    "finally:\n"
    "    while directory in sys.path:\n"  // with -S but not -E, PYTHONPATH puts it there too
    "        sys.path.remove(directory)\n";
constexpr int kFileInput = 257;  // Py_file_input

using Object = void;  // PyObject, opaque to us

// Functions of the stable ABI.
struct Python {
  Object* (*new_dict)();
  int (*set_item)(Object*, const char*, Object*);
  Object* (*get_item)(Object*, const char*);  // borrowed
  Object* (*builtins)();                      // borrowed
  Object* (*text)(const char*);
  Object* (*compile)(const char*, const char*, int);
  Object* (*evaluate)(Object*, Object*, Object*);
  void (*clear_error)();
  void (*release)(Object*);
};

template <class T>
bool Load(T* to, const char* name) {
  *to = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  return *to != nullptr;
}

bool LoadPython(Python* p) {
  return Load(&p->new_dict, "PyDict_New") && Load(&p->set_item, "PyDict_SetItemString") &&
         Load(&p->get_item, "PyDict_GetItemString") && Load(&p->builtins, "PyEval_GetBuiltins") &&
         Load(&p->text, "PyUnicode_DecodeFSDefault") && Load(&p->compile, "Py_CompileString") &&
         Load(&p->evaluate, "PyEval_EvalCode") && Load(&p->clear_error, "PyErr_Clear") &&
         Load(&p->release, "Py_DecRef");
}

// The pending call. Returns -1 if an exception was raised that the program would have got here
// anyway (Ctrl-C).
int RunHooks(void* /*unused*/) {
  Python p;
  if (!LoadPython(&p)) {
    return 0;
  }
  Object* builtins = p.builtins();
  if (builtins == nullptr || p.get_item(builtins, "__import__") == nullptr) {
    g_isolated_python = 1;  // the interpreter is not ready: try at the next file
    return 0;
  }
  Object* space = p.new_dict();
  Object* directory = p.text(g_config.python);
  Object* code = p.compile(kCode, "<penstock>", kFileInput);
  int result = 0;
  if (space != nullptr && directory != nullptr && code != nullptr &&
      p.set_item(space, "__builtins__", builtins) == 0 &&
      p.set_item(space, "directory", directory) == 0) {
    Object* done = p.evaluate(code, space, space);
    result = done != nullptr ? 0 : -1;
    if (done != nullptr) {
      p.release(done);
    }
  } else {
    p.clear_error();
  }
  for (Object* object : {space, directory, code}) {
    if (object != nullptr) {
      p.release(object);
    }
  }
  return result;
}

// Whether this Python is 3.7 or later.
bool IsKnownVersion() {
  using FnVersion = const char*();
  auto* version = reinterpret_cast<FnVersion*>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const char* text = version != nullptr ? version() : "";
  return text[0] == '3' && text[1] == '.' && (text[2] >= '7' || ParseNumber(text + 2) >= 10);
}

}  // namespace

// Asks for the name of the executable only if the command line has -I, -E or -S. A seccomp filter
// that was installed before this process ran may end it for readlink(): such a filter must allow
// the system calls that ld.so makes, but ld.so does not always call readlink().
void NoteIsolatedPython() {
  const size_t size = sys::ReadFile("/proc/self/cmdline", g_arguments, sizeof g_arguments);
  if (size == 0 || !RunsNoSitecustomize(g_arguments, size)) {
    return;
  }
  const long n = sys::Readlink("/proc/self/exe", g_exe, sizeof g_exe - 1);
  g_exe[n > 0 ? n : 0] = 0;
  const char* name = BaseName(g_exe);
  g_isolated_python = StartsWith(name, "python") || StartsWith(name, "pypy") ? 1 : 0;
}

void InjectIsolatedPython() {
  using FnInitialized = int();
  using FnPending = int(int (*)(void*), void*);
  const int saved = errno;
  auto* initialized = reinterpret_cast<FnInitialized*>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
  auto* pending = reinterpret_cast<FnPending*>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
  if (initialized == nullptr || pending == nullptr || !IsKnownVersion()) {
    g_isolated_python = 0;
  } else if (initialized() != 0) {
    g_isolated_python = 0;
    SetFeature(wire::kFeatureIsolated);
    if (pending(RunHooks, nullptr) != 0) {
      g_isolated_python = 1;  // too many calls wait: try at the next file
    }
  }
  errno = saved;
}

}  // namespace penstock::agent
