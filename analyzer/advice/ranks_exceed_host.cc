// SPDX-License-Identifier: Apache-2.0
//
// All ranks of a host together have more workers than the host has cores, or need more memory than
// it has. Each rank by itself would look well.
//
// Threshold: any worker beyond the usable cores (docs/diagnosis.md R8, R9), or half of the memory
// (R23). The finding is a warning if memory is exceeded, or if the cores are 90 % busy
// (SageMaker's CPUBottleneck) while the loop waits 5 %. Otherwise it is for information.
// Source: docs/diagnosis.md R8, R9, R23, each for a host; PyTorch's warning looks at one rank only.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

constexpr double kRounding = 1e-6;  // tolerance of a number of workers

bool MemoryExceeded(const HostRow& host) {
  return host.memory_limit > 0 && host.memory > host.memory_limit;
}

// The host that is worst off, by workers for each core or by memory.
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

// Workers for each rank: as many as cores and memory have room for, or fewer if fewer are as fast;
// never more than the present number.
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
  const bool cores = host->cores > 0 && host->workers > host->cores + 0.5;
  const bool memory = MemoryExceeded(*host);
  if (!cores && !memory) return;
  const CpuLoad& cpu = input.loader().cpu;
  const bool full = cpu.known && (cpu.saturation() >= 0.9 || cpu.crowded);
  const bool shows = full && input.diagnosis.wait_fraction >= 0.05;
  const double each = host->workers / host->ranks;
  Finding finding;
  finding.id = "ranks-exceed-host";
  finding.severity = (cores && shows) || memory ? Severity::kWarning : Severity::kInfo;
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
  finding.action = Say<words::kCountForHost>(Give<"fit">(fit), Give<"ranks">(host->ranks),
                                             Give<"shows">(shows), Give<"cores">(cores));
  if (static_cast<double>(fit) < each && input.run().config.num_workers > 0) {
    // The finding keeps its severity even if fewer workers gain nothing: then it has no prediction.
    const Prediction fewer = input.With(fit, input.run().config.prefetch_factor);
    if (fewer.SurelyGains()) finding.predicted = fewer;
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
