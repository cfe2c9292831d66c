// SPDX-License-Identifier: Apache-2.0
//
// The functions and objects of the process's Python interpreter that our builtins use. The
// interpreter's functions are found by name, so the agent links no libpython and one agent serves
// every version. `Python` has only names of the stable ABI (PyCFunction, PyLong, PyUnicode, PyDict,
// and the flag METH_FASTCALL). Threads: callers hold the GIL.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

using Object = void;  // PyObject, opaque to us
using Arguments = Object* const*;
using Count = intptr_t;  // Py_ssize_t
using Function = Object*(Object*, Arguments, Count);

struct MethodDef {  // PyMethodDef of every CPython 3
  const char* name;
  Function* function;
  int flags;
  const char* doc;
};
inline constexpr int kFastCall = 0x80;  // METH_FASTCALL

struct Python {
  Object* (*new_function)(MethodDef*, Object*, Object*);
  Object* (*new_dict)();
  int (*set_item)(Object*, const char*, Object*);
  Object* (*from_long)(long long);
  long long (*as_long)(Object*);
  const char* (*as_text)(Object*, Count*);
  void (*clear_error)();
  Object* (*error_occurred)();
  void* (*save_thread)();
  void (*restore_thread)(void*);
  void (*retain)(Object*);
  void (*release)(Object*);
  Object* none;
  Object* yes;
  Object* no;
};
extern __attribute__((visibility("hidden"))) Python g_python;  // hidden, so that it is not accessed
                                                               // through the GOT

// Fills in g_python. False if the interpreter lacks one of the names.
bool LoadPython();

// Returns the address of a name of the interpreter; nullptr if it does not have that name.
void* FindInPython(const char* name);

// Sets `to` to the address of `name`. False if the interpreter does not have that name.
template <class T>
bool Load(T* to, const char* name) {
  *to = reinterpret_cast<T>(FindInPython(name));
  return *to != nullptr;
}

// A new reference to None.
inline Object* None() {
  g_python.retain(g_python.none);
  return g_python.none;
}

// Returns an object as a number; -1 if it is no 64-bit number.
int64_t NumberOf(Object* object);
// Returns argument `i` as a number; `missing` if there are fewer arguments.
inline int64_t Number(Arguments a, Count n, Count i, int64_t missing = -1) {
  return i < n ? NumberOf(a[i]) : missing;
}

struct View {
  const char* data = nullptr;
  size_t size = 0;
};

// Returns argument `i` as a text; `data` is nullptr if it is missing or no text.
View TextOf(Arguments a, Count n, Count i);

inline Context ContextOf(int64_t sample, int64_t batch, int64_t generation) {
  Context c;
  c.sample = sample;
  c.batch = batch < 0 ? wire::kNoBatch : static_cast<uint32_t>(batch);
  c.generation = static_cast<uint16_t>(generation);
  return c;
}

// kMark stands for a value that is no stage.
inline Stage StageOf(int64_t value) {
  return value > 0 && value < wire::kStageCount ? static_cast<Stage>(value) : wire::kMark;
}

}  // namespace penstock::agent
