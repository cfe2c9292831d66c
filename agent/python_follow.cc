// SPDX-License-Identifier: Apache-2.0

#include "agent/python_follow.h"

#include "agent/core/recorder.h"
#include "agent/python_calls.h"

namespace penstock::agent {
namespace {

const MethodDef* g_own = nullptr;
size_t g_own_count = 0;
UnitEnd g_unit_end;

// Finds the interpreter's functions and types that following calls needs. False if one is missing.
bool LoadCallApi(CallApi* api) {
  static CallApi known;
  static bool loaded = false;
  static bool complete = false;
  if (!loaded) {
    loaded = true;
    complete =
        Load(&known.attribute, "PyObject_GetAttrString") &&
        Load(&known.function_type, "PyFunction_Type") &&
        Load(&known.method_type, "PyMethod_Type") &&
        Load(&known.builtin_type, "PyCFunction_Type") &&
        Load(&known.builtin_method_type, "PyCMethod_Type") &&
        Load(&known.descriptor_type, "PyMethodDescr_Type") &&
        Load(&known.type_type, "PyType_Type") && Load(&known.set_profile, "PyEval_SetProfile") &&
        Load(&known.set_trace, "PyEval_SetTrace") && Load(&known.frame_code, "PyFrame_GetCode") &&
        Load(&known.frame_line, "PyFrame_GetLineNumber") &&
        Load(&known.call, "PyObject_CallNoArgs");
    known.as_long = g_python.as_long;
    known.as_text = g_python.as_text;
    known.clear_error = g_python.clear_error;
    known.retain = g_python.retain;
    known.release = g_python.release;
    known.own_methods = g_own;
    known.own_methods_end = g_own + g_own_count;
    for (size_t i = 0; i < g_own_count; ++i) {
      if (g_own[i].function == FollowStop) {
        known.stop_method = g_own + i;
      }
    }
  }
  *api = known;
  return complete;
}

}  // namespace

void NoteBuiltins(const MethodDef* methods, size_t count) {
  g_own = methods;
  g_own_count = count;
}

Object* FollowBegin(Object* /*self*/, Arguments a, Count n) {
  constexpr Count kHotFrom = 11;
  const int64_t flags = Number(a, n, 9, 0);
  CallApi api{};
  if (!Recording() || n < kHotFrom || !LoadCallApi(&api)) {
    return g_python.from_long(0);
  }
  UnitStart start{};
  start.stage = StageOf(Number(a, n, 0));
  start.name = static_cast<uint32_t>(Number(a, n, 1, 0));
  start.context = ContextOf(Number(a, n, 2), Number(a, n, 3), Number(a, n, 4, 0));
  start.ordinary = static_cast<uint64_t>(Number(a, n, 5, 0));
  start.neighbours = static_cast<uint32_t>(Number(a, n, 6, 0));
  start.most_events = static_cast<uint32_t>(Number(a, n, 7, 0));
  start.most_ticks = static_cast<uint64_t>(Number(a, n, 8, 0));
  start.monitoring = (flags & 1) != 0;
  start.chosen = (flags & 2) != 0;
  start.give_way = a[10] != g_python.none ? a[10] : nullptr;
  return g_python.from_long(BeginUnit(api, start, a + kHotFrom, n - kHotFrom) ? 1 : 0);
}

Object* FollowStop(Object* /*self*/, Arguments a, Count n) {
  g_unit_end = StopUnit(Number(a, n, 0, 0) != 0);
  return g_python.from_long(static_cast<long long>(g_unit_end.state));
}

Object* FollowFact(Object* /*self*/, Arguments a, Count n) {
  const uint64_t facts[] = {g_unit_end.duration, g_unit_end.functions,   g_unit_end.builtins,
                            g_unit_end.lines,    g_unit_end.interpreted, g_unit_end.codes};
  const int64_t i = Number(a, n, 0);
  const bool known = i >= 0 && i < static_cast<int64_t>(sizeof facts / sizeof facts[0]);
  return g_python.from_long(known ? static_cast<long long>(facts[i]) : 0);
}

Object* FollowHot(Object* /*self*/, Arguments a, Count n) {
  Object* code = HottestCode(static_cast<uint32_t>(Number(a, n, 0, 0) & 7));
  if (code == nullptr) {
    return None();
  }
  g_python.retain(code);
  return code;
}

Object* FollowFinish(Object* /*self*/, Arguments a, Count n) {
  EventCosts costs{};
  costs.function = static_cast<uint64_t>(Number(a, n, 1, 0));
  costs.builtin = static_cast<uint64_t>(Number(a, n, 2, 0));
  costs.line = static_cast<uint64_t>(Number(a, n, 3, 0));
  costs.spread = static_cast<uint8_t>(Number(a, n, 4, 0));
  const uint64_t cost = FinishUnit(Number(a, n, 0, 0) != 0, costs);
  return g_python.from_long(static_cast<long long>(cost));
}

Object* FollowForget(Object* /*self*/, Arguments, Count) {
  ForgetUnit();
  return None();
}

Object* MonitorFunction(Object* /*self*/, Arguments a, Count n) {
  if (n > 0) OnFunction(a[0]);
  return None();
}

Object* MonitorReturn(Object* /*self*/, Arguments a, Count n) {
  if (n > 0) OnReturn(a[0]);
  return None();
}

Object* MonitorBuiltin(Object* /*self*/, Arguments a, Count n) {
  if (n > 2) OnBuiltin(a[2]);
  return None();
}

Object* MonitorBuiltinReturn(Object* /*self*/, Arguments a, Count n) {
  if (n > 2) OnBuiltinReturn(a[2]);
  return None();
}

Object* MonitorLine(Object* /*self*/, Arguments a, Count n) {
  if (n > 1) OnLine(a[0], static_cast<uint32_t>(Number(a, n, 1, 0)));
  return None();
}

}  // namespace penstock::agent
