// SPDX-License-Identifier: Apache-2.0
//
// A few slow batches, or one slow worker, hold up finished batches that must come after them.
//
// Threshold: during 30 % of the wait a later batch was finished (docs/diagnosis.md R20, ours), the
// loop waits 5 % (kineto, xprof), and the simulator gains 5 % if the loop takes batches in the
// order in which they are finished. If threads fill batches together, the simulator gains 5 % with
// ideal prefetching instead. analyzer/model/slow_workers.h says when a worker is slow
// (docs/diagnosis.md F19).
// Source: pytorch#105203, #135409; MinatoLoader.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/advice/rules.h"
#include "analyzer/model/slow_workers.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

// The slow worker with the largest mean.
std::optional<SlowWorker> FindSlowest(const LoaderRun& run) {
  const std::vector<SlowWorker> slow = FindSlowWorkers(TimesOfWorkers(run));
  if (slow.empty()) return std::nullopt;
  return *std::max_element(slow.begin(), slow.end(), [](const SlowWorker& a, const SlowWorker& b) {
    return a.times < b.times;
  });
}

// Whether the program's PyTorch has in_order=False, as versions from 2.6 on do; false if the
// version is not known.
bool HasInOrder(const traces::Trace& trace) {
  const std::string version = TextFact(trace.facts(), "version.torch");  // "2.8.0+cpu"
  const char* const end = version.data() + version.size();
  int major = 0;
  int minor = 0;
  const auto dot = std::from_chars(version.data(), end, major);
  if (dot.ec != std::errc{} || dot.ptr == end) return false;
  if (std::from_chars(dot.ptr + 1, end, minor).ec != std::errc{}) return false;
  return std::pair(major, minor) >= std::pair(2, 6);
}

std::size_t SlowestBatch(const LoaderRun& run) {
  const auto slower = [](const Batch& a, const Batch& b) { return a.fetch.wall < b.fetch.wall; };
  return static_cast<std::size_t>(std::max_element(run.batches.begin(), run.batches.end(), slower) -
                                  run.batches.begin());
}

}  // namespace

void Stragglers(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  out.Needs("stragglers", input.NeedsToCompareWorkers());
  if (input.run().config.num_workers < 2) return;
  const LoaderRun& run = input.run();
  const Signals& signals = input.loader().signals;
  const bool threads = run.config.sample_tasks;
  if (!run.config.in_order || input.loader().cpu.crowded) return;
  if (!input.loader().steady.steady) return;
  if (signals.head_of_line < 0.3 || input.diagnosis.wait_fraction < 0.05) return;
  Finding finding;
  if (threads) {
    finding.predicted = input.Without(Factor::kPrefetch);
  } else {
    Setting setting = input.Recorded();
    setting.in_order = false;
    finding.predicted = input.WithSetting(setting);
    if (HasInOrder(input.trace)) finding.setting = setting;
  }
  if (finding.predicted->speedup < 1.05) return;
  std::vector<double> services;
  for (const Batch& batch : run.batches) {
    if (batch.was_fetched()) services.push_back(batch.fetch.wall);
  }
  const Summary summary = Summarize(services);
  const std::optional<SlowWorker> slow = threads ? std::nullopt : FindSlowest(run);
  const Batch& slowest = run.batches[SlowestBatch(run)];
  finding.id = "stragglers";
  finding.severity = Severity::kWarning;
  std::optional<double> slow_worker;
  std::optional<double> times;
  finding.evidence = {{"head_of_line", signals.head_of_line},
                      {"threshold", 0.3},
                      {"batch_p50_s", summary.median},
                      {"batch_p99_s", summary.p99},
                      {"slowest_batch", static_cast<double>(slowest.key.index)},
                      {"slowest_batch_s", slowest.fetch.wall}};
  if (slow) {
    const WorkerRun& worker = run.workers[slow->index];
    slow_worker = worker.worker_id;
    times = slow->times;
    finding.evidence.emplace_back("slow_worker", static_cast<double>(worker.worker_id));
    finding.pids.push_back(input.trace.processes()[worker.process.value].pid);
  }
  finding.seen = Say<words::kStragglers>(Give<"head_of_line">(signals.head_of_line),
                                         Give<"slow_worker">(slow_worker), Give<"times">(times));
  finding.action = Say<words::kEvenCosts>(Give<"predicted">(true), Give<"slow">(slow.has_value()),
                                          Give<"threads">(threads));
  if (slowest.fetch_start != kNever && slowest.fetch_end != kNever) {
    finding.from = static_cast<double>(slowest.fetch_start - input.trace.begin().value) * 1e-9;
    finding.to = static_cast<double>(slowest.fetch_end - input.trace.begin().value) * 1e-9;
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
