// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/taking_thread.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "traces/call_trees.h"

namespace penstock::analyzer {
namespace {

// Whether a followed step on one of `threads` called code that trains.
bool Trains(const traces::Trace& trace, const std::set<std::uint32_t>& threads) {
  const auto trains = [&](const traces::CallNode& node) {
    const std::string_view file = trace.String(node.file);
    return file.find("torch/optim/") != std::string_view::npos ||
           file.find("torch/autograd/") != std::string_view::npos;
  };
  const traces::CallTrees all = traces::ReadCallTrees(trace);
  return std::any_of(all.trees.begin(), all.trees.end(), [&](const traces::CallTree& tree) {
    return tree.unit.stage == traces::StageId::kStep && threads.count(tree.unit.thread.value) > 0 &&
           std::any_of(tree.nodes.begin(), tree.nodes.end(), trains);
  });
}

// Whether a call that launches kernels was recorded on one of `threads`.
bool Launches(const traces::Trace& trace, const std::set<std::uint32_t>& threads) {
  const auto launches = [&](const traces::Span& span) {
    return span.stage == traces::StageId::kCall &&
           trace.String(span.name).find("Launch") != std::string_view::npos;
  };
  return std::any_of(threads.begin(), threads.end(), [&](std::uint32_t thread) {
    const std::vector<traces::Span> spans = trace.Spans(ThreadId{thread});
    return std::any_of(spans.begin(), spans.end(), launches);
  });
}

}  // namespace

bool HandsBatchesOn(const traces::Trace& trace, const LoaderRun& run) {
  const std::uint32_t process = run.config.consumer.value;
  if (process >= trace.processes().size() || run.batches.empty()) return false;
  const traces::ProcessInfo& info = trace.processes()[process];
  if ((info.features & wire::kFeaturePython) == 0) return false;
  std::set<std::uint32_t> threads;
  for (const Batch& batch : run.batches) threads.insert(batch.wait_thread);
  for (const std::uint32_t thread : threads) {
    if (thread >= trace.threads().size() || trace.threads()[thread].tid == info.pid) return false;
  }
  return !Launches(trace, threads) && !Trains(trace, threads);
}

}  // namespace penstock::analyzer
