// SPDX-License-Identifier: Apache-2.0
//
// Follows the Python calls of one sample, collated batch or step (a unit): builds its call tree and
// writes the tree to the recording. A process follows one unit at a time, on one thread. All
// functions are called with the GIL held. Callables are read from memory, and only code objects and
// functions of Cython are asked for attributes, so no code of the program runs.
#pragma once

#include <stdint.h>

#include "agent/core/thread_state.h"

namespace penstock::agent {

using PyHandle = void;  // PyObject

// Functions and types of the interpreter, found by name. If one is missing, nothing is followed.
struct CallApi {
  // These four are used before Python 3.12 to get events. From 3.12 on sys.monitoring reports the
  // events.
  void (*set_profile)(int (*)(PyHandle*, PyHandle*, int, PyHandle*), PyHandle*);
  void (*set_trace)(int (*)(PyHandle*, PyHandle*, int, PyHandle*), PyHandle*);
  PyHandle* (*frame_code)(PyHandle*);
  int (*frame_line)(PyHandle*);
  // For every version.
  PyHandle* (*call)(PyHandle*);
  PyHandle* (*attribute)(PyHandle*, const char*);
  long long (*as_long)(PyHandle*);
  const char* (*as_text)(PyHandle*, intptr_t*);
  void (*clear_error)();
  void (*retain)(PyHandle*);
  void (*release)(PyHandle*);
  PyHandle* function_type;
  PyHandle* method_type;
  PyHandle* builtin_type;
  PyHandle* builtin_method_type;  // of bound methods of C that get their defining class
                                  // (METH_METHOD)
  PyHandle* descriptor_type;
  PyHandle* type_type;
  // Our own functions that Python calls; `stop_method` ends a unit.
  const void* own_methods;
  const void* own_methods_end;
  const void* stop_method;
};

// What following one event of each kind costs the program, in 256ths of a tick.
struct EventCosts {
  uint64_t function;
  uint64_t builtin;
  uint64_t line;
  uint8_t spread;  // by how many percent these costs may be wrong
};

struct UnitStart {
  Stage stage;
  uint32_t name;
  Context context;
  uint64_t ordinary;     // ticks that such a unit takes if not followed: median of its neighbours
  uint32_t neighbours;   // ordinary units from which that median comes
  uint32_t most_events;  // following ends after so many events
  uint64_t most_ticks;   // and after so many ticks outside of builtins
  bool monitoring;       // sys.monitoring reports the events
  bool chosen;           // the unit was not drawn: its sample was slow before
  PyHandle* give_way;    // called to switch sys.monitoring off; nullptr: not used
};

// Figures of a unit that has ended.
struct UnitEnd {
  uint64_t duration;
  uint64_t functions;  // events
  uint64_t builtins;
  uint64_t lines;
  uint64_t interpreted;  // ticks outside of builtins
  uint64_t codes;        // code objects that were met
  uint64_t state;        // UnitState
};
enum UnitState : uint64_t { kUnitWhole = 0, kUnitWasCut = 1, kUnitDisplaced = 2 };

// Begins a unit on this thread. False if one is under way. `hot`: code objects whose lines are
// followed, `count` of them.
bool BeginUnit(const CallApi& api, const UnitStart& start, PyHandle* const* hot, intptr_t count);
// Ends the unit. `displaced`: a tool of the program has taken over, so the unit is not written.
UnitEnd StopUnit(bool displaced);
// Returns the code object of the function with the n-th most time (from 0), a borrowed reference;
// nullptr if there is none. The time includes builtins and library functions that it called.
PyHandle* HottestCode(uint32_t n);
// Writes the unit if `write`, then forgets it. Returns the ticks that following cost.
uint64_t FinishUnit(bool write, const EventCosts& costs);
// Whether this thread has begun a unit since `start`, in ticks.
bool FollowedSince(uint64_t start);
// Ends the unit, if there is one, and forgets it. To be called in a forked child, where the unit is
// the parent's, and when beginning a unit has failed.
void ForgetUnit();

// Events of sys.monitoring, from any thread. Events of other threads than the unit's are ignored.
void OnFunction(PyHandle* code);
void OnReturn(PyHandle* code);
void OnBuiltin(PyHandle* callable);
void OnBuiltinReturn(PyHandle* callable);
void OnLine(PyHandle* code, uint32_t line);

}  // namespace penstock::agent
