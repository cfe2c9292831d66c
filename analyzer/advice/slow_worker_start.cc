// SPDX-License-Identifier: Apache-2.0
//
// Workers that are spawned, not forked, start one after the other: each gets the dataset object
// pickled and imports everything anew, so each is ready seconds after the one before.
//
// Threshold: one second per worker (docs/diagnosis.md R28), measured in two ways. Either it is the
// mean time from one worker's first fetch to the next worker's, or the time up to the last worker's
// first fetch, divided by the number of workers. The rule is only for the start methods spawn and
// forkserver. If the facts do not name the method, there is no finding: forked workers that start
// late have other reasons (slow-first-batch).
// Prediction: the run without start-up, if start-up recurs in every epoch (see
// workers-restart-each-epoch for the remedy).
// Source: docs/diagnosis.md R28; PyTorch PR#87802 (32 workers, 2 GB: 30 min -> 2 min), #139792;
//         rslearn#17 (4 -> 0.4 s a worker). forkserver is the default from Python 3.14 on.
#include <algorithm>
#include <vector>

#include "analyzer/advice/place.h"
#include "analyzer/words/findings_workers.h"

namespace penstock::analyzer {
namespace {

constexpr double kNotableSeconds = 1;  // per worker

// The seconds from the creation of the iterator to each worker's first fetch, ascending; empty if
// one of these fetches was not recorded. PyTorch sends the first indices to one worker after the
// other. A worker whose part of an iterable dataset is empty delivers no batch and is left out.
std::vector<double> FirstFetches(const LoaderRun& run, const Epoch& epoch) {
  std::vector<double> starts;
  const auto workers = static_cast<std::size_t>(run.config.num_workers);
  for (std::size_t i = epoch.first; i < epoch.first + epoch.count; ++i) {
    const Batch& batch = run.batches[i];
    if (batch.key.index >= workers) break;  // the second batch of a worker
    if (!batch.was_fetched()) return {};
    starts.push_back(static_cast<double>(batch.fetch_start - epoch.start) * 1e-9);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

}  // namespace

void SlowWorkerStart(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().epochs.empty()) return;
  const LoaderRun& run = input.run();
  const std::string& method = run.config.start_method;
  if (method != "spawn" && method != "forkserver") return;
  const Epoch& epoch = run.epochs.front();
  if (run.config.num_workers == 0 || run.config.sample_tasks || epoch.start == kNever ||
      run.batches[epoch.first].key.index != 0) {
    return;
  }
  const std::vector<double> starts = FirstFetches(run, epoch);
  if (starts.empty()) return;
  const auto count = static_cast<double>(starts.size());
  const double each =
      starts.size() > 1 ? (starts.back() - starts.front()) / (count - 1) : starts.front();
  const double mean = starts.back() / count;
  if (std::max(each, mean) < kNotableSeconds) return;
  Finding finding;
  finding.id = "slow-worker-start";
  finding.severity = input.loader().signals.startup >= 0.1 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kSlowWorkerStart>(
      Give<"workers">(starts.size()), Give<"method">(method), Give<"last_worker_s">(starts.back()));
  finding.evidence = {{"s_per_worker", std::max(each, mean)},
                      {"threshold", kNotableSeconds},
                      {"first_worker_s", starts.front()},
                      {"last_worker_s", starts.back()},
                      {"workers", count},
                      {"start_method", method},
                      {"startup_share", input.loader().signals.startup}};
  finding.action = Say<words::kSmallerDataset>();
  if (StartRecurs(input.loader().pipeline)) finding.predicted = input.Without(Factor::kStartup);
  finding.from = static_cast<double>(epoch.start - input.trace.begin().value) * 1e-9;
  finding.to = finding.from + starts.back();
  for (const WorkerRun& worker : run.workers) {
    if (worker.process.value < input.trace.processes().size()) {
      finding.pids.push_back(input.trace.processes()[worker.process.value].pid);
    }
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
