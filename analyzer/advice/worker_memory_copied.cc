// SPDX-License-Identifier: Apache-2.0
//
// Each worker has copied much of the memory that it shared with the process that forked it, mostly
// early in its life. Using a Python object changes its reference count, and the kernel then copies
// the whole page. If copying still goes on and can be forecast, worker-memory-growth reports it
// and this rule does not.
//
// Threshold: each worker has copied 64 MB and a fifth of the training process's memory (ours, as
// for growth in memory_forecast.h). A PyTorch worker whose dataset keeps its data in arrays copies
// some 20 to 40 MB.
// Source: docs/diagnosis.md R26; pytorch#13246.
#include <algorithm>
#include <cmath>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_memory.h"

namespace penstock::analyzer {
namespace {

// How many workers fit into memory in all if each needs `each` bytes.
double RoomFor(const MemoryModel& memory, const CopiedMemory& copied, double each) {
  const double now = copied.private_bytes * std::max(1, memory.worker_count);
  return std::floor((memory.room + now) / std::max(1.0, each));
}

}  // namespace

void WorkerMemoryCopied(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const LoaderDiagnosis& loader = input.loader();
  const MemoryModel& memory = loader.memory;
  if (!memory.copied) out.Needs("worker-memory-copied", NeedsOfGrowth(input));
  if (!memory.copied || WorthTelling(input, memory.growth.copied)) return;
  const CopiedMemory& copied = *memory.copied;
  if (copied.copied < kGrowthBytes || copied.copied < kGrowthShare * copied.parent) return;
  const int workers = std::max(1, memory.worker_count);
  Finding finding;
  finding.id = "worker-memory-copied";
  finding.severity = Severity::kInfo;
  finding.seen = Say<words::kWorkerMemoryCopied>(
      Give<"several">(workers > 1), Give<"workers">(workers), Give<"copied_bytes">(copied.copied),
      Give<"parent_bytes">(copied.parent), Give<"all_bytes">(copied.copied * workers));
  finding.evidence = {{"copied_bytes", copied.copied},  {"parent_bytes", copied.parent},
                      {"fresh_bytes", copied.fresh},    {"private_bytes", copied.private_bytes},
                      {"minor_faults", copied.faults},  {"workers", static_cast<double>(workers)},
                      {"seen_s", copied.seen},          {"threshold_bytes", kGrowthBytes},
                      {"threshold_share", kGrowthShare}};
  // The finding is a warning if fewer workers fit than there are, or fewer than twice the cores. A
  // loader never needs more than twice as many workers as cores.
  std::optional<double> fit;
  if (memory.room > 0) {
    const double whole = copied.parent + copied.fresh;  // one worker, if all of it is copied
    const double most = RoomFor(memory, copied, whole);
    finding.evidence.emplace_back("room_bytes", memory.room);
    finding.evidence.emplace_back("bytes_of_each_at_most", whole);
    finding.evidence.emplace_back("workers_that_fit", most);
    if (most < std::max(2 * loader.cpu.own_cores, static_cast<double>(workers))) {
      fit = most;
      finding.severity = Severity::kWarning;
    }
  }
  finding.action =
      Say<words::kCopyLess>(Give<"fit">(fit), GiveIf<"limit_of">(fit.has_value(), LimitOf(memory)),
                            Give<"whole_bytes">(copied.parent + copied.fresh),
                            Give<"exceeds">(fit && *fit < static_cast<double>(workers)));
  const auto& processes = input.trace.processes();
  for (const WorkerRun& worker : input.run().workers) {
    if (worker.process.value >= processes.size()) continue;
    finding.pids.push_back(processes[worker.process.value].pid);
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
