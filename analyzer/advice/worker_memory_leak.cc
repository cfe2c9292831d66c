// SPDX-License-Identifier: Apache-2.0
//
// Workers take memory and keep it: a leak, or a cache without a bound. The sign: anonymous memory
// rises, in memory or swapped out, and the rise does not slow down. Threshold: memory_forecast.h;
// growth that settles is a cache that fills or an allocator that warms up, and is not told.
// Source: proc(5), smaps_rollup; ours.
#include <fmt/core.h>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/advice/rules.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {

void WorkerMemoryLeak(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const MemoryModel& memory = input.loader().memory;
  const Growth& growth = memory.growth.fresh;
  if (!memory.attributed || growth.settles > 0 || !WorthTelling(input, growth)) return;
  Finding finding;
  finding.id = "worker-memory-leak";
  DescribeGrowth(input, growth, finding);
  const int workers = std::max(1, memory.worker_count);
  finding.title = fmt::format(
      "Memory of {} grows by {} a minute in all, which is kept: a leak, or a cache without a bound",
      CountedText(workers, "worker"), BytesText(60 * growth.per_second.estimate * workers));
  finding.evidence.emplace_back("kind", std::string("new memory"));
  finding.evidence.emplace_back("copied_bytes_per_s",
                                memory.growth.copied.per_second.estimate * workers);
  finding.action =
      "Look for what the dataset, its transforms or collate_fn keep from sample to sample: lists "
      "that are appended to, caches without a bound (functools.lru_cache(maxsize=None)), open "
      "files, exceptions with their frames; tracemalloc in a worker names the line.";
  finding.action +=
      input.run().config.persistent_workers
          ? " Until it is found, persistent_workers=False gives it back at the end of every epoch."
          : " Until it is found, shorter epochs give it back sooner: these workers end with "
            "theirs.";
  finding.action += ForecastText(input);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
