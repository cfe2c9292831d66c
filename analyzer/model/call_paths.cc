// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/call_paths.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace penstock::analyzer {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;
using traces::kNoCall;

std::vector<CallPath> PathsOf(const traces::Trace& trace, const FollowedUnits& units,
                              const FollowCorrection& correction) {
  constexpr double kLeast = 0.005;
  struct Node {
    const CallNode* call = nullptr;
    std::size_t parent = kNoCall;
    double time = 0;
    double count = 0;
  };
  std::vector<Node> nodes;
  std::map<std::pair<std::size_t, FunctionKey>, std::size_t> known;
  double whole = 0;
  double count = 0;
  units.ForEach([&](const CallTree& tree, double weight) {
    const std::vector<double> times = OwnTimes(trace, tree, correction);
    count += weight;
    whole += weight * Nanoseconds(tree.own()) * correction.interpreter;
    std::vector<std::size_t> node_of(tree.nodes.size(), kNoCall);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const CallNode& call = tree.nodes[i];
      const std::size_t above = call.parent == kNoCall ? kNoCall : node_of[call.parent];
      whole += weight * times[i];
      node_of[i] = above;
      if (call.kind != CallKind::kLine) {
        const FunctionKey key = KeyOf(trace, call);
        const auto [found, added] = known.try_emplace({above, key}, nodes.size());
        if (added) nodes.push_back({&call, above, 0, 0});
        node_of[i] = found->second;
        nodes[node_of[i]].count += weight * static_cast<double>(call.count);
      }
      if (node_of[i] != kNoCall) nodes[node_of[i]].time += weight * times[i];
    }
  });
  whole /= 1 - units.unseen;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parent != kNoCall) nodes[nodes[i].parent].time += nodes[i].time;
  }
  std::vector<CallPath> paths;
  std::vector<std::size_t> path_of(nodes.size(), kNoCall);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (whole <= 0 || node.time < kLeast * whole) continue;
    path_of[i] = paths.size();
    paths.push_back({.name = std::string(trace.String(node.call->name)),
                     .file = std::string(trace.String(node.call->file)),
                     .line = node.call->line,
                     .parent = node.parent == kNoCall ? path_of[i] : path_of[node.parent],
                     .total = node.time / whole,
                     .count = node.count / count});
  }
  return paths;
}

}  // namespace penstock::analyzer
