// SPDX-License-Identifier: Apache-2.0
//
// A few slow batches, or one slow worker, hold up finished ones that must come after them.
// Threshold: during 30 % of the wait a later batch was finished (docs/diagnosis.md R20, ours), the
// loop waits 5 % (kineto, xprof), and taking batches as they come gains 5 % in the simulator. A
// worker is slow at 1.5 times the median of the workers, by its mean and by its median, with eight
// batches each (ours; docs/diagnosis.md F19): a few slow samples move the mean alone.
// Source: pytorch#105203, #135409; MinatoLoader.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/advice/rules.h"
#include "analyzer/stats/quantile.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

struct SlowWorker {
  const WorkerRun* worker = nullptr;
  double times = 1;  // its batch over the median worker's
};

SlowWorker FindSlowWorker(const LoaderRun& run) {
  constexpr double kSlow = 1.5;
  std::map<std::uint32_t, std::vector<double>> services;  // by process
  for (const Batch& batch : run.batches) {
    if (!batch.was_fetched() || batch.worker_process < 0) continue;
    services[static_cast<std::uint32_t>(batch.worker_process)].push_back(batch.fetch.wall);
  }
  std::vector<double> means;
  std::vector<double> medians;
  for (const WorkerRun& worker : run.workers) {
    if (worker.batches < 8) return {};
    means.push_back(worker.busy / static_cast<double>(worker.batches));
    medians.push_back(Median(services[worker.process.value]));
  }
  if (means.size() < 3) return {};  // of two, neither is the rule
  const double usual = Median(means);
  const auto most =
      static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
  if (usual <= 0 || means[most] < kSlow * usual) return {};
  if (medians[most] < kSlow * Median(medians)) return {};
  return {&run.workers[most], means[most] / usual};
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
  }
  if (finding.predicted->speedup < 1.05) return;
  std::vector<double> services;
  for (const Batch& batch : run.batches) services.push_back(batch.fetch.wall);
  const Summary summary = Summarize(services);
  const SlowWorker slow = threads ? SlowWorker{} : FindSlowWorker(run);
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
  if (slow.worker != nullptr) {
    slow_worker = slow.worker->worker_id;
    times = slow.times;
    finding.evidence.emplace_back("slow_worker", static_cast<double>(slow.worker->worker_id));
    finding.pids.push_back(input.trace.processes()[slow.worker->process.value].pid);
  }
  finding.seen = Say<words::kStragglers>(Give<"head_of_line">(signals.head_of_line),
                                         Give<"slow_worker">(slow_worker), Give<"times">(times));
  finding.action =
      Say<words::kEvenCosts>(Give<"slow">(slow.worker != nullptr), Give<"threads">(threads));
  if (slowest.fetch_start != kNever && slowest.fetch_end != kNever) {
    finding.from = static_cast<double>(slowest.fetch_start - input.trace.begin().value) * 1e-9;
    finding.to = static_cast<double>(slowest.fetch_end - input.trace.begin().value) * 1e-9;
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
