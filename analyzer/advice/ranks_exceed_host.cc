// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a host together have more workers than usable cores, or need more than half of its
// memory. Each rank alone would look fine.
//
// Threshold: over half a worker more than usable cores (docs/diagnosis.md R8, R9), or more than
// half of the memory in use (R23), on a host with two ranks or more. The finding is a warning if
// memory is exceeded. It is also a warning if three things hold: there are too many workers, the
// cores of the main loader's host are 90 % busy (SageMaker's CPUBottleneck) or crowded, and the
// loop waits 5 % of the time. Otherwise its severity is info.
// Source: docs/diagnosis.md R8, R9, R23, each applied to a whole host; PyTorch's warning looks at
//         one rank only.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_ranks.h"

namespace penstock::analyzer {
namespace {

constexpr double kRounding = 1e-6;    // keeps floor() from losing a worker to rounding
constexpr double kMoreWorkers = 0.5;  // beyond the cores; ranks may differ in their workers

bool MemoryExceeded(const HostRow& host) {
  return host.memory_limit > 0 && host.memory > host.memory_limit;
}

// Among the hosts with two ranks or more, the one with the largest ratio of workers to cores or of
// memory to its limit. nullptr: none.
const HostRow* Worst(const RankSummary& ranks) {
  const HostRow* worst = nullptr;
  double most = 0;
  for (const HostRow& host : ranks.hosts) {
    const double load = host.cores > 0 ? host.workers / host.cores : 0;
    const double memory = host.memory_limit > 0 ? host.memory / host.memory_limit : 0;
    if (host.ranks < 2 || std::max(load, memory) <= most) continue;
    worst = &host;
    most = std::max(load, memory);
  }
  return worst;
}

// How many workers of each rank the cores and the memory have room for: at least one, at most the
// present number. If fewer workers are enough for the suggestion, at most as many as it needs.
int WorkersThatFit(const RuleInput& input, const HostRow& host) {
  double fit = host.workers / host.ranks;
  if (MemoryExceeded(host)) fit *= host.memory_limit / host.memory;
  if (host.cores > 0) fit = std::min(fit, host.cores / host.ranks);
  const int room = std::max(1, static_cast<int>(std::floor(fit + kRounding)));
  const int own = input.run().config.num_workers;
  const int enough = input.loader().suggestion.enough_workers;
  return enough > 0 && enough < own ? std::min(enough, room) : room;
}

Statement SeenOf(const RankSummary& ranks, const HostRow& host) {
  return Say<words::kRanksExceedHost>(
      Give<"ranks">(host.ranks), Give<"workers_per_rank">(host.workers / host.ranks),
      Give<"host">(ranks.hosts.size() > 1 ? std::optional(host.name) : std::nullopt),
      Give<"workers">(host.workers),
      Give<"usable_cores">(host.cores > 0 ? std::optional(host.cores) : std::nullopt),
      Give<"memory">(MemoryExceeded(host)), Give<"ram_bytes">(host.memory),
      Give<"ram_limit_bytes">(host.memory_limit));
}

}  // namespace

void RanksExceedHost(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const RankSummary& ranks = input.diagnosis.ranks;
  const HostRow* host = Worst(ranks);
  if (host == nullptr) return;
  const bool many_workers = host->cores > 0 && host->workers > host->cores + kMoreWorkers;
  const bool much_memory = MemoryExceeded(*host);
  if (!many_workers && !much_memory) return;
  const CpuLoad& cpu = input.loader().cpu;
  const bool full = cpu.known && (cpu.saturation() >= 0.9 || cpu.crowded);
  const bool slows_loop = full && input.diagnosis.wait_fraction >= 0.05;
  const double each = host->workers / host->ranks;
  Finding finding;
  finding.id = "ranks-exceed-host";
  finding.severity =
      (many_workers && slows_loop) || much_memory ? Severity::kWarning : Severity::kInfo;
  finding.seen = SeenOf(ranks, *host);
  const int fit = WorkersThatFit(input, *host);
  finding.evidence = {{"ranks", static_cast<double>(host->ranks)},
                      {"recorded_ranks", static_cast<double>(host->recorded)},
                      {"workers_per_rank", each},
                      {"workers", host->workers},
                      {"cpu_saturation", cpu.saturation()},
                      {"ram_bytes", host->memory},
                      {"ram_limit_bytes", host->memory_limit},
                      {"shm_bytes", host->shared},
                      {"shm_limit_bytes", host->shared_size},
                      {"workers_that_fit", static_cast<double>(fit)}};
  if (host->cores > 0) finding.evidence.emplace_back("usable_cores", host->cores);
  finding.action =
      Say<words::kCountForHost>(Give<"fit">(fit), Give<"ranks">(host->ranks),
                                Give<"shows">(slows_loop), Give<"cores">(many_workers));
  if (static_cast<double>(fit) < each && input.run().config.num_workers > 0) {
    // If fewer workers gain nothing, the finding has no prediction but keeps its severity.
    const Prediction fewer = input.With(fit, input.run().config.prefetch_factor);
    if (fewer.SurelyGains()) finding.predicted = fewer;
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
