// SPDX-License-Identifier: Apache-2.0
#include "agent/record/collect/run_facts.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/record/sample/fault_cost.h"
#include "traces/host_facts.h"
#include "traces/without_secrets.h"

namespace penstock::record {
namespace {

std::string ExitText(std::int32_t status) {
  if (WIFEXITED(status)) return std::to_string(WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return "unknown";
}

}  // namespace

void RunFacts::WriteFirst(const std::map<std::string, std::string>& prepared, const Clock& clock,
                          std::size_t ring_bytes, TimeNs realtime) {
  for (const auto& [key, value] : traces::HostFacts()) packer_.SetFact(key, value);
  if (!options_.no_command) {
    packer_.SetFact("command", traces::QuoteCommand(traces::WithoutSecrets(options_.command)));
  }
  packer_.SetFact("penstock.version", PENSTOCK_VERSION);
  packer_.SetFact("record.mode", "collector");
  packer_.SetFact("record.clock", clock.kind() == wire::kClockTsc ? "tsc" : "monotonic");
  packer_.SetFact("record.buffer_bytes", std::to_string(ring_bytes));
  packer_.SetFact("record.start_realtime_ns", std::to_string(realtime.value));
  packer_.SetFact("record.gpu", options_.gpu);
  WriteFaultCost();
  if (options_.probe.value > 0) {
    packer_.SetFact("record.probe_ns", std::to_string(options_.probe.value));
  }
  if (!options_.overrides.empty()) {
    packer_.SetFact("record.override", OverridesText(options_.overrides));
  }
  for (const Override& one : options_.overrides) {  // Python hooks write those that they apply
    if (!VariablesOf(one).empty()) packer_.SetFact("override." + one.key, one.value);
  }
  if (!options_.allocator.empty()) {
    packer_.SetFact("override.malloc", ValueOf(options_.overrides, "malloc"));
  }
  for (const auto& [key, value] : prepared) packer_.SetFact(key, value);
  if (options_.keep.value != 0) {
    packer_.SetFact("record.keep_ns", std::to_string(options_.keep.value));
  }
  if (options_.fixed_batch) packer_.SetFact("record.fixed_batch", "1");
}

void RunFacts::WriteStage(const Stager::Outcome& outcome) {
  if (outcome.files > 0) packer_.SetFact("stage.files", std::to_string(outcome.files));
  packer_.SetFact("stage.bytes", std::to_string(outcome.bytes.value));
  if (outcome.use_known) packer_.SetFact("stage.used", std::to_string(outcome.used));
  if (!outcome.trouble.empty()) packer_.SetFact("stage.trouble", outcome.trouble);
}

void RunFacts::WriteLast(const RunEnd& end) {
  WriteFaultCost();  // once more: the machine may be less busy now
  packer_.SetFact("duration_ns", std::to_string(end.duration.value));
  if (end.launcher_gone) packer_.SetFact("record.launcher", "killed");
  if (end.exit_status >= 0) packer_.SetFact("exit.status", ExitText(end.exit_status));
  if (!end.stopped.empty()) packer_.SetFact("record.stopped", end.stopped);
  if (end.disk_full) {
    packer_.SetFact("record.disk_full_ns", std::to_string(end.disk_full->value));
  }
  packer_.SetFact("record.walks", std::to_string(end.walks));
  packer_.SetFact("record.walks_cpu_ns", std::to_string(end.walks_cpu.value));
  WriteDataset();
}

void RunFacts::WriteFaultCost() {
  const auto cost = MeasureFaultCost();
  if (!cost || (fault_cost_ && *fault_cost_ <= *cost)) return;
  fault_cost_ = cost;
  packer_.SetFact("host.fault_ns", std::to_string(cost->value));
  packer_.SetFact("host.page_bytes", std::to_string(sysconf(_SC_PAGESIZE)));
}

void RunFacts::WriteDataset() {
  std::string root = packer_.FindFact("dataset.root");
  if (root.empty()) root = packer_.FindFact("loader.0.dataset_root");
  if (root.empty() && !options_.data.empty()) root = options_.data.front();
  if (root.empty()) return;
  const traces::Storage storage = traces::StorageOf(root);
  packer_.SetFact("dataset.root", root);
  packer_.SetFact("dataset.storage", fmt::format("{} {}", storage.filesystem, storage.device));
}

}  // namespace penstock::record
