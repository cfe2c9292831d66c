// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/threads_beside.h"

#include <set>
#include <vector>

namespace penstock::analyzer {

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
}

}  // namespace penstock::analyzer
