// SPDX-License-Identifier: Apache-2.0
#include "agent/python_calls.h"

#include <pthread.h>

#include "agent/python_call_tree.h"

namespace penstock::agent {
namespace {

OpenCall g_stack[kMostDepth];

uint16_t Current() {
  if (g_unit.depth == 0) {
    return wire::kNoNode;
  }
  const OpenCall& top = g_stack[g_unit.depth - 1];
  return top.line != wire::kNoNode ? top.line : top.node;
}

void CountHalf(uint16_t node, EventKind kind) {
  if (node == wire::kNoNode) {
    ++g_unit.top_halves[kind];
    return;
  }
  CallNode& n = g_call_nodes[node];
  ++(kind == kFunctionEvent  ? n.function_halves
     : kind == kBuiltinEvent ? n.builtin_halves
                             : n.line_halves);
}

// Called at an event. Adds the time since the last event to the node in which the thread was, and
// returns that node.
uint16_t Advance(EventKind kind) {
  const uint64_t now = Now();
  const uint16_t node = Current();
  (node == wire::kNoNode ? g_unit.top_own : g_call_nodes[node].own) += now - g_unit.last;
  if (node == wire::kNoNode || g_call_nodes[node].kind != wire::kCallBuiltin) {
    const uint64_t passed = now - g_unit.last;
    const uint64_t most = g_unit.start.most_ticks / 4;
    g_unit.interpreted += passed;
    // A long interval between two events may be a wait for a core. So it counts as at most a
    // quarter of the limit `most_ticks`.
    g_unit.counted += passed < most ? passed : most;
  }
  g_unit.last = now;
  ++g_unit.events[kind];
  return node;
}

// Ends an event. The thread was in node `from` before the event and is in Current() after it; half
// of an event's average cost lies in each. The first events of a node take several times as long:
// the node is made and named, and nothing is in the caches. So for the first events of `node`, the
// time by which they are longer than the shortest event is measured. This time belongs to no node.
void EndEvent(EventKind kind, uint16_t from, uint16_t node) {
  constexpr uint8_t kMeasured = 16;
  static uint64_t shortest[3] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  CountHalf(from, kind);
  CountHalf(Current(), kind);
  if (node == wire::kNoNode || g_call_nodes[node].events == kMeasured) {
    return;
  }
  ++g_call_nodes[node].events;
  const uint64_t took = Now() - g_unit.last;
  shortest[kind] = took < shortest[kind] ? took : shortest[kind];
  const uint64_t longer = took - shortest[kind];
  g_unit.measured += longer;
  g_unit.interpreted += longer;
  g_unit.counted += longer;
  g_unit.last += longer;
}

// Stops following. Before Python 3.12 our profile and trace functions remove themselves when they
// are next called: only then is it certain that no tool of the program has replaced them.
void SwitchOff() {
  g_unit.is_following = false;
  if (!g_unit.start.monitoring) {
    return;
  }
  PyHandle* done =
      g_unit.start.give_way != nullptr ? g_unit.api.call(g_unit.start.give_way) : nullptr;
  if (done != nullptr) {
    g_unit.api.release(done);
  } else {
    g_unit.api.clear_error();
  }
}

// Ends following if the unit has reached its limit of events or time.
void CheckLimits() {
  const uint64_t events = g_unit.events[0] + g_unit.events[1] + g_unit.events[2];
  if (events < g_unit.start.most_events && g_unit.counted < g_unit.start.most_ticks) {
    return;
  }
  g_unit.state = kUnitWasCut;
  g_unit.flags |= wire::kUnitCut;
  g_unit.ended = g_unit.last;
  SwitchOff();
}

bool IsHot(const PyHandle* code) {
  for (uint32_t i = 0; i < g_unit.hot_count; ++i) {
    if (g_unit.hot[i] == code) {
      return true;
    }
  }
  return false;
}

void Push(const void* key, uint8_t kind, uint16_t node, bool is_hot) {
  if (g_unit.depth == kMostDepth) {
    ++g_unit.beyond;
    return;
  }
  g_stack[g_unit.depth++] = {key, node, wire::kNoNode, kind, is_hot};
}

void EnterFunction(PyHandle* code) {
  const uint16_t caller = Advance(kFunctionEvent);
  bool fresh = false;
  const uint16_t node =
      g_unit.beyond == 0 ? ChildNode(caller, wire::kCallFunction, code, 0, &fresh) : wire::kNoNode;
  if (fresh) {
    g_unit.api.retain(code);
    g_call_nodes[node].code = code;
    g_call_nodes[node].owner = OwnerOf(code);
    ++g_unit.codes;
  }
  const bool has_node = node != wire::kNoNode;
  Push(code, wire::kCallFunction, has_node ? node : caller, has_node && IsHot(code));
  if (has_node) {
    ++g_call_nodes[node].count;
  }
  EndEvent(kFunctionEvent, caller, node);
  CheckLimits();
}

// Ends the newest call of `key` and the calls that are still open inside it.
void Leave(const void* key, uint8_t kind, EventKind event) {
  const uint16_t from = Advance(event);
  if (g_unit.beyond != 0 && kind == wire::kCallFunction) {
    --g_unit.beyond;
  } else if (g_unit.beyond == 0) {
    for (uint32_t i = g_unit.depth; i-- > 0;) {
      const OpenCall& entry = g_stack[i];
      if (entry.kind == kind && entry.key == key) {
        g_unit.depth = i;
        break;
      }
      // A builtin ends before the function that called it, so it is not below that function on the
      // stack.
      if (kind == wire::kCallBuiltin && entry.kind == wire::kCallFunction) {
        break;
      }
    }
  }
  EndEvent(event, from, from);
  CheckLimits();
}

void EnterBuiltin(PyHandle* callable) {
  const uint16_t caller = Advance(kBuiltinEvent);
  const void* key = KeyOfBuiltin(callable);
  bool fresh = false;
  const uint16_t node = g_unit.beyond == 0 && !IsOwnMethod(key)
                            ? ChildNode(caller, wire::kCallBuiltin, key, 0, &fresh)
                            : wire::kNoNode;
  const bool has_node = node != wire::kNoNode;
  if ((fresh || !has_node) && IsTool(callable)) {
    g_unit.state = kUnitDisplaced;
    SwitchOff();
    return;
  }
  if (fresh) {
    g_call_nodes[node].name = NameOfBuiltin(callable);
  }
  if (g_unit.beyond == 0 && g_unit.depth < kMostDepth) {
    Push(key, wire::kCallBuiltin, has_node ? node : caller, false);
  }
  if (has_node) {
    ++g_call_nodes[node].count;
  }
  EndEvent(kBuiltinEvent, caller, node);
  CheckLimits();
}

void EnterLine(const PyHandle* code, uint32_t line) {
  const uint16_t from = Advance(kLineEvent);
  if (g_unit.beyond == 0 && g_unit.depth != 0) {
    OpenCall& top = g_stack[g_unit.depth - 1];
    if (top.is_hot && top.key == code) {
      bool fresh = false;
      const uint16_t node = ChildNode(top.node, wire::kCallLine, code, line, &fresh);
      if (fresh) {
        g_call_nodes[node].code = g_call_nodes[top.node].code;
        g_unit.api.retain(g_call_nodes[node].code);
      }
      top.line = node;
      if (node != wire::kNoNode) {
        ++g_call_nodes[node].count;
      }
    }
  }
  EndEvent(kLineEvent, from, Current());
  CheckLimits();
}

// Whether a unit is being followed on this thread.
bool IsOwner() {
  return g_unit.is_following && pthread_equal(g_unit.owner, pthread_self()) != 0;
}

// PyTrace_*
enum {
  kTraceCall,
  kTraceException,
  kTraceLine,
  kTraceReturn,
  kTraceCCall,
  kTraceCException,
  kTraceCReturn
};

int OnProfile(PyHandle* /*object*/, PyHandle* frame, int what, PyHandle* callable) {
  if (!IsOwner()) {
    g_unit.api.set_profile(nullptr, nullptr);
    return 0;
  }
  if (what == kTraceCall || what == kTraceReturn) {
    PyHandle* code = g_unit.api.frame_code(frame);
    if (what == kTraceCall) {
      EnterFunction(code);
    } else {
      Leave(code, wire::kCallFunction, kFunctionEvent);
    }
    g_unit.api.release(code);
  } else if (what == kTraceCCall && callable != nullptr) {
    g_unit.saw_end = IsStopMethod(callable);
    EnterBuiltin(callable);
  } else if ((what == kTraceCReturn || what == kTraceCException) && callable != nullptr) {
    g_unit.saw_end = false;
    Leave(KeyOfBuiltin(callable), wire::kCallBuiltin, kBuiltinEvent);
  }
  return 0;
}

int OnTrace(PyHandle* /*object*/, PyHandle* frame, int what, PyHandle* /*argument*/) {
  if (!IsOwner()) {
    g_unit.api.set_trace(nullptr, nullptr);
    return 0;
  }
  if (what == kTraceLine) {
    PyHandle* code = g_unit.api.frame_code(frame);
    const bool hot = IsHot(code);
    EnterLine(code, hot ? static_cast<uint32_t>(g_unit.api.frame_line(frame)) : 0);
    g_unit.api.release(code);
  }
  return 0;
}

}  // namespace

bool BeginUnit(const CallApi& api, const UnitStart& start, PyHandle* const* hot, intptr_t count) {
  if (g_unit.is_open) {
    return false;
  }
  g_unit = FollowedUnit{};
  ClearNodes();
  g_unit.api = api;
  g_unit.start = start;
  g_unit.owner = pthread_self();
  g_unit.is_open = true;
  if (!start.monitoring) {
    g_unit.flags |= wire::kUnitSlowed;
  }
  if (start.stage == wire::kStep) {
    g_unit.flags |= wire::kUnitNested;
  }
  if (start.chosen) {
    g_unit.flags |= wire::kUnitChosen;
  }
  for (intptr_t i = 0; i < count && g_unit.hot_count < kMostHot; ++i) {
    api.retain(hot[i]);
    g_unit.hot[g_unit.hot_count++] = hot[i];
  }
  if (g_unit.hot_count != 0) {
    g_unit.flags |= wire::kUnitLines;
  }
  if (start.give_way != nullptr) {
    api.retain(start.give_way);
  }
  g_unit.began = g_unit.last = Now();
  g_unit.is_following = true;
  if (!start.monitoring) {
    if (g_unit.hot_count != 0) {
      api.set_trace(OnTrace, nullptr);
    }
    api.set_profile(OnProfile, nullptr);
  }
  return true;
}

UnitEnd StopUnit(bool displaced) {
  if (!g_unit.is_open) {
    return {};
  }
  const uint64_t now = Now();
  if (g_unit.is_following) {
    // The call of follow_stop() has caused an event, unless another profile function has replaced
    // ours.
    const bool gone = displaced || (!g_unit.start.monitoring && !g_unit.saw_end);
    g_unit.is_following = false;
    g_unit.ended = now;
    const uint16_t node = Current();
    (node == wire::kNoNode ? g_unit.top_own : g_call_nodes[node].own) += now - g_unit.last;
    if (gone) {
      g_unit.state = kUnitDisplaced;
    } else if (!g_unit.start.monitoring) {
      g_unit.api.set_profile(nullptr, nullptr);
    }
  } else if (g_unit.ended == 0) {
    g_unit.ended = now;
  }
  if (displaced) {
    g_unit.state = kUnitDisplaced;
  }
  UnitEnd end{};
  end.duration = g_unit.ended - g_unit.began;
  end.functions = g_unit.events[kFunctionEvent];
  end.builtins = g_unit.events[kBuiltinEvent];
  end.lines = g_unit.events[kLineEvent];
  end.interpreted = g_unit.interpreted;
  AddUpCodes();
  end.codes = g_unit.codes;
  end.state = g_unit.state;
  return end;
}

bool FollowedSince(uint64_t start) {
  return g_unit.began >= start && pthread_equal(g_unit.owner, pthread_self()) != 0;
}

void ForgetUnit() {
  if (!g_unit.is_open) {
    return;
  }
  if (g_unit.is_following) {
    g_unit.state = kUnitDisplaced;
    SwitchOff();
  }
  FinishUnit(false, EventCosts{});
}

void OnFunction(PyHandle* code) {
  if (IsOwner()) {
    EnterFunction(code);
  }
}

void OnReturn(PyHandle* code) {
  if (IsOwner()) {
    Leave(code, wire::kCallFunction, kFunctionEvent);
  }
}

void OnBuiltin(PyHandle* callable) {
  if (!IsOwner()) {
    return;
  }
  callable = FunctionOf(callable);
  if (TypeOf(callable) == g_unit.api.function_type) {
    return;  // PY_START reports it
  }
  EnterBuiltin(callable);
}

void OnBuiltinReturn(PyHandle* callable) {
  if (!IsOwner()) {
    return;
  }
  callable = FunctionOf(callable);
  if (TypeOf(callable) != g_unit.api.function_type) {
    Leave(KeyOfBuiltin(callable), wire::kCallBuiltin, kBuiltinEvent);
  }
}

void OnLine(PyHandle* code, uint32_t line) {
  if (IsOwner()) {
    EnterLine(code, line);
  }
}

}  // namespace penstock::agent
