// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diagnosis/whole_run.h"

#include <algorithm>
#include <cstdint>

#include "analyzer/model/interval_set.h"
#include "analyzer/model/loop_use.h"
#include "analyzer/model/steady.h"

namespace penstock::analyzer {
namespace {

// Seconds in which the loop takes batches of other loaders: their epochs between the first and the
// last batch of `run`, from the start of their workers. Other loaders may be used together, so
// their epochs may overlap.
double TimeOfOthers(const RunModel& model, const LoaderRun& run) {
  if (run.use != LoopUse::kInTurn) return 0;
  IntervalSet times;
  for (const LoaderRun& other : model.loaders) {
    if (&other == &run || other.config.consumer != run.config.consumer) continue;
    for (const Epoch& epoch : other.epochs) {
      const Batch& first = other.batches[epoch.first];
      const Batch& last = other.batches[epoch.first + epoch.count - 1];
      const std::int64_t start =
          epoch.start != kNever ? std::min(first.wait_start, epoch.start) : first.wait_start;
      if (start < run.batches.front().wait_start || last.delivered > run.batches.back().delivered) {
        continue;
      }
      times.emplace_back(start, std::max(last.delivered, last.step_end));
    }
  }
  Normalise(times);
  return Length(times);
}

}  // namespace

double WholeRate(const RunModel& model, const LoaderRun& run) {
  if (run.batches.size() < 2) return 0;
  double samples = 0;
  for (const Batch& batch : run.batches) samples += SamplesOf(run, batch);
  std::int64_t first = run.batches.front().wait_start;
  std::int64_t last = kNever;
  for (const Epoch& epoch : run.epochs) {
    if (epoch.start != kNever) first = std::min(first, epoch.start);
  }
  for (const Batch& batch : run.batches) last = std::max({last, batch.delivered, batch.step_end});
  const auto& final_batch =
      *std::max_element(run.batches.begin(), run.batches.end(),
                        [](const Batch& a, const Batch& b) { return a.delivered < b.delivered; });
  if (final_batch.step_end == kNever) samples -= SamplesOf(run, final_batch);
  const double time = static_cast<double>(last - first) * 1e-9 - TimeOfOthers(model, run);
  return time > 0 ? samples / time : 0;
}

double WholeWait(const RunModel& model, const LoaderRun& run) {
  double wait = WaitForOthers(model, run, nullptr);
  double all = 0;
  for (const Batch& batch : run.batches) {
    if (!batch.was_delivered()) continue;
    wait += batch.wait();
    all += batch.wait() + batch.step();
  }
  for (const Epoch& epoch : run.epochs) {
    wait += epoch.stop;
    all += epoch.stop;
  }
  return all > 0 ? std::clamp(wait / all, 0.0, 1.0) : 0;
}

}  // namespace penstock::analyzer
