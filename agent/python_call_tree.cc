// SPDX-License-Identifier: Apache-2.0
#include "agent/python_call_tree.h"

#include <string.h>

#include <initializer_list>

namespace penstock::agent {

FollowedUnit g_unit;
CallNode g_call_nodes[kMostNodes];

namespace {

// A node with less than a 1000th of the unit's time is not written; its parent gets its time.
constexpr uint32_t kSmallPart = 1000;

uint16_t g_table[kSlots];  // node + 1; 0: free

uint32_t SlotOf(uint16_t parent, const void* key, uint32_t line) {
  uint64_t mix =
      reinterpret_cast<uint64_t>(key) ^ uint64_t { parent } << 48 ^ uint64_t { line } << 20;
  mix *= 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mix >> 40) & (kSlots - 1);
}

bool IsOwnNode(const CallNode& n) {
  return n.kind == wire::kCallFunction && n.owner == CodeOwner::kHooks;
}

// Returns the ticks that `halves` half events cost: function, builtin and line events.
uint64_t CostOf(const uint32_t (&halves)[3], const EventCosts& costs) {
  return (halves[0] * costs.function + halves[1] * costs.builtin + halves[2] * costs.line) >> 9;
}

// Subtracts the cost of each event from the node in whose time it lies, and computes the nodes'
// totals anew. Returns the cost of all events.
uint64_t SubtractCosts(const EventCosts& costs) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < g_unit.nodes; ++i) {
    g_call_nodes[i].total = 0;
  }
  for (uint32_t i = g_unit.nodes; i-- > 0;) {
    CallNode& n = g_call_nodes[i];
    const uint64_t cost = CostOf({n.function_halves, n.builtin_halves, n.line_halves}, costs);
    const uint64_t subtracted = cost < n.own ? cost : n.own;
    n.own -= subtracted;
    n.total += n.own;
    n.cost += subtracted;
    all += subtracted;
    if (n.parent != wire::kNoNode) {
      g_call_nodes[n.parent].total += n.total;
      g_call_nodes[n.parent].cost += n.cost;
    }
  }
  const uint64_t top = CostOf(g_unit.top_halves, costs);
  return all + (top < g_unit.top_own ? top : g_unit.top_own) + g_unit.measured;
}

// How the recording identifies a node: the function or builtin, and where its code is.
struct Place {
  uint64_t file;  // string id; 0: no file
  uint32_t name;
  uint32_t line;
};

// Returns the string id of an attribute; 0 if there is none, or if it is no text or too long.
uint64_t InternAttribute(PyHandle* code, const char* attribute) {
  PyHandle* value = g_unit.api.attribute(code, attribute);
  uint64_t id = 0;
  if (value != nullptr) {
    intptr_t size = 0;
    const char* text = g_unit.api.as_text(value, &size);
    if (text != nullptr && size > 0 && size < 4096) {
      id = Intern(text, static_cast<size_t>(size));
    }
    g_unit.api.release(value);
  }
  if (id == 0) {
    g_unit.api.clear_error();
  }
  return id;
}

// Returns the name of a function before Python 3.11, whose code objects have no qualified names. A
// comprehension ("<listcomp>") gets its caller's name, too, if the caller is in the same file:
// "f.<locals>.<listcomp>".
uint64_t NameWithCaller(const CallNode& n, uint64_t file) {
  constexpr size_t kMost = 256;
  const uint64_t own = InternAttribute(n.code, "co_name");
  PyHandle* name = g_unit.api.attribute(n.code, "co_name");
  PyHandle* above = nullptr;
  for (uint16_t at = n.parent; at != wire::kNoNode && above == nullptr;) {
    const CallNode& caller = g_call_nodes[at];
    if (caller.kind == wire::kCallFunction && caller.code != n.code) {
      if (InternAttribute(caller.code, "co_filename") != file) break;
      above = g_unit.api.attribute(caller.code, "co_name");
    }
    at = caller.parent;
  }
  intptr_t size = 0;
  intptr_t above_size = 0;
  const char* text = name != nullptr ? g_unit.api.as_text(name, &size) : nullptr;
  const char* in = above != nullptr ? g_unit.api.as_text(above, &above_size) : nullptr;
  uint64_t id = own;
  static constexpr char kLocals[] = ".<locals>.";
  const size_t all = static_cast<size_t>(size + above_size) + sizeof kLocals;
  const bool comprehension = text != nullptr && strstr(text, "comp>") != nullptr;
  if (comprehension && in != nullptr && all < kMost) {
    char whole[kMost];
    char* end = static_cast<char*>(mempcpy(whole, in, static_cast<size_t>(above_size)));
    end = static_cast<char*>(mempcpy(end, kLocals, sizeof kLocals - 1));
    end = static_cast<char*>(mempcpy(end, text, static_cast<size_t>(size)));
    id = Intern(whole, static_cast<size_t>(end - whole));
  }
  for (PyHandle* object : {name, above}) {
    if (object != nullptr) g_unit.api.release(object);
  }
  g_unit.api.clear_error();
  return id;
}

