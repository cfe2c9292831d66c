// SPDX-License-Identifier: Apache-2.0
//
// The call tree of the unit that is followed: what its events build up (python_calls.cc) and what
// is written of it (python_call_tree.cc). One in a process, under the GIL. Not for others.
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

struct CallNode {
  PyHandle* code;  // of a function or line, held; nullptr of a builtin
  const void* key;
  uint64_t own;  // ticks, as measured
  uint64_t total;
  uint64_t cost;
  uint64_t count;
  uint64_t name;  // string id of a builtin
  uint32_t line;
  uint32_t function_halves;  // half events that lie in its own time
  uint32_t builtin_halves;
  uint32_t line_halves;
  uint16_t parent;
  uint16_t written;  // its number in the recording
  uint8_t kind;
};

struct OpenCall {
  const void* key;
  uint16_t node;  // where its time goes: a node of its own, or its caller's
  uint16_t line;  // node of the line that it is at, or kNoNode
  uint8_t kind;
  bool is_hot;
  bool has_node;
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
  uint64_t interpreted;  // outside of builtins
  uint64_t counted;      // of that, against `most_ticks`
  uint32_t top_halves[3];
  uint32_t nodes;
  uint32_t depth;
  uint32_t beyond;  // calls deeper than the stack
  uint32_t hot_count;
  uint32_t codes;
  PyHandle* hot[kMostHot];  // held
  bool is_following;
  bool is_open;  // between BeginUnit() and FinishUnit()
  bool saw_end;
  uint8_t flags;
  uint64_t state;
};

extern FollowedUnit g_unit;
extern CallNode g_call_nodes[kMostNodes];

// The node for `key` below `parent`; kNoNode: there is no room. `fresh` says whether it is new.
uint16_t ChildNode(uint16_t parent, uint8_t kind, const void* key, uint32_t line, bool* fresh);
void ClearNodes();
// Until the unit is finished `total` of the first node of a function is the time of its own that
// all nodes of the function have: what HottestCode() goes by.
void AddUpCodes();

// Objects of the interpreter, as they lie in memory (python_call_names.cc).
inline PyHandle* TypeOf(const PyHandle* object) {
  PyHandle* type;
  __builtin_memcpy(&type, static_cast<const char*>(object) + 8, sizeof type);
  return type;
}
// "numpy.random.mtrand.RandomState.choice", "len", "torch.conv2d": id of the name.
uint64_t NameOfBuiltin(const PyHandle* callable);
// What identifies a callable of C beyond the life of one bound method: where it is defined.
const void* KeyOfBuiltin(const PyHandle* callable);
// Tools come by these. They are to see the process as it is without us.
bool IsTool(const PyHandle* callable);
bool IsOwnMethod(const void* key);
bool IsStopMethod(const PyHandle* callable);
// Our own hooks run inside ordinary units too: their time is their caller's.
bool IsOwnCode(PyHandle* code);

}  // namespace penstock::agent
