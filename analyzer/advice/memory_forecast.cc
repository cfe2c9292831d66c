// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/memory_forecast.h"
#include "analyzer/words/findings_memory.h"
#include "analyzer/words/rule_needs.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace penstock::analyzer {
namespace {

// The finding is critical if memory runs out within this many seconds, or within the time that the
// batches of the horizon take (ours).
constexpr double kSoon = 3600;

double HorizonSeconds(const MemoryModel& memory) {
  return memory.batch_rate > 0 ? memory.growth.horizon / memory.batch_rate : 0;
}

}  // namespace

Statement NeedsOfGrowth(const RuleInput& input) {
  if (!input.HasWorkerProcesses()) return {};
  if (!input.HasCounter("uss_bytes") && !input.HasCounter("cpu_ns")) {
    return Say<words::kRuleNeedsWorkerMemory>();
  }
  return input.loader().memory.known ? Statement{} : Say<words::kRuleNeedsMemoryWalks>();
}

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

Statement HorizonOf(const WorkerGrowth& growth) {
  return Say<words::kHorizon>(Give<"of_epoch">(growth.of_epoch()), Give<"batches">(growth.horizon));
}

Statement LimitOf(const MemoryModel& memory) {
  return Say<words::kLimitOf>(Give<"group">(memory.limit_of != "machine"));
}

Statement RunsOut(const Interval& out) {
  return Say<words::kRunsOut>(
      Give<"time">(out.estimate > 0 ? std::optional(out.estimate) : std::nullopt),
      Give<"low">(std::optional(out.low)),
      Give<"high">(std::isfinite(out.high) ? std::optional(out.high) : std::nullopt));
}

std::optional<Statement> Forecast(const RuleInput& input) {
  const MemoryModel& memory = input.loader().memory;
  if (!memory.attributed) return std::nullopt;
  const Interval change = memory.growth.Change(memory.worker_count);
  std::optional<Interval> each;  // growth of one worker, if it is worth telling
  if (change.estimate > 0.02 * memory.private_bytes) each = change;
  const auto grown = [&](double Interval::*end) {
    return each ? std::optional(memory.private_bytes + (*each).*end) : std::nullopt;
  };
  const std::optional<Interval> out = memory.OutOfMemory(memory.worker_count);
  if (!each && !out) return std::nullopt;
  const auto if_out = [&](double value) { return out ? std::optional(value) : std::nullopt; };
  return Say<words::kForecast>(
      Give<"private_bytes">(grown(&Interval::estimate)), Give<"low_bytes">(grown(&Interval::low)),
      Give<"high_bytes">(grown(&Interval::high)),
      Give<"horizon">(each ? std::optional(HorizonOf(memory.growth)) : std::nullopt),
      Give<"limit_of">(out ? std::optional(LimitOf(memory)) : std::nullopt),
      Give<"room_bytes">(if_out(memory.room)), Give<"limit_bytes">(if_out(memory.limit)),
      Give<"ranks">(memory.ranks > 1 ? std::optional(memory.ranks) : std::nullopt),
      Give<"when">(out ? std::optional(RunsOut(*out)) : std::nullopt));
}

}  // namespace penstock::analyzer
