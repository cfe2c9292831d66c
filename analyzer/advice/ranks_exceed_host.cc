// SPDX-License-Identifier: Apache-2.0
//
// All ranks of a host together have more workers than it has cores, or need more memory than it
// has: each rank alone would look well.
// Threshold: any worker beyond the usable cores (docs/diagnosis.md R8, R9), half of the memory
// (R23). Severe if it shows: cores 90 % busy (SageMaker's CPUBottleneck) while the loop waits 5 %.
// Source: docs/diagnosis.md R8, R9, R23, each for a host; PyTorch's warning looks at one rank only.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {
namespace {

constexpr double kRounding = 1e-6;  // of a number of workers

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

// Of each rank: what was suggested, if that is fewer, else what cores and memory have room for;
// never more than there are.
int WorkersThatFit(const RuleInput& input, const HostRow& host) {
  double fit = host.workers / host.ranks;
  if (MemoryExceeded(host)) fit *= host.memory_limit / host.memory;
  if (host.cores > 0) fit = std::min(fit, host.cores / host.ranks);
  const int room = std::max(1, static_cast<int>(std::floor(fit + kRounding)));
  const int own = input.run().config.num_workers;
  const int suggested = input.loader().suggestion.workers;
  return suggested > 0 && suggested < own ? std::min(suggested, room) : room;
}

std::string TitleOf(const RankSummary& ranks, const HostRow& host) {
  std::string title =
      fmt::format("{} ranks with {:.3g} workers each", host.ranks, host.workers / host.ranks);
  if (ranks.hosts.size() > 1) title += fmt::format(" on {}", host.name);
  if (host.cores > 0) {
    title += fmt::format(": {:.0f} workers for {:.3g} cores", host.workers, host.cores);
  }
  if (MemoryExceeded(host)) {
    title += fmt::format("{} {:.3g} GB of memory where half of it is {:.3g} GB",
                         host.cores > 0 ? "," : ":", host.memory / 1e9, host.memory_limit / 1e9);
  }
  return title;
}

}  // namespace

void RanksExceedHost(const RuleInput& input, Findings& out) {
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
  finding.title = TitleOf(ranks, *host);
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
  finding.action = fmt::format(
      "Count for the host, not for the rank: set num_workers={} on each of its {} ranks{}.", fit,
      host->ranks,
      shows   ? "; what then still waits needs cheaper samples, the GPU for decoding, or more cores"
      : cores ? ", more only take turns and memory"
              : ", more take over half of its memory");
  if (static_cast<double>(fit) < each && input.run().config.num_workers > 0) {
    finding.predicted = input.With(fit, input.run().config.prefetch_factor);
  }
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
