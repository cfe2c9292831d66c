// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/loop_rate.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/model/loop_use.h"

namespace penstock::gui {

using analyzer::Batch;

void LoopRate::Shift(double seconds) {
  rate.from += seconds;
  wait.from += seconds;
  if (change) change->at += seconds;
}

LoopRate BuildLoopRate(const analyzer::Report& report) {
  constexpr std::size_t kLeast = 8;   // batches
  constexpr std::size_t kInABin = 4;  // batches
  constexpr std::size_t kMostBins = 120;
  const analyzer::Diagnosis& diagnosis = report.diagnosis;
  LoopRate loop;
  if (!diagnosis.run.has_loader()) return loop;
  const analyzer::LoaderRun& run = diagnosis.run.loader();
  const auto counts = [](const Batch& batch) { return batch.was_delivered(); };
  const auto batches =
      static_cast<std::size_t>(std::count_if(run.batches.begin(), run.batches.end(), counts));
  if (batches < kLeast || !(report.duration > 0)) return loop;
  const std::size_t bins = std::clamp(batches / kInABin, std::size_t{1}, kMostBins);
  loop.rate = loop.wait = Series(0, report.duration, bins);
  const double samples =
      run.samples_known ? static_cast<double>(std::max<std::uint64_t>(run.samples_per_batch, 1))
                        : 1;
  const auto seconds = [&](std::int64_t at) {
    return static_cast<double>(at - diagnosis.run.begin.value) * 1e-9;
  };
  for (const Batch& batch : run.batches) {
    if (!counts(batch)) continue;
    const double asked = seconds(batch.wait_start);
    const double end = seconds(std::max(batch.step_end, batch.delivered));
    loop.rate.Spread(asked, end, samples);
    loop.wait.Spread(asked, seconds(batch.delivered), seconds(batch.delivered) - asked);
  }
  for (const analyzer::LoaderRun* other : analyzer::DrainedWith(diagnosis.run, run)) {
    for (const Batch& batch : other->batches) {
      const double asked = seconds(batch.wait_start);
      loop.wait.Spread(asked, seconds(batch.delivered), seconds(batch.delivered) - asked);
    }
  }
  loop.rate.Divide(loop.rate.width);
  loop.wait.Divide(loop.wait.width);
  if (const auto& change = diagnosis.loader ? diagnosis.loader->steady.change : std::nullopt) {
    loop.change = LoopRate::Change{seconds(change->at), change->before, change->after};
  }
  return loop;
}

}  // namespace penstock::gui
