// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/memory_forecast.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "analyzer/report/memory_report.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

// Memory that runs out before this, or before the horizon, is what stops the run (ours).
constexpr double kSoon = 3600;

double HorizonSeconds(const MemoryModel& memory) {
  return memory.batch_rate > 0 ? memory.growth.horizon / memory.batch_rate : 0;
}

}  // namespace

bool WorthTelling(const RuleInput& input, const Growth& growth) {
  const MemoryModel& memory = input.loader().memory;
  if (!memory.known || !growth.certain()) return false;
  const auto much = [&](double bytes) {
    return bytes >= kGrowthBytes &&
           bytes >= kGrowthShare * std::max(0.0, memory.private_bytes - growth.grown);
  };
  if (much(growth.grown)) return true;
  const int workers = std::max(1, memory.worker_count);
  return memory.attributed && much(growth.After(memory.growth.horizon / workers).low);
}

void DescribeGrowth(const RuleInput& input, const Growth& growth, Finding& finding) {
  const MemoryModel& memory = input.loader().memory;
  const double workers = std::max(1, memory.worker_count);
  const auto samples = static_cast<double>(input.run().samples_per_batch);
  std::size_t walks = 0;
  for (const WorkerMemory& worker : memory.workers) walks += worker.samples;
  finding.evidence = {{"bytes_per_s", workers * growth.per_second.estimate},
                      {"bytes_per_s_low", workers * growth.per_second.low},
                      {"bytes_per_s_high", workers * growth.per_second.high},
                      {"bytes_per_batch", growth.per_batch.estimate},
                      {"bytes_per_sample", samples > 0 ? growth.per_batch.estimate / samples : 0.0},
                      {"grown_bytes", growth.grown},
                      {"private_bytes", memory.private_bytes},
                      {"shared_bytes", memory.shared_bytes},
                      {"workers", workers},
                      {"walks", static_cast<double>(walks)},
                      {"threshold_bytes", kGrowthBytes},
                      {"threshold_share", kGrowthShare},
                      {"start_method", input.run().config.start_method}};
  const auto& processes = input.trace.processes();
  for (const WorkerMemory& worker : memory.workers) {
    if (worker.process.value >= processes.size()) continue;
    finding.pids.push_back(processes[worker.process.value].pid);
  }
  finding.severity = Severity::kWarning;
  if (!memory.attributed) return;
  const Interval change = memory.growth.Change(memory.worker_count);
  const std::string then =
      memory.growth.of_epoch() ? "private_bytes_at_epoch_end" : "private_bytes_at_recorded_batches";
  finding.evidence.emplace_back("epoch_batches", memory.growth.epoch);
  finding.evidence.emplace_back("horizon_batches", memory.growth.horizon);
  finding.evidence.emplace_back(then, memory.private_bytes + change.estimate);
  finding.evidence.emplace_back(then + "_low", memory.private_bytes + change.low);
  finding.evidence.emplace_back(then + "_high", memory.private_bytes + change.high);
  finding.evidence.emplace_back("ranks", static_cast<double>(memory.ranks));
  finding.evidence.emplace_back("room_bytes", memory.room);
  finding.evidence.emplace_back("limit_bytes", memory.limit);
  finding.evidence.emplace_back("limit_of", std::string(memory.limit_of));
  const std::optional<Interval> out = memory.OutOfMemory(memory.worker_count);
  if (!out) return;
  finding.evidence.emplace_back("out_of_memory_s", out->estimate);
  finding.evidence.emplace_back("out_of_memory_s_low", out->low);
  if (std::isfinite(out->high)) finding.evidence.emplace_back("out_of_memory_s_high", out->high);
  if (out->estimate < std::max(kSoon, HorizonSeconds(memory))) {
    finding.severity = Severity::kCritical;
  }
}

std::string ForecastText(const RuleInput& input) {
  const MemoryModel& memory = input.loader().memory;
  if (!memory.attributed) return "";
  std::string text;
  const Interval change = memory.growth.Change(memory.worker_count);
  if (change.estimate > 0.02 * memory.private_bytes) {
    text += fmt::format(" Each has {} ({} to {}) {}.",
                        BytesText(memory.private_bytes + change.estimate),
                        BytesText(memory.private_bytes + change.low),
                        BytesText(memory.private_bytes + change.high), HorizonText(memory.growth));
  }
  const std::optional<Interval> out = memory.OutOfMemory(memory.worker_count);
  if (!out) return text;
  const std::string shared =
      memory.ranks > 1 ? fmt::format(" for each of {} ranks", memory.ranks) : std::string();
  return text + fmt::format(" The memory of the {} ({} left of {}{}) runs out {}.", memory.limit_of,
                            BytesText(memory.room), BytesText(memory.limit), shared,
                            RunsOutText(*out));
}

}  // namespace penstock::analyzer
