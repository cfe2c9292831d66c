// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/threads_beside.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/public_names.h"

namespace penstock::analyzer {

namespace {

// Whether `process` runs no program of its own, but the code of its parent: a copy by fork(), or
// what multiprocessing's other start methods and loky run.
bool RunsCodeOf(const traces::ProcessInfo& parent, const traces::ProcessInfo& process) {
  if (process.parent == parent.pid && process.command == parent.command) return true;
  return std::any_of(process.command.begin(), process.command.end(), [](const std::string& word) {
    return !traces::StarterOfWorkers(word).empty();
  });
}

// Nanoseconds from the first to the last sign of life: spans and samples of counters.
std::pair<std::int64_t, std::int64_t> LifeOf(ProcessId process, const RunModel& model,
                                             std::span<const traces::ThreadInfo> threads) {
  std::int64_t first = kNever;
  std::int64_t last = kNever;
  const auto add = [&](std::int64_t from, std::int64_t to) {
    first = first == kNever ? from : std::min(first, from);
    last = last == kNever ? to : std::max(last, to);
  };
  for (const traces::ThreadInfo& thread : threads) {
    if (thread.process == process && thread.spans > 0) add(thread.first.value, thread.last.value);
  }
  for (const CounterSeries& series : model.counters) {
    if (series.process != process || series.at.empty()) continue;
    const auto at = [&](double seconds) {
      return model.begin.value + static_cast<std::int64_t>(seconds * 1e9);
    };
    add(at(series.at.front()), at(series.at.back()));
  }
  return {first, last};
}

void FindOwnProcesses(RunModel& model, const RunBuilder& builder, const traces::Trace& trace) {
  if (!model.has_loader() || model.loader().batches.empty()) return;
  const LoaderRun& run = model.loader();
  const std::int64_t begin = run.batches.front().wait_start;
  const std::int64_t end = run.batches.back().delivered;
  const traces::ProcessInfo& parent = trace.processes()[run.config.consumer.value];
  for (const ProcessId helper : model.helpers) {
    if (!RunsCodeOf(parent, trace.processes()[helper.value])) continue;
    if (builder.consumers().Of(helper) != run.config.consumer) continue;
    if (!builder.consumers().Descends(helper)) continue;
    const auto [first, last] = LifeOf(helper, model, trace.threads());
    if (first == kNever || 2 * (std::min(last, end) - std::max(first, begin)) < end - begin) {
      continue;
    }
    model.own_processes.processes.push_back(helper);
    for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
      if (trace.threads()[i].process != helper) continue;
      model.own_processes.stages += builder.WorkOf(i).stages.sum();
    }
  }
}

}  // namespace

void FindThreadsBeside(LoaderRun& run, const RunBuilder& builder,
                       std::span<const traces::ThreadInfo> threads) {
  const bool workers = run.config.num_workers > 0;
  std::set<std::uint32_t> loops;
  std::set<std::uint32_t> makers;
  std::set<std::uint32_t> processes;  // processes of the makers
  for (const Batch& batch : run.batches) {
    loops.insert(batch.wait_thread);
    if (!batch.was_fetched()) continue;
    makers.insert(batch.fetch_thread);
    processes.insert(static_cast<std::uint32_t>(batch.worker_process));
  }
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    if (loops.count(i) > 0) continue;
    const ThreadWork& work = builder.WorkOf(i);
    const ProcessId process = threads[i].process;
    if (!workers && process == run.config.consumer) run.threads_cpu += work.apart;
    const bool makes = makers.count(i) > 0 || work.samples > 0;
    if (processes.count(process.value) == 0 || makes || !(work.stages.sum() > 0)) continue;
    run.threads_stages.Add(work.stages);
    ++run.stage_threads;
  }
}

void FindHelpers(RunModel& model, const RunBuilder& builder, const traces::Trace& trace) {
  const auto processes = trace.processes();
  std::vector<bool> helps(processes.size());
  for (std::uint32_t i = 0; i < helps.size(); ++i) {
    helps[i] = processes[i].bytes_dataset.value > 0 || builder.consumers().Descends(ProcessId{i});
  }
  for (std::uint32_t i = 0; i < trace.threads().size(); ++i) {
    const std::uint32_t process = trace.threads()[i].process.value;
    if (process < helps.size() && builder.WorkOf(i).apart > 0) helps[process] = true;
  }
  for (std::uint32_t i = 0; i < helps.size(); ++i) {
    if (helps[i] && processes[i].role == wire::kRoleOther) model.helpers.push_back(ProcessId{i});
  }
  FindOwnProcesses(model, builder, trace);
}

}  // namespace penstock::analyzer
