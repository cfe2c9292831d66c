// SPDX-License-Identifier: Apache-2.0
//
// Memory of the workers grows by copy on write: the reference counts of Python objects that fork
// shared turn their pages private one by one. The sign: private memory rises while anonymous
// memory, private and shared together, does not. Recordings that do not tell the two apart are
// judged by private memory alone. Threshold: memory_forecast.h. Source: docs/diagnosis.md R26;
// pytorch#13246; gc.freeze in the documentation of Python.
#include <fmt/core.h>

#include "analyzer/advice/memory_forecast.h"
#include "analyzer/advice/rules.h"
#include "analyzer/words/format.h"

namespace penstock::analyzer {
namespace {

std::string Action(const RuleInput& input) {
  const MemoryModel& memory = input.loader().memory;
  const LoaderConfig& config = input.run().config;
  std::string text =
      "Keep what the dataset holds in a numpy array, a torch.Tensor or a pyarrow table (strings: "
      "fixed-width bytes, or one buffer and an array of offsets) instead of lists and dictionaries "
      "of Python objects: one reference count for all of it.";
  if (config.num_workers > 1) text += " Fewer workers make fewer copies.";
  text +=
      " gc.freeze() before the loader is made stops the copies that the garbage collector makes, "
      "not those of reference counts.";
  if (memory.attributed && memory.shared_bytes > 0 && config.start_method != "spawn") {
    text += fmt::format(
        " Start method spawn or forkserver: no growth, but each worker has a copy of the dataset "
        "from the start ({} are still shared).",
        BytesText(memory.shared_bytes));
  }
  if (config.persistent_workers) {
    text +=
        " persistent_workers=False gives the copies back at the end of every epoch, for a start of "
        "all workers each time.";
  }
  return text + ForecastText(input);
}

}  // namespace

void WorkerMemoryGrowth(const RuleInput& input, Findings& out) {
  if (!input.diagnosis.loader) return;
  const MemoryModel& memory = input.loader().memory;
  const Growth& growth = memory.growth.copied;
  if (!WorthTelling(input, growth)) return;
  Finding finding;
  finding.id = "worker-memory-growth";
  DescribeGrowth(input, growth, finding);
  const int workers = std::max(1, memory.worker_count);
  const double a_minute = 60 * growth.per_second.estimate * workers;
  finding.title = fmt::format(
      "Memory of {} grows by {} a minute in all{}", CountedText(workers, "worker"),
      BytesText(a_minute),
      memory.attributed ? ", by copy on write of what is shared with the parent process" : "");
  finding.evidence.emplace_back(
      "kind", std::string(memory.attributed ? "copy on write" : "not told apart from a leak"));
  finding.evidence.emplace_back("new_bytes_per_s",
                                memory.growth.fresh.per_second.estimate * workers);
  finding.action = Action(input);
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
