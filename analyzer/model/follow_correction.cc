// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/follow_correction.h"

#include <algorithm>
#include <utility>

namespace penstock::analyzer {
namespace {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;
using traces::kNoCall;

// The cost that the agent subtracted from each node's own time.
std::vector<double> OwnCosts(const CallTree& tree) {
  std::vector<double> costs;
  for (const CallNode& node : tree.nodes) costs.push_back(Nanoseconds(node.cost));
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const std::size_t above = tree.nodes[i].parent;
    if (above != kNoCall) costs[above] -= Nanoseconds(tree.nodes[i].cost);
  }
  for (double& cost : costs) cost = std::max(0.0, cost);
  return costs;
}

// The part of a line's own time in which the interpreter ran bytecode. The bytecode of a line is
// assumed to take at most kMost each time the line is reached (ours). The rest of the line's time
// is not the interpreter's.
double InterpretedPartOfLine(const CallNode& line) {
  constexpr double kMost = 20e3;  // nanoseconds
  const double own = Nanoseconds(line.own);
  return own > 0 ? std::min(1.0, kMost * static_cast<double>(line.count) / own) : 1;
}

// The part of the own time of node `at` in which the interpreter ran bytecode.
double InterpretedPart(const traces::Trace& trace, const CallTree& tree, std::size_t at,
                       const InterpretedParts& parts) {
  const CallNode& node = tree.nodes[at];
  if (node.kind == CallKind::kBuiltin) return 0;
  if (node.kind == CallKind::kLine) return InterpretedPartOfLine(node);
  const auto found = parts.find(KeyOf(trace, node));
  return found == parts.end() ? 1 : found->second;
}

}  // namespace

FunctionKey KeyOf(const traces::Trace& trace, const CallNode& node) {
  return {trace.String(node.file), node.line, trace.String(node.name)};
}

InterpretedParts PartsOf(const traces::Trace& trace, std::span<const CallTree* const> with_lines) {
  struct Times {
    double all = 0;
    double interpreted = 0;
  };
  std::map<FunctionKey, Times> times;
  for (const CallTree* tree : with_lines) {
    for (const CallNode& node : tree->nodes) {
      if (node.kind != CallKind::kLine || node.parent == kNoCall) continue;
      Times& sum = times[KeyOf(trace, tree->nodes[node.parent])];
      const double own = Nanoseconds(node.own);
      sum.all += own;
      sum.interpreted += own * InterpretedPartOfLine(node);
    }
  }
  InterpretedParts parts;
  for (const auto& [key, sum] : times) {
    if (sum.all > 0) parts[key] = sum.interpreted / sum.all;
  }
  return parts;
}

FollowCorrection CorrectionOf(const traces::Trace& trace, std::span<const CallTree* const> trees,
                              InterpretedParts parts) {
  constexpr double kLeast = 0.3;
  constexpr double kMostCost = 2.5;
  constexpr double kToldByTime = 0.1;
  FollowCorrection correction;
  correction.parts = std::move(parts);
  // Nanoseconds of all units together.
  double ordinary = 0;     // what they would have taken if not followed, judged by their neighbours
  double interpreted = 0;  // recorded time in bytecode, without the subtracted costs
  double rest = 0;         // recorded time in C code or waiting, without the subtracted costs
  double costs = 0;        // costs that the agent subtracted
  bool slowed = false;
  for (const CallTree* tree : trees) {
    if (tree->unit.ordinary.value <= 0) continue;
    slowed = slowed || (tree->unit.flags & wire::kUnitSlowed) != 0;
    ordinary += Nanoseconds(tree->unit.ordinary);
    interpreted += Nanoseconds(tree->own());
    for (std::size_t i = 0; i < tree->nodes.size(); ++i) {
      const double own = Nanoseconds(tree->nodes[i].own);
      const double part = InterpretedPart(trace, *tree, i, correction.parts);
      interpreted += part * own;
      rest += (1 - part) * own;
    }
    for (const double cost : OwnCosts(*tree)) costs += cost;
  }
  if (ordinary <= 0 || interpreted <= 0) return correction;
  const double missing = ordinary - rest - interpreted;
  if (slowed && missing <= 0) {
    correction.interpreter = std::clamp((ordinary - rest) / interpreted, kLeast, 1.0);
  } else if (costs >= kToldByTime * ordinary) {
    correction.costs = std::clamp(1 - missing / costs, 0.0, kMostCost);
  }
  return correction;
}

std::vector<double> OwnTimes(const traces::Trace& trace, const CallTree& tree,
                             const FollowCorrection& correction) {
  std::vector<double> times = OwnCosts(tree);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const double part = InterpretedPart(trace, tree, i, correction.parts);
    times[i] = (1 - correction.costs) * times[i] +
               Nanoseconds(tree.nodes[i].own) * (1 - part + part * correction.interpreter);
    times[i] = std::max(0.0, times[i]);
  }
  return times;
}

}  // namespace penstock::analyzer