Place PlaceOf(const CallNode& n) {
  Place place{0, static_cast<uint32_t>(n.name), n.line};
  if (n.code == nullptr) {
    return place;
  }
  place.file = InternAttribute(n.code, "co_filename");
  uint64_t name = InternAttribute(n.code, "co_qualname");  // Python 3.11 and later
  if (name == 0) {
    name = NameWithCaller(n, place.file);
  }
  place.name = static_cast<uint32_t>(name);
  if (n.kind == wire::kCallFunction) {
    PyHandle* line = g_unit.api.attribute(n.code, "co_firstlineno");
    if (line != nullptr) {
      place.line = static_cast<uint32_t>(g_unit.api.as_long(line));
      g_unit.api.release(line);
    }
    g_unit.api.clear_error();
  }
  return place;
}

// Numbers the nodes that will be written and returns their count. Nodes of our own hooks are left
// out. All nodes above a written node are written too, since their totals contain its total.
uint16_t ChooseNodes(uint64_t duration) {
  const uint64_t least = duration / kSmallPart;
  uint16_t count = 0;
  for (uint32_t i = 0; i < g_unit.nodes; ++i) {
    CallNode& n = g_call_nodes[i];
    n.written = !IsOwnNode(n) && n.total >= least ? count++ : wire::kNoNode;
  }
  return count;
}

bool IsWritten(const CallNode& n) {
  return n.written != wire::kNoNode;
}

// Returns the nearest node above `n` that is written; kNoNode stands for the unit.
uint16_t WrittenAbove(const CallNode& n) {
  uint16_t at = n.parent;
  while (at != wire::kNoNode && !IsWritten(g_call_nodes[at])) {
    at = g_call_nodes[at].parent;
  }
  return at;
}

// Writes the unit and its nodes. The time of nodes that are not written goes to the nodes above.
void WriteUnit(uint64_t cost, const EventCosts& costs) {
  const uint64_t duration = g_unit.ended - g_unit.began;
  const uint16_t count = ChooseNodes(duration);
  for (uint32_t i = g_unit.nodes; i-- > 0;) {
    CallNode& n = g_call_nodes[i];
    const uint16_t above = WrittenAbove(n);
    if (!IsWritten(n) && above != wire::kNoNode) {
      g_call_nodes[above].own += n.own;
    }
  }
  const uint64_t events = g_unit.events[0] + g_unit.events[1] + g_unit.events[2];
  const uint32_t neighbours = g_unit.start.neighbours < 0xffff ? g_unit.start.neighbours : 0xffff;
  EmitFollowed(wire::kKindUnit, costs.spread, g_unit.start.context,
               {.stage = g_unit.start.stage,
                .flags = g_unit.flags,
                .name = g_unit.start.name,
                .start = g_unit.began,
                .duration = duration,
                .work = cost,
                .bytes = g_unit.start.ordinary,
                .object = wire::UnitCounts(
                    static_cast<uint32_t>(events < 0xffffffffu ? events : 0xffffffffu), count,
                    static_cast<uint16_t>(neighbours))});
  for (uint32_t i = 0; i < g_unit.nodes; ++i) {
    const CallNode& n = g_call_nodes[i];
    if (!IsWritten(n)) {
      continue;
    }
    const Place place = PlaceOf(n);
    const uint16_t above = WrittenAbove(n);
    Context context;
    context.sample = wire::CallPlace(
        place.line, static_cast<uint32_t>(n.cost < 0xffffffffu ? n.cost : 0xffffffffu));
    context.batch = wire::CallNumbers(
        n.written, above != wire::kNoNode ? g_call_nodes[above].written : wire::kNoNode);
    EmitFollowed(wire::kKindCall, 0, context,
                 {.stage = static_cast<Stage>(n.kind),
                  .name = place.name,
                  .start = g_unit.began,
                  .duration = n.total,
                  .work = n.own,
                  .bytes = n.count,
                  .object = place.file});
  }
}

}  // namespace

