// SPDX-License-Identifier: Apache-2.0
//
// Cores count as full from 80 % (diagnosis.md R4's limit for free cores). What the GPU needs for
// the stage is not in a trace and not guessed: the most it may need is computed instead.
#include "analyzer/advice/gpu_room.h"

#include <algorithm>

#include <fmt/core.h>

namespace penstock::analyzer {

std::optional<GpuMove> MoveToGpu(const RuleInput& input, traces::StageId stage, Factor factor) {
  constexpr double kFull = 0.8;
  constexpr double kWorthIt = 1.1;
  if (!input.diagnosis.loader || !input.HasGpu()) return std::nullopt;
  const LoaderDiagnosis& loader = input.loader();
  const double rate = input.diagnosis.batch_rate;
  if (!loader.cpu.known || loader.cpu.crowded || loader.cpu.saturation() < kFull) {
    return std::nullopt;
  }
  if (input.diagnosis.wait_fraction < 0.05 || rate <= 0) return std::nullopt;
  GpuMove move;
  move.predicted = input.Without(factor);
  if (move.predicted.speedup < kWorthIt) return std::nullopt;
  move.share = input.ShareOfFetch(stage);
  move.cpu = loader.cpu.saturation();
  const StageTotals& totals = input.diagnosis.run.stages[stage];
  const auto samples =
      static_cast<double>(input.diagnosis.run.stages[traces::StageId::kSample].count);
  if (totals.cpu_known() && samples > 0) move.seconds_per_core = Seconds(totals.cpu) / samples;
  // The step and the stage take turns on the device; together they must beat today's interval.
  const double interval = 1 / rate;
  const double step = interval * (1 - input.diagnosis.wait_fraction);
  const auto batch = static_cast<double>(std::max<std::uint64_t>(1, input.run().samples_per_batch));
  move.break_even = (interval / kWorthIt - step) / batch;
  if (move.break_even <= 0) return std::nullopt;
  return move;
}

void Describe(const GpuMove& move, Finding& finding) {
  finding.severity = Severity::kWarning;
  finding.predicted = move.predicted;
  finding.evidence = {{"stage_share", move.share},
                      {"cpu_saturation", move.cpu},
                      {"threshold_saturation", 0.8},
                      {"cpu_s_per_sample", move.seconds_per_core},
                      {"gpu_s_per_sample_at_most", move.break_even}};
  finding.action += fmt::format(
      " It pays while the GPU needs less than {:.2f} ms a sample for it; the prediction leaves "
      "that "
      "time out.",
      1e3 * move.break_even);
}

}  // namespace penstock::analyzer
