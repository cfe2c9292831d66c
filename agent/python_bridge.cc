// SPDX-License-Identifier: Apache-2.0
//
// The interface for the Python hooks: builtin functions made at run time by the interpreter that is
// in the process. Threads: all are called with the GIL held. The functions in this file act on the
// calling thread, or on the state of the process.

#include "agent/core/probe.h"
#include "agent/core/process.h"
#include "agent/core/text.h"
#include "agent/core/thread_state.h"
#include "agent/hooks/hook.h"
#include "agent/python_api.h"
#include "agent/python_follow.h"
#include "agent/python_slow_samples.h"
#include "agent/python_stalls.h"
#include "agent/system/scratch.h"

namespace penstock::agent {
namespace {

// Packs a token into one number, with the depth in the low byte.
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
    EnsureProcess(&token);  // sets the recording's clock
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
    if (Number(a, n, 2, 0) == 0) {
      NoteSlowSample(token);
    }
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
    const auto type = static_cast<uint8_t>(Number(a, n, 0, 0));
    const int64_t value =
        type == wire::kNextEntered ? static_cast<int64_t>(ProcessCpu()) : Number(a, n, 3, 0);
    EmitEvent(type, ContextOf(wire::kNoSample, Number(a, n, 1), Number(a, n, 2, 0)), value);
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
              ContextOf(wire::kNoSample, Number(a, n, 0), Number(a, n, 1, 0)),
              static_cast<int64_t>(ProcessCpu()));
    CountBatch();
    NoteFirstBatch();
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

ProbedPart PartOf(Arguments a, Count n) {
  return static_cast<ProbedPart>(Number(a, n, 0, 0) & 3);
}

Object* IsProbing(Object* /*self*/, Arguments, Count) {
  uint64_t token;
  Object* answer = Recording() && EnsureProcess(&token) && Probes() ? g_python.yes : g_python.no;
  g_python.retain(answer);
  return answer;
}

Object* StopProbing(Object* /*self*/, Arguments, Count) {
  NeverProbe();
  return None();
}

Object* ProbeBegin(Object* /*self*/, Arguments a, Count n) {
  BeginProbed(PartOf(a, n));
  return None();
}

Object* ProbeEnd(Object* /*self*/, Arguments a, Count n) {
  return g_python.from_long(static_cast<long long>(EndProbed(PartOf(a, n))));
}

Object* ProbeRest(Object* /*self*/, Arguments, Count) {
  return g_python.from_long(static_cast<long long>(ProbedRest()));
}

// Computes without the GIL, since the delay must keep a core busy but not block the interpreter.
Object* ProbeCompute(Object* /*self*/, Arguments a, Count n) {
  const int64_t wanted = Number(a, n, 0, 0);
  void* thread = g_python.save_thread();
  const uint64_t done = Compute(wanted > 0 ? static_cast<uint64_t>(wanted) : 0);
  g_python.restore_thread(thread);
  return g_python.from_long(static_cast<long long>(done));
}

MethodDef g_methods[] = {
    {"recording", IsRecording, kFastCall, "recording() -> bool"},
    {"now", NowTicks, kFastCall, "now() -> ticks"},
    {"intern", InternName, kFastCall, "intern(text) -> name id"},
    {"begin", BeginSpan, kFastCall, "begin(stage, name[, sample, batch, generation]) -> token"},
    {"end", EndSpan, kFastCall, "end(token[, bytes, 1: the sample is no index])"},
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
    {"probing", IsProbing, kFastCall, "probing() -> bool"},
    {"probe_stop", StopProbing, kFastCall, "probe_stop()"},
    {"probe_begin", ProbeBegin, kFastCall, "probe_begin(part)"},
    {"probe_end", ProbeEnd, kFastCall, "probe_end(part) -> ns to compute"},
    {"probe_rest", ProbeRest, kFastCall, "probe_rest() -> ns to wait"},
    {"probe_compute", ProbeCompute, kFastCall, "probe_compute(ns) -> ns"},
    {"follow_begin", FollowBegin, kFastCall,
     "follow_begin(stage, name, sample, batch, generation, ordinary, neighbours, most_events, "
     "most_ticks, flags (1: sys.monitoring, 2: chosen), give_way, *hot) -> 1 if it follows"},
    {"follow_stop", FollowStop, kFastCall, "follow_stop(displaced) -> state"},
    {"follow_fact", FollowFact, kFastCall, "follow_fact(i) -> int"},
    {"follow_hot", FollowHot, kFastCall, "follow_hot(i) -> code or None"},
    {"follow_finish", FollowFinish, kFastCall,
     "follow_finish(write, function, builtin, line, spread) -> ticks it cost"},
    {"follow_forget", FollowForget, kFastCall, "follow_forget()"},
    {"slow_share", SlowShare, kFastCall, "slow_share()"},
    {"slow_above", SlowAbove, kFastCall, "slow_above(ticks)"},
    {"slow_count", SlowCount, kFastCall, "slow_count() -> int"},
    {"slow_sample", SlowSample, kFastCall, "slow_sample(i) -> index"},
    {"stall_watch", StallWatch, kFastCall, "stall_watch(): watches the calling thread"},
    {"stall_leave", StallLeave, kFastCall, "stall_leave()"},
    {"stall_stop", StallStop, kFastCall, "stall_stop(1: for good, 0: to fork)"},
    {"stall_forked", StallForked, kFastCall, "stall_forked(), after stall_stop(0)"},
    {"on_function", MonitorFunction, kFastCall, "of sys.monitoring: PY_START, PY_RESUME, PY_THROW"},
    {"on_return", MonitorReturn, kFastCall, "PY_RETURN, PY_YIELD, PY_UNWIND"},
    {"on_builtin", MonitorBuiltin, kFastCall, "CALL"},
    {"on_builtin_return", MonitorBuiltinReturn, kFastCall, "C_RETURN, C_RAISE"},
    {"on_line", MonitorLine, kFastCall, "LINE"},
};

}  // namespace
}  // namespace penstock::agent

// Returns a new reference to a dict of the builtins. If the interpreter lacks a function that they
// need, returns None, or nullptr if None itself was not found. For bridge.py both mean an unknown
// Python. Called through ctypes.PyDLL, so the GIL is held.
PENSTOCK_EXPORT void* penstock_python_bridge() {
  using namespace penstock::agent;
  if (!LoadPython()) {
    if (g_python.none != nullptr && g_python.retain != nullptr) {
      return None();
    }
    return nullptr;
  }
  NoteBuiltins(g_methods, sizeof g_methods / sizeof g_methods[0]);
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
