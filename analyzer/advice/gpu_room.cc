// SPDX-License-Identifier: Apache-2.0
//
// A trace does not tell how long the GPU needs for a stage. If the sizes of pictures are known, the
// gain is predicted with the figures of predict/device_costs.h. The longest time on the GPU with
// which the move still gains 10 % is computed as well.
#include "analyzer/advice/gpu_room.h"

#include <algorithm>
#include <optional>

#include "analyzer/advice/place.h"
#include "analyzer/predict/changes.h"
#include "analyzer/words/assumptions.h"
#include "analyzer/words/findings_gpu.h"

namespace penstock::analyzer {
namespace {

constexpr double kFull = 0.8;
constexpr double kWorthIt = 1.1;
constexpr double kBusyDevice = 0.9;  // docs/diagnosis.md R33

// Predicts `move` with the time that the device needs. Leaves `move` unchanged if that time is not
// known.
void AddDeviceTime(const RuleInput& input, traces::StageId stage, GpuMove& move) {
  const LoaderDiagnosis& loader = input.loader();
  const DeviceCosts costs = BuiltInDeviceCosts(loader.material.gpu);
  Changes changes;
  changes.gpu_augment = true;  // transforms move in both cases
  changes.gpu_decode = stage == traces::StageId::kDecode;
  const auto changed = ApplyChanges(loader.pipeline, loader.facts, loader.material, changes, costs);
  if (!changed) return;
  const double megapixels = loader.material.megapixels();
  move.device = megapixels * costs.augment.ms_per_megapixel * 1e-3;
  move.source = costs.augment.source;
  if (changes.gpu_decode) {
    move.device += megapixels * costs.decode.ms_per_megapixel * 1e-3;
    move.source = Say<words::kTwoSources>(Give<"one">(costs.decode.source),
                                          Give<"next">(costs.augment.source));
  }
  move.predicted = Predict(loader.pipeline, changed->pipeline, loader.replay);
}

}  // namespace

bool CoresAreFull(const RuleInput& input) {
  const CpuLoad& cpu = input.loader().cpu;
  return cpu.known && (cpu.crowded || cpu.saturation() >= kFull);
}

std::optional<GpuMove> MoveToGpu(const RuleInput& input, traces::StageId stage, Factor factor) {
  if (!input.diagnosis.loader || !input.HasGpu()) return std::nullopt;
  const LoaderDiagnosis& loader = input.loader();
  const double rate = input.diagnosis.batch_rate;
  if (!CoresAreFull(input) || loader.cpu.crowded) return std::nullopt;
  if (input.diagnosis.wait_fraction < 0.05 || rate <= 0) return std::nullopt;
  GpuMove move;
  if (loader.device.kernels) {
    move.kernel_share = loader.device.Share(loader.device.computing);
    if (move.kernel_share >= kBusyDevice) return std::nullopt;
  }
  move.predicted = input.Without(factor);
  if (move.predicted.speedup < kWorthIt) return std::nullopt;
  AddDeviceTime(input, stage, move);
  const double now = loader.steady.rate.estimate;
  if (move.predicted.speedup < kWorthIt || move.predicted.rate.low <= now) return std::nullopt;
  move.share = input.ShareOfFetch(stage);
  move.cpu = loader.cpu.saturation();
  const StageTotals& totals = input.diagnosis.run.stages[stage];
  const double samples = input.diagnosis.run.samples();
  if (totals.cpu_known() && samples > 0) move.seconds_per_core = Seconds(totals.cpu) / samples;
  // The step and the stage take turns on the device. For a gain of 10 % both together must fit
  // into the time from one batch to the next, divided by 1.1.
  const double interval = 1 / rate;
  const double step = loader.device.kernels
                          ? interval * loader.device.Share(loader.device.computing)
                          : interval * (1 - input.diagnosis.wait_fraction);
  const auto batch = static_cast<double>(std::max<std::uint64_t>(1, input.run().samples_per_batch));
  move.break_even = (interval / kWorthIt - step) / batch;
  move.batch_bytes = loader.material.decoded_bytes * batch;
  if (move.break_even <= 0) return std::nullopt;
  return move;
}

void Describe(const RuleInput& input, const GpuMove& move, Finding& finding) {
  finding.severity = Severity::kWarning;
  finding.predicted = move.predicted;
  finding.evidence = {{"stage_share", move.share},
                      {"cpu_saturation", move.cpu},
                      {"threshold_saturation", kFull},
                      {"cpu_s_per_sample", move.seconds_per_core},
                      {"gpu_s_per_sample_at_most", move.break_even}};
  if (move.kernel_share >= 0) finding.evidence.emplace_back("kernel_share", move.kernel_share);
  if (move.device >= 0) {
    finding.evidence.emplace_back("gpu_s_per_sample", move.device);
    finding.evidence.emplace_back("gpu_figure", English(move.source));
  }
  if (move.batch_bytes > 0) {
    finding.evidence.emplace_back("gpu_bytes_of_a_batch", move.batch_bytes);
  }
  PlaceInWorkers(input, finding);
}

Statement PaysWhile(const RuleInput& input, const GpuMove& move) {
  const bool known = move.device >= 0;
  const std::string device = BuiltInDeviceCosts(input.loader().material.gpu).device;
  return Say<words::kPaysWhile>(Give<"predicted">(true), Give<"break_even_s">(move.break_even),
                                Give<"device">(known ? std::optional(device) : std::nullopt),
                                Give<"device_s">(std::optional(move.device)));
}

}  // namespace penstock::analyzer