uint16_t ChildNode(uint16_t parent, uint8_t kind, const void* key, uint32_t line, bool* fresh) {
  *fresh = false;
  for (uint32_t slot = SlotOf(parent, key, line);; slot = (slot + 1) & (kSlots - 1)) {
    if (g_table[slot] == 0) {
      if (g_unit.nodes == kMostNodes) {
        g_unit.flags |= wire::kUnitFull;
        return wire::kNoNode;
      }
      const auto node = static_cast<uint16_t>(g_unit.nodes++);
      g_table[slot] = static_cast<uint16_t>(node + 1);
      g_call_nodes[node] = CallNode{};
      g_call_nodes[node].key = key;
      g_call_nodes[node].line = line;
      g_call_nodes[node].parent = parent;
      g_call_nodes[node].kind = kind;
      *fresh = true;
      return node;
    }
    const auto node = static_cast<uint16_t>(g_table[slot] - 1);
    const CallNode& n = g_call_nodes[node];
    if (n.key == key && n.parent == parent && n.line == line && n.kind == kind) {
      return node;
    }
  }
}

void ClearNodes() {
  memset(g_table, 0, sizeof g_table);
}

namespace {

// Returns the function to which the own time of a node is added. It is the nearest function of the
// program, among the node and the nodes above it. If there is none, it is the nearest function of a
// library. nullptr if there are only functions of our hooks, or none.
const CallNode* ChargedTo(const CallNode& node) {
  const CallNode* found = nullptr;
  for (const CallNode* at = &node;; at = &g_call_nodes[at->parent]) {
    if (at->kind == wire::kCallFunction && at->owner == CodeOwner::kProgram) {
      return at;
    }
    if (found == nullptr && at->kind == wire::kCallFunction && !IsOwnNode(*at)) {
      found = at;
    }
    if (at->parent == wire::kNoNode) {
      return found;
    }
  }
}

}  // namespace

void AddUpCodes() {
  for (uint32_t i = 0; i < g_unit.nodes; ++i) {
    const CallNode& node = g_call_nodes[i];
    const CallNode* charged = IsOwnNode(node) ? nullptr : ChargedTo(node);
    if (charged == nullptr) {
      continue;
    }
    for (uint32_t k = 0; k <= i; ++k) {
      if (g_call_nodes[k].code == charged->code && g_call_nodes[k].kind == wire::kCallFunction) {
        g_call_nodes[k].total += node.own;
        break;
      }
    }
  }
}

PyHandle* HottestCode(uint32_t n) {
  uint64_t limit = ~uint64_t{0};
  const CallNode* found = nullptr;
  for (uint32_t rank = 0; rank <= n; ++rank) {
    found = nullptr;
    for (uint32_t i = 0; i < g_unit.nodes; ++i) {
      const CallNode& node = g_call_nodes[i];
      if (node.total < limit && node.total > (found != nullptr ? found->total : 0)) {
        found = &node;
      }
    }
    if (found == nullptr) {
      return nullptr;
    }
    limit = found->total;
  }
  return found->code;
}

uint64_t FinishUnit(bool write, const EventCosts& costs) {
  if (!g_unit.is_open || g_unit.is_following) {
    return 0;
  }
  const uint64_t cost = SubtractCosts(costs);
  if (write && g_unit.state != kUnitDisplaced && Recording()) {
    WriteUnit(cost, costs);
  }
  for (uint32_t i = 0; i < g_unit.nodes; ++i) {
    if (g_call_nodes[i].code != nullptr) {
      g_unit.api.release(g_call_nodes[i].code);
    }
  }
  for (uint32_t i = 0; i < g_unit.hot_count; ++i) {
    g_unit.api.release(g_unit.hot[i]);
  }
  if (g_unit.start.give_way != nullptr) {
    g_unit.api.release(g_unit.start.give_way);
  }
  g_unit.is_open = false;
  return cost;
}

}  // namespace penstock::agent
