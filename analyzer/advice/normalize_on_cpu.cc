// SPDX-License-Identifier: Apache-2.0
//
// Workers turn pixels into floating point: four times as many bytes in collate, handover and copy.
//
// Threshold: such transforms take 10 % of the fetches (docs/diagnosis.md R17, ours), with a gain of
// 1 %. Or there are such transforms, most of a batch is floating point, and uint8 gains 5 %.
// Prediction: if most of a batch is known to be floating point, pixels stay uint8 up to the device,
// and the device converts them; without a device, the training loop does (predict/changes.h,
// --transfer u8). Otherwise the prediction is the run without the time of the transforms, which is
// the most that is possible if no device takes them.
// Source: docs/diagnosis.md R17; sleap-nn#406 (14.9 -> 1.0 ms), l5kit#222 (77.9 -> 49.9 ms a
//         sample).
#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/advice/place.h"
#include "analyzer/predict/changes.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {
namespace {

constexpr double kShare = 0.1;

bool Converts(std::string_view transform) {
  // The reference loader does several operations at once. The time of one of them is not known.
  return transform.find('+') == std::string_view::npos && MakesFloats(transform);
}

// The run with uint8 up to the device; nullopt if the trace lacks something that this needs.
std::optional<Prediction> AsBytes(const RuleInput& input, const DeviceCosts& costs) {
  const LoaderDiagnosis& loader = input.loader();
  Changes changes;
  changes.transfer = "u8";
  const auto changed = ApplyChanges(loader.pipeline, loader.facts, loader.material, changes, costs);
  if (!changed) return std::nullopt;
  Prediction prediction = Predict(loader.pipeline, changed->pipeline, loader.replay);
  prediction.ram = RamOf(changed->pipeline, input.Recorded(), changed->facts);
  return prediction;
}

}  // namespace

void NormalizeOnCpu(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  const StageTotals& augment = input.diagnosis.run.stages[traces::StageId::kAugment];
  const double whole = input.diagnosis.run.stages.DataTime();
  double time = 0;
  std::string names;
  for (const auto& [name, part] : augment.children) {
    const std::string_view text = input.trace.String(name);
    if (!Converts(text)) continue;
    time += Seconds(part.wall);
    names += (names.empty() ? "" : ", ") + std::string(text);
  }
  if (names.empty()) return;
  const double share = whole > 0 ? time / whole : 0;
  const Material& material = input.loader().material;
  const double batch = material.batch_bytes();  // 0: the types of a batch are not known
  const double floating = batch > 0 ? (material.f32 + material.f16) / batch : 0;
  const double augmenting = Seconds(augment.wall);
  const DeviceCosts costs = BuiltInDeviceCosts(material.gpu);
  const auto bytes = floating > 0.5 ? AsBytes(input, costs) : std::nullopt;
  if (share < kShare && !(bytes && bytes->speedup >= 1.05)) return;
  Finding finding;
  finding.id = "normalize-on-cpu";
  finding.predicted =
      bytes ? *bytes
            : input.WithScaled(Factor::kAugment,
                               augmenting > 0 ? std::max(0.0, 1 - time / augmenting) : 1);
  if (!bytes && !material.device) finding.predicted->at_most = true;
  if (finding.predicted->speedup < 1.01) return;  // nothing waits for these transforms
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kNormalizeOnCpu>(
      Give<"share_of_fetch">(share),
      Give<"floating_share_of_batch">(batch > 0 ? std::optional(floating) : std::nullopt));
  finding.evidence = {{"share_of_fetch", share}, {"threshold", kShare}, {"transforms", names}};
  if (batch > 0) {
    finding.evidence.emplace_back("floating_share_of_batch", floating);
    finding.evidence.emplace_back("batch_bytes", batch);
  }
  if (bytes && material.device) {
    finding.evidence.emplace_back("gpu_figure", English(costs.convert.source));
  }
  finding.action = Say<words::kNormalizeOnGpu>(Give<"device">(material.device));
  PlaceInWorkers(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
