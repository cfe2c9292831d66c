// SPDX-License-Identifier: Apache-2.0
//
// Batches on their way do not fit into /dev/shm: workers die with a bus error sooner or later.
// Threshold: (prefetch + 1) batches per worker, half as much again for what is being replaced.
// Source: diagnosis.md R24; pytorch#5040, #1355; Docker's default is 64 MiB.
#include <fmt/core.h>

#include "analyzer/advice/rules.h"

namespace penstock::analyzer {

void SharedMemoryTooSmall(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader || input.run().config.sample_tasks) return;
  const LoaderConfig& config = input.run().config;
  const auto size = static_cast<double>(input.diagnosis.run.machine().shm_size.value);
  const double batch = BatchBytes(input.run());
  const int ranks = input.diagnosis.run.host.ranks;  // the others are taken to be like this one
  const double batches =
      static_cast<double>(ranks) * config.num_workers * (config.prefetch_factor + 1);
  const double need = 1.5 * batch * batches;
  if (size <= 0 || batch <= 0 || config.num_workers == 0 || need <= size) return;
  Finding finding;
  finding.id = "shared-memory-too-small";
  finding.severity = need / 1.5 > size ? Severity::kCritical : Severity::kWarning;
  finding.title =
      fmt::format("batches on their way may need {:.0f} MB of /dev/shm, which has {:.0f}",
                  need / 1e6, size / 1e6);
  if (ranks > 1) finding.title = fmt::format("of {} ranks, {}", ranks, finding.title);
  finding.evidence = {{"needed_bytes", need},
                      {"shm_bytes", size},
                      {"batch_bytes", batch},
                      {"ranks", static_cast<double>(ranks)},
                      {"batches_on_their_way", batches}};
  finding.action =
      "Give the container more shared memory (docker run --shm-size or --ipc=host), or lower "
      "num_workers or prefetch_factor.";
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
