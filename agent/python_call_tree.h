// SPDX-License-Identifier: Apache-2.0
//
// The call tree of the followed unit: events build it (python_calls.cc), and the nodes with enough
// time are written (python_call_tree.cc). A process has one, guarded by the GIL. Only the
// python_call*.cc sources include this header.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "agent/python_calls.h"
#include "traces/wire.h"

namespace penstock::agent {

inline constexpr uint32_t kMostNodes = wire::kMaxUnitNodes;
inline constexpr uint32_t kMostDepth = 512;
inline constexpr uint32_t kSlots = 2048;  // of the table of nodes, a power of two
inline constexpr uint32_t kMostHot = 8;

// Whose code a function is. Our hooks run in every unit, followed or not. So they get no node in
// the recording, and their time counts as their caller's.
enum class CodeOwner : uint8_t { kProgram, kLibrary, kHooks };

struct CallNode {
  PyHandle* code;  // of a function or line, a reference of ours; nullptr for a builtin
  const void* key;
  uint64_t own;    // ticks outside of other nodes
  uint64_t total;  // ticks, with the nodes below
  uint64_t cost;   // ticks subtracted from `total`
  uint64_t count;
  uint64_t name;  // string id of a builtin
  uint32_t line;
  uint32_t function_halves;  // half events that lie in the node's own time
  uint32_t builtin_halves;
  uint32_t line_halves;
  uint16_t parent;
  uint16_t written;  // its number in the recording
  uint8_t kind;
  CodeOwner owner;  // of a function
  uint8_t events;   // how many of its events were measured, see EndEvent()
};

struct OpenCall {
  const void* key;
  uint16_t node;  // its own node, or its caller's if it has none
  uint16_t line;  // node of its current line, or kNoNode
  uint8_t kind;
  bool is_hot;
};

enum EventKind { kFunctionEvent, kBuiltinEvent, kLineEvent };

struct FollowedUnit {
  CallApi api;
  UnitStart start;
  pthread_t owner;
  uint64_t began;  // ticks
  uint64_t last;
  uint64_t ended;
  uint64_t events[3];
  uint64_t top_own;      // outside of all nodes
  uint64_t interpreted;  // ticks outside of builtins; includes `measured`
  uint64_t counted;      // the part of `interpreted` that counts towards `most_ticks`
  uint64_t measured;     // ticks of events' costs that were measured; they are in no node's own
                         // time
  uint32_t top_halves[3];
  uint32_t nodes;
  uint32_t depth;
  uint32_t beyond;  // open calls that did not fit on the stack
  uint32_t hot_count;
  uint32_t codes;
  PyHandle* hot[kMostHot];  // code objects whose lines are followed, references of ours
  bool is_following;
  bool is_open;  // between BeginUnit() and FinishUnit()
  bool saw_end;  // the newest call of a builtin was that of `stop_method`
  uint8_t flags;
  uint64_t state;
};

extern FollowedUnit g_unit;
extern CallNode g_call_nodes[kMostNodes];

// Returns the node for `key` below `parent`; kNoNode if there is no room. `fresh`: whether it is
// new.
uint16_t ChildNode(uint16_t parent, uint8_t kind, const void* key, uint32_t line, bool* fresh);
void ClearNodes();
// For HottestCode(): sets `total` of the first node of each function to the time of all its calls,
// with the builtins and library functions that they called. FinishUnit() computes `total` anew.
void AddUpCodes();

// These functions read objects of the interpreter from memory (python_call_names.cc).
inline PyHandle* TypeOf(const PyHandle* object) {
  PyHandle* type;
  __builtin_memcpy(&type, static_cast<const char*>(object) + 8, sizeof type);
  return type;
}
// The function that a bound method calls; any other callable itself.
PyHandle* FunctionOf(PyHandle* callable);
// Id of a name such as "numpy.random.mtrand.RandomState.choice", "len" or "torch.conv2d".
uint64_t NameOfBuiltin(const PyHandle* callable);
// Returns a key for a callable that is no Python function. The interpreter makes a new object each
// time that it binds a method of C, so the key is the address of the method's definition. Types and
// ufuncs are their own keys. The key of any other object is its type.
const void* KeyOfBuiltin(const PyHandle* callable);
// Whether the callable installs a debugger, tracer or profiler, or asks for the installed one. Such
// a tool must not see us.
bool IsTool(const PyHandle* callable);
// Whether this is the key of one of our own builtins.
bool IsOwnMethod(const void* key);
// Whether the callable is the builtin that ends a unit.
bool IsStopMethod(const PyHandle* callable);
CodeOwner OwnerOf(PyHandle* code);

}  // namespace penstock::agent
