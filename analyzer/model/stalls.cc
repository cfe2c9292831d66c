// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/stalls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/model/functions.h"
#include "traces/call_trees.h"

namespace penstock::analyzer {
namespace {

using traces::CallKind;
using traces::CallNode;
using traces::CallTree;

// A function on a stack, with the line that it was executing.
struct Place {
  std::string_view name;
  std::string_view file;
  std::uint32_t line = 0;
};

Place PlaceOn(const traces::Trace& trace, const CallNode& node) {
  return {trace.String(node.name), trace.String(node.file), node.line};
}

}  // namespace

std::vector<Stalls> FindStalls(const traces::Trace& trace) {
  using Key = std::tuple<std::string_view, std::uint32_t, std::string_view, std::string_view>;
  std::map<Key, Stalls> found;
  const traces::CallTrees read = traces::ReadCallTrees(trace);
  for (const CallTree& tree : read.trees) {
    if ((tree.unit.flags & wire::kUnitStall) == 0) continue;
    Place program;
    Place innermost;
    for (const CallNode& node : tree.nodes) {  // the outermost first
      if (node.kind != CallKind::kLine) continue;
      innermost = PlaceOn(trace, node);
      if (!IsLibrary(innermost.file) || program.file.empty()) program = innermost;
    }
    if (program.file.empty() && program.name.empty()) continue;
    Stalls& stalls = found[{program.file, program.line, innermost.file, innermost.name}];
    const double seconds = static_cast<double>(tree.unit.duration.value) * 1e-9;
    ++stalls.count;
    stalls.time += seconds;
    if (stalls.count > 1 && seconds <= stalls.longest) continue;
    stalls.name = program.name;
    stalls.file = program.file;
    stalls.line = program.line;
    const bool inside = std::tie(innermost.file, innermost.line, innermost.name) !=
                        std::tie(program.file, program.line, program.name);
    stalls.waits_in = inside ? innermost.name : "";
    stalls.waits_file = inside ? innermost.file : "";
    stalls.waits_line = inside ? innermost.line : 0;
    stalls.stage = tree.unit.stage;
    stalls.after_epoch = tree.unit.stage == traces::StageId::kStep && !tree.unit.batch.valid();
    stalls.longest = seconds;
    stalls.at = tree.unit.at - trace.begin();
    stalls.sample = tree.unit.sample;
    stalls.batch = tree.unit.batch;
    const traces::ThreadInfo& thread = trace.threads()[tree.unit.thread.value];
    stalls.worker = trace.processes()[thread.process.value].worker_id;
    stalls.process = thread.process;
  }
  std::vector<Stalls> all;
  for (auto& [key, stalls] : found) all.push_back(std::move(stalls));
  std::stable_sort(all.begin(), all.end(),
                   [](const Stalls& a, const Stalls& b) { return a.time > b.time; });
  return all;
}

bool IsIndexed(const Stalls& stalls, const RunModel& run) {
  if (stalls.sample < 0 || !run.has_loader()) return stalls.sample >= 0;
  const std::size_t process = stalls.process.value;
  const LoaderRun* loader = &run.loader();
  for (const LoaderRun& one : run.loaders) {
    // Each rank counts its generations from 1.
    const bool ours =
        process >= run.consumer_of.size() || run.consumer_of[process] == one.config.consumer;
    const bool its = std::any_of(one.epochs.begin(), one.epochs.end(), [&](const Epoch& epoch) {
      return stalls.batch.valid() && epoch.generation == stalls.batch.generation;
    });
    if (ours && its) loader = &one;
  }
  return loader->config.dataset_kind != "iterable";
}

}  // namespace penstock::analyzer
