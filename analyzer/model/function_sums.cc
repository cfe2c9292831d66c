// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/function_sums.h"

#include <set>
#include <utility>

#include "analyzer/model/functions.h"

namespace penstock::analyzer {
namespace {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;
using traces::kNoCall;

double TimeOfUnits(const CallTreeList& trees) {
  double time = 0;
  for (const CallTree* tree : trees) time += Nanoseconds(tree->total());
  return time;
}

// Whether a node only passes a call on. Before NumPy 1.25, many functions of NumPy are called
// through a dispatcher. Where names have their scope (Python 3.11 and later), all of these have the
// same name, which ends in `public_api`.
bool OnlyDispatches(const traces::Trace& trace, const CallNode& node) {
  return trace.String(node.file).starts_with("<__array_function__");
}

// A node of a tree, and the function and line that its time counts for.
struct Placed {
  double own = 0;                // nanoseconds
  std::size_t owner = kNoCall;   // node of the function that its time counts for
  std::size_t called = kNoCall;  // node of the function that the owner called on the way here
  std::size_t line = kNoCall;    // node of the owner's line
};

std::vector<Placed> Place(const traces::Trace& trace, const CallTree& tree,
                          const FollowCorrection& correction) {
  const std::vector<double> own = OwnTimes(trace, tree, correction);
  std::vector<Placed> placed(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    Placed& here = placed[i];
    here.own = own[i];
    if (node.parent != kNoCall) {
      const Placed& above = placed[node.parent];
      here.owner = above.owner;
      here.called = above.called;
      here.line = above.line;
    }
    if (node.kind == CallKind::kLine) {
      // Inside a called function, the owner's line stays the line of the call.
      if (here.called == kNoCall) here.line = i;
      continue;
    }
    const bool library = node.kind == CallKind::kBuiltin || IsLibrary(trace.String(node.file));
    const bool above_is_library =
        here.owner != kNoCall && IsLibrary(trace.String(tree.nodes[here.owner].file));
    if (!library || here.owner == kNoCall ||
        (above_is_library && node.kind != CallKind::kBuiltin)) {
      here = {.own = here.own, .owner = i};
    } else if (here.called == kNoCall || (node.kind != CallKind::kBuiltin &&
                                          OnlyDispatches(trace, tree.nodes[here.called]))) {
      here.called = i;
    }
  }
  return placed;
}

class Summing {
 public:
  explicit Summing(const traces::Trace& trace) : trace_(trace) {}

  void Add(const CallTree& tree, double weight, const FollowCorrection& correction) {
    weight_ = weight;
    std::vector<Placed> placed = Place(trace_, tree, correction);
    for (Placed& node : placed) node.own *= weight;
    sums_.units += weight;
    sums_.whole += weight * Nanoseconds(tree.own()) * correction.interpreter;
    for (std::size_t i = 0; i < placed.size(); ++i) AddNode(tree, placed, i);
  }

  [[nodiscard]] FunctionSums Take() && { return std::move(sums_); }

 private:
  void AddNode(const CallTree& tree, const std::vector<Placed>& placed, std::size_t at) {
    const CallNode& node = tree.nodes[at];
    const Placed& here = placed[at];
    sums_.whole += here.own;
    if (here.owner == kNoCall) return;
    FunctionSum& function = sums_.functions[KeyOf(trace_, tree.nodes[here.owner])];
    function.time += here.own;
    if (here.owner == at) function.count += weight_ * static_cast<double>(node.count);
    const bool interpreted = here.called == kNoCall && node.kind != CallKind::kBuiltin;
    if (interpreted) function.own += here.own;
    const auto charge_called = [&](CalledSums& sums) {
      if (here.called == kNoCall) return;
      const CallNode& called = tree.nodes[here.called];
      CalledSum& sum = sums[{trace_.String(called.name), trace_.String(called.file)}];
      sum.time += here.own;
      if (here.called == at) sum.count += weight_ * static_cast<double>(node.count);
    };
    charge_called(function.called);
    if (here.line != kNoCall) {
      LineSum& line = function.lines[tree.nodes[here.line].line];
      charge_called(line.called);
      line.time += here.own;
      if (interpreted) line.own += here.own;
      if (here.line == at) line.count += weight_ * static_cast<double>(node.count);
    }
    AddTotals(tree, placed, at);
  }

  // Adds a node's time to the totals of its function and of each function above it. A recursive
  // function gets the time only once.
  void AddTotals(const CallTree& tree, const std::vector<Placed>& placed, std::size_t at) {
    std::set<FunctionKey> charged;
    for (std::size_t i = at; i != kNoCall; i = tree.nodes[i].parent) {
      if (placed[i].owner != i) continue;
      const FunctionKey key = KeyOf(trace_, tree.nodes[i]);
      if (charged.insert(key).second) sums_.functions[key].total += placed[at].own;
    }
  }

  const traces::Trace& trace_;
  FunctionSums sums_;
  double weight_ = 1;
};

}  // namespace

FollowedUnits::FollowedUnits(CallTreeList ordinary_units, CallTreeList slow_units,
                             double slow_share)
    : ordinary(std::move(ordinary_units)), slow(std::move(slow_units)) {
  if (ordinary.empty() || !(slow_share > 0)) return;
  const double time = TimeOfUnits(slow);
  if (time > 0) {
    weight = slow_share / (1 - slow_share) * TimeOfUnits(ordinary) / time;
  } else {
    unseen = slow_share;
  }
}

FunctionSums SumOf(const traces::Trace& trace, const FollowedUnits& units,
                   const FollowCorrection& correction) {
  Summing summing(trace);
  units.ForEach(
      [&](const CallTree& tree, double weight) { summing.Add(tree, weight, correction); });
  return std::move(summing).Take();
}

}  // namespace penstock::analyzer
