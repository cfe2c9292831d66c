// SPDX-License-Identifier: Apache-2.0
#include "traces/call_trees.h"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::traces {
namespace {

using UnitKey = std::pair<std::int64_t, std::uint32_t>;  // start, thread

template <class Row>
UnitKey KeyOfRow(const Row& row) {
  return {row.at.value, row.thread.value};
}

// Appends the rows of one unit to its tree, in the order of their nodes. Returns how many do not
// fit.
std::uint64_t FillTree(std::vector<const CallRow*>& rows, CallTree& tree) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CallRow* a, const CallRow* b) { return a->node < b->node; });
  std::map<std::uint16_t, std::uint32_t> places;  // number in the file -> index of the node
  std::uint64_t lost = 0;
  for (const CallRow* row : rows) {
    const auto parent = places.find(row->parent);
    const bool is_top = row->parent == wire::kNoNode;
    if (places.count(row->node) != 0 || (!is_top && parent == places.end())) {
      ++lost;
      continue;
    }
    places.emplace(row->node, static_cast<std::uint32_t>(tree.nodes.size()));
    tree.nodes.push_back({.total = row->total,
                          .own = row->own,
                          .cost = row->cost,
                          .count = row->count,
                          .name = row->name,
                          .file = row->file,
                          .line = row->line,
                          .parent = is_top ? kNoCall : parent->second,
                          .kind = row->kind});
  }
  tree.complete = lost == 0 && tree.nodes.size() == tree.unit.nodes;
  return lost;
}

TimeNs OutermostTotal(const CallTree& tree) {
  TimeNs sum;
  for (const CallNode& node : tree.nodes) {
    if (node.parent == kNoCall) sum += node.total;
  }
  return sum;
}

}  // namespace

TimeNs CallTree::total() const {
  return std::max(unit.duration - unit.cost, OutermostTotal(*this));
}

TimeNs CallTree::own() const {
  return total() - OutermostTotal(*this);
}

CallTrees ReadCallTrees(const Trace& trace) {
  CallTrees out;
  std::map<UnitKey, std::vector<const CallRow*>> rows;
  for (const CallRow& row : trace.call_rows()) rows[KeyOfRow(row)].push_back(&row);
  std::vector<const CallRow*> none;
  UnitKey before{};
  for (const UnitRow& unit : trace.unit_rows()) {  // ascending start
    const UnitKey key = KeyOfRow(unit);
    if (!out.trees.empty() && key == before) {
      ++out.lost_rows;
      continue;
    }
    before = key;
    CallTree& tree = out.trees.emplace_back();
    tree.unit = unit;
    const auto found = rows.find(key);
    out.lost_rows += FillTree(found != rows.end() ? found->second : none, tree);
    if (found != rows.end()) rows.erase(found);
  }
  for (const auto& [key, left] : rows) out.lost_rows += left.size();
  return out;
}

}  // namespace penstock::traces
