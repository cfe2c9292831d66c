// SPDX-License-Identifier: Apache-2.0
//
// The agent's face towards Python: builtin functions made at run time from the interpreter that is
// in the process, so that the agent links no libpython and one agent serves every version. Only
// names of the stable ABI are used (PyCFunction, PyLong, PyUnicode, PyDict; METH_FASTCALL).
// Every function holds the GIL and touches its own thread's state only.

#include <dlfcn.h>

#include "agent/core/process.h"
#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/hooks/hook.h"
#include "agent/system/scratch.h"
#include "agent/system/symver.h"

namespace penstock::agent {
namespace {

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
constexpr int kFastCall = 0x80;  // METH_FASTCALL

struct Python {
  Object* (*new_function)(MethodDef*, Object*, Object*);
  Object* (*new_dict)();
  int (*set_item)(Object*, const char*, Object*);
  Object* (*from_long)(long long);
  long long (*as_long)(Object*);
  const char* (*as_text)(Object*, Count*);
  void (*clear_error)();
  Object* (*error_occurred)();
  void (*retain)(Object*);
  void (*release)(Object*);
  Object* none;
  Object* yes;
  Object* no;
} g_python;

template <class T>
bool Load(T* to, const char* name) {
  *to = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  return *to != nullptr;
}

bool LoadPython() {
  Python& p = g_python;
  return Load(&p.new_function, "PyCFunction_NewEx") && Load(&p.new_dict, "PyDict_New") &&
         Load(&p.set_item, "PyDict_SetItemString") && Load(&p.from_long, "PyLong_FromLongLong") &&
         Load(&p.as_long, "PyLong_AsLongLong") && Load(&p.as_text, "PyUnicode_AsUTF8AndSize") &&
         Load(&p.clear_error, "PyErr_Clear") && Load(&p.error_occurred, "PyErr_Occurred") &&
         Load(&p.retain, "Py_IncRef") && Load(&p.release, "Py_DecRef") &&
         Load(&p.none, "_Py_NoneStruct") && Load(&p.yes, "_Py_TrueStruct") &&
         Load(&p.no, "_Py_FalseStruct");
}

Object* None() {
  g_python.retain(g_python.none);
  return g_python.none;
}

// Argument `i` as a number; what is no number of 64 bits counts as -1.
int64_t Number(Arguments a, Count n, Count i, int64_t missing = -1) {
  if (i >= n) {
    return missing;
  }
  const long long value = g_python.as_long(a[i]);
  if (value == -1 && g_python.error_occurred() != nullptr) {
    g_python.clear_error();
  }
  return value;
}

struct View {
  const char* data = nullptr;
  size_t size = 0;
};

View TextOf(Arguments a, Count n, Count i) {
  Count size = 0;
  const char* text = i < n ? g_python.as_text(a[i], &size) : nullptr;
  if (text == nullptr) {
    g_python.clear_error();
    return {};
  }
  return {text, static_cast<size_t>(size)};
}

Context ContextOf(int64_t sample, int64_t batch, int64_t generation) {
  Context c;
  c.sample = sample;
  c.batch = batch < 0 ? wire::kNoBatch : static_cast<uint32_t>(batch);
  c.generation = static_cast<uint16_t>(generation);
  return c;
}

Stage StageOf(int64_t value) {
  return value > 0 && value < wire::kStageCount ? static_cast<Stage>(value) : wire::kMark;
}

// A token as one small int: depth in the low byte.
int64_t Pack(Token t) {
  return static_cast<int64_t>(uint64_t{t.serial} << 8 | t.depth);
}
Token Unpack(int64_t v) {
  return {static_cast<uint32_t>(v & 0xff), static_cast<uint32_t>(static_cast<uint64_t>(v) >> 8)};
}

Object* IsRecording(Object* /*self*/, Arguments, Count) {
  Object* answer = Recording() ? g_python.yes : g_python.no;
  g_python.retain(answer);
  return answer;
}

Object* NowTicks(Object* /*self*/, Arguments, Count) {
  uint64_t token;
  if (Recording()) {
    EnsureProcess(&token);  // the clock is the recording's
  }
  return g_python.from_long(static_cast<long long>(Now()));
}

Object* InternName(Object* /*self*/, Arguments a, Count n) {
  const View text = TextOf(a, n, 0);
  if (text.data == nullptr) {
    return g_python.from_long(0);
  }
  const uint64_t id =
      Recording() ? Intern(text.data, text.size) : wire::HashOf(text.data, text.size);
  return g_python.from_long(static_cast<uint32_t>(id));
}

Object* BeginSpan(Object* /*self*/, Arguments a, Count n) {
  if (!Recording()) {
    return g_python.from_long(0);
  }
  const Stage stage = StageOf(Number(a, n, 0));
  const auto name = static_cast<uint32_t>(Number(a, n, 1, 0));
  Token token;
  if (n > 2) {
    const Context context = ContextOf(Number(a, n, 2), Number(a, n, 3), Number(a, n, 4, 0));
    token = BeginPython(stage, name, &context);
  } else {
    token = BeginPython(stage, name, nullptr);
  }
  return g_python.from_long(Pack(token));
}

Object* EndSpan(Object* /*self*/, Arguments a, Count n) {
  const Token token = Unpack(Number(a, n, 0, 0));
  if (token.depth != 0) {
    const int64_t bytes = Number(a, n, 1, 0);
    End(token, bytes > 0 ? static_cast<uint64_t>(bytes) : 0, 0, wire::kFlagPython);
  }
  return None();
}

Object* CancelSpan(Object* /*self*/, Arguments a, Count n) {
  const Token token = Unpack(Number(a, n, 0, 0));
  if (token.depth != 0) {
    Cancel(token);
  }
  return None();
}

Object* EmitSpan(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    const auto start = static_cast<uint64_t>(Number(a, n, 2, 0));
    const uint64_t now = Now();
    const int64_t bytes = Number(a, n, 5, 0);
    const ThreadState* s = Self();
    if (s != nullptr && start != 0 && start <= now) {
      const Context context = ContextOf(s->context.sample, Number(a, n, 3), Number(a, n, 4, 0));
      EmitAt(context, {.stage = StageOf(Number(a, n, 0)),
                       .flags = wire::kFlagPython,
                       .name = static_cast<uint32_t>(Number(a, n, 1, 0)),
                       .start = start,
                       .duration = now - start,
                       .bytes = bytes > 0 ? static_cast<uint64_t>(bytes) : 0});
    }
  }
  return None();
}

Object* EmitOrder(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    EmitEvent(static_cast<uint8_t>(Number(a, n, 0, 0)),
              ContextOf(wire::kNoSample, Number(a, n, 1), Number(a, n, 2, 0)), Number(a, n, 3, 0));
  }
  return None();
}

