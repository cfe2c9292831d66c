// SPDX-License-Identifier: Apache-2.0
//
// The batches in flight do not fit into /dev/shm: sooner or later a worker dies with a bus error.
//
// Threshold: other users of /dev/shm leave less space free than 1.5 times the batches in flight:
// (prefetch + 1) batches for each worker of each rank. The factor 1.5 allows for batches that are
// being replaced. There is no finding if measurements show that batches do not pass through
// /dev/shm (they are pickled).
// Source: docs/diagnosis.md R24; pytorch#5040, #1355; Docker's default is 64 MiB.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/words/findings_memory.h"

namespace penstock::analyzer {
namespace {

// The largest depth, at most the recorded one, whose batches fit into `size` bytes; 0: none.
int DepthThatFits(const RuleInput& input, double size) {
  const LoaderDiagnosis& loader = input.loader();
  for (int depth = input.run().config.prefetch_factor; depth >= 1; --depth) {
    Setting setting = input.Recorded();
    setting.prefetch = depth;
    if (SharedMemoryOf(loader.pipeline, setting, loader.facts) <= size) return depth;
  }
  return 0;
}

}  // namespace

void SharedMemoryTooSmall(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader || input.run().config.sample_tasks) return;
  const LoaderConfig& config = input.run().config;
  const LoaderDiagnosis& loader = input.loader();
  const SharedMemoryUse& use = loader.memory.shared;
  const double batch = BatchBytes(input.run());
  Setting setting = input.Recorded();
  const int ranks = input.diagnosis.run.host.ranks;  // each is assumed to need as much as ours
  const double need = ranks * SharedMemoryOf(loader.pipeline, setting, loader.facts);
  const double others = use.measured ? use.before : 0;
  const auto size = static_cast<double>(input.diagnosis.run.machine().shm_size.value);
  const double left = size - others;
  if (size <= 0 || batch <= 0 || need <= left) return;
  Finding finding;
  finding.id = "shared-memory-too-small";
  finding.severity = need / kSharedMargin > left ? Severity::kCritical : Severity::kWarning;
  finding.seen = Say<words::kSharedMemoryTooSmall>(
      Give<"ranks">(ranks > 1 ? std::optional(ranks) : std::nullopt), Give<"needed_bytes">(need),
      Give<"shm_bytes">(size));
  // As double, because a stranger's trace may contain numbers that overflow an int.
  const double batches = static_cast<double>(ranks) * config.num_workers *
                         (static_cast<double>(config.prefetch_factor) + 1);
  finding.evidence = {{"needed_bytes", need},
                      {"shm_bytes", size},
                      {"used_by_others_bytes", others},
                      {"batch_bytes", batch},
                      {"ranks", static_cast<double>(ranks)},
                      {"batches_on_their_way", batches},
                      {"margin", kSharedMargin},
                      {"most_batches_seen", static_cast<double>(use.most_batches)}};
  if (use.measured) {
    finding.evidence.emplace_back("most_used_bytes", std::max(0.0, use.most - others));
  }
  const int depth = DepthThatFits(input, left / ranks);
  finding.action = Say<words::kMoreSharedMemory>(
      Give<"mebibytes">(std::floor((need + others) / (1024.0 * 1024)) + 1),
      Give<"depth">(depth >= 1 ? std::optional(depth) : std::nullopt));
  const Suggestion& suggestion = loader.suggestion;
  if (suggestion.changes) {
    setting.workers = suggestion.workers;
    setting.prefetch = suggestion.prefetch;
    const double suggested = ranks * SharedMemoryOf(loader.pipeline, setting, loader.facts);
    finding.evidence.emplace_back("needed_bytes_of_suggestion", suggested);
  }
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