Object* EmitCount(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    EmitCounter(static_cast<uint32_t>(Number(a, n, 0, 0)), Number(a, n, 1, 0));
  }
  return None();
}

Object* EmitFact(Object* /*self*/, Arguments a, Count n) {
  const View key = TextOf(a, n, 0);
  const View value = TextOf(a, n, 1);
  PENSTOCK_SCRATCH(line);
  if (Recording() && key.data != nullptr && value.data != nullptr &&
      key.size + 1 + value.size < kMaxText) {
    __builtin_memcpy(line, key.data, key.size);
    line[key.size] = '=';
    __builtin_memcpy(line + key.size + 1, value.data, value.size);
    EmitText(wire::kTextFact, wire::HashOf(key.data, key.size), line, key.size + 1 + value.size);
  }
  return None();
}

Object* SetContext(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    if (ThreadState* s = Self(); s != nullptr) {
      s->context = ContextOf(Number(a, n, 0), Number(a, n, 1), Number(a, n, 2, 0));
    }
  }
  return None();
}

Object* SetProcessRole(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    SetRole(static_cast<uint32_t>(Number(a, n, 0, 0)), static_cast<int32_t>(Number(a, n, 1)));
    SetFeature(wire::kFeaturePython);
  }
  return None();
}

Object* Delivered(Object* /*self*/, Arguments a, Count n) {
  if (Recording()) {
    EmitEvent(wire::kBatchDelivered,
              ContextOf(wire::kNoSample, Number(a, n, 0), Number(a, n, 1, 0)), 0);
    CountBatch();
  }
  return None();
}

Object* ForkToken(Object* /*self*/, Arguments, Count) {
  uint64_t token = 0;
  if (Recording()) {
    EnsureProcess(&token);
  }
  return g_python.from_long(static_cast<long long>(token & 0x7fffffffffffffffu));
}

Object* OpenCount(Object* /*self*/, Arguments a, Count n) {
  return g_python.from_long(OpenSpans(StageOf(Number(a, n, 0))));
}

MethodDef g_methods[] = {
    {"recording", IsRecording, kFastCall, "recording() -> bool"},
    {"now", NowTicks, kFastCall, "now() -> ticks"},
    {"intern", InternName, kFastCall, "intern(text) -> name id"},
    {"begin", BeginSpan, kFastCall, "begin(stage, name[, sample, batch, generation]) -> token"},
    {"end", EndSpan, kFastCall, "end(token[, bytes])"},
    {"cancel", CancelSpan, kFastCall, "cancel(token)"},
    {"emit", EmitSpan, kFastCall, "emit(stage, name, start, batch, generation, bytes)"},
    {"event", EmitOrder, kFastCall, "event(type, batch, generation, value)"},
    {"counter", EmitCount, kFastCall, "counter(name, value)"},
    {"fact", EmitFact, kFastCall, "fact(key, value)"},
    {"context", SetContext, kFastCall, "context(sample, batch, generation)"},
    {"role", SetProcessRole, kFastCall, "role(role, worker_id)"},
    {"delivered", Delivered, kFastCall, "delivered(batch, generation)"},
    {"fork_token", ForkToken, kFastCall, "fork_token() -> int"},
    {"open_spans", OpenCount, kFastCall, "open_spans(stage) -> int"},
};

}  // namespace
}  // namespace penstock::agent

// A new reference to a dict of the builtins, or to None where this Python is not one we know.
// Called through ctypes.PyDLL, so with the GIL held.
PENSTOCK_EXPORT void* penstock_python_bridge() {
  using namespace penstock::agent;
  if (!LoadPython()) {
    if (g_python.none != nullptr && g_python.retain != nullptr) {
      return None();
    }
    return nullptr;
  }
  SetFeature(penstock::wire::kFeatureHooks);
  Object* dict = g_python.new_dict();
  for (MethodDef& method : g_methods) {
    Object* function = dict != nullptr ? g_python.new_function(&method, nullptr, nullptr) : nullptr;
    if (function != nullptr) {
      g_python.set_item(dict, method.name, function);
      g_python.release(function);
    }
  }
  return dict;
}
