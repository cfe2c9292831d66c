// SPDX-License-Identifier: Apache-2.0
//
// Batches are copied to the device from memory that is not pinned. The driver stages them, and the
// loop stands still until earlier work of the stream is done.
//
// Threshold: such copies take 3 % of the loop (docs/diagnosis.md R31). If transfers were recorded
// on the device, only the time counts in which nothing else ran beside them, because the call
// itself mostly waits. Otherwise the time of the calls counts. A copy is pageable if the name of
// its span says so, or if the loader does not pin and the program was not seen to pin.
// Prediction: these transfers run at 80 % of the speed of the link, which pinned memory reaches
// (docs/diagnosis.md 3.10). The high end of the interval assumes that nothing waits for these
// transfers. If the speed of the link is not known, or transfers were not recorded on the device,
// the high end alone is predicted.
// Source: docs/diagnosis.md R31; CUDA's API synchronisation rules; nsys' cuda_memcpy_async.
#include <algorithm>

#include "analyzer/advice/place.h"
#include "analyzer/model/gpu_counters.h"
#include "analyzer/words/findings_gpu.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

constexpr double kNotableShare = 0.03;
constexpr double kOfLink = 0.8;

// The copies that count as pageable; nullptr: there are none.
const CopyTotals* PageableOf(const RuleInput& input) {
  const CopyTotals* unknown = nullptr;
  bool named = false;
  for (const CopyTotals& copies : input.loader().device.copies) {
    if (copies.memory == CopyMemory::kPageable) return &copies;
    if (copies.memory == CopyMemory::kUnknown) unknown = &copies;
    named = named || copies.memory == CopyMemory::kPinned;
  }
  const LoaderRun& run = input.run();
  const bool pins = run.config.pin_memory || run.inferred ||
                    input.diagnosis.run.stages[traces::StageId::kPin].count > 0;
  return named || pins ? nullptr : unknown;
}

// Seconds of `copies` that count; see the threshold above.
double TimeThatCounts(const DeviceActivity& device, const CopyTotals& copies) {
  return device.on_device ? copies.alone : copies.blocked;
}

// The setting under which `copies` take `scale` times as long. Copies from other memory stay as
// they are.
Setting WithCopies(const RuleInput& input, const CopyTotals& copies, double scale) {
  const DeviceActivity& device = input.loader().device;
  double all = 0;
  for (const CopyTotals& one : device.copies) all += TimeThatCounts(device, one);
  const double part = all > 0 ? TimeThatCounts(device, copies) / all : 1;
  Setting setting = input.Recorded();
  setting.pin = true;
  setting.scale = {{Factor::kH2d, part * scale + (1 - part)}};
  return setting;
}

}  // namespace

void PageableCopies(const RuleInput& input, Advice& out) {
  if (!input.diagnosis.loader) return;
  if (input.diagnosis.run.device.copies.empty()) {
    out.Needs("pageable-copies", Say<words::kRuleNeedsCopies>());
  }
  const DeviceActivity& device = input.loader().device;
  const CopyTotals* copies = PageableOf(input);
  if (copies == nullptr || device.window <= 0) return;
  const double share = device.Share(TimeThatCounts(device, *copies));
  if (share < kNotableShare) return;
  const double link = UsedLink(ReadGpuCounters(input.trace, input.diagnosis.run));
  Finding finding;
  finding.predicted = input.WithSetting(WithCopies(input, *copies, 0));
  const bool bounded = device.on_device && link > 0 && copies->rate() > 0;
  if (bounded) {
    const Prediction most = *finding.predicted;
    const double scale = std::min(1.0, copies->rate() / (kOfLink * link));
    finding.setting = WithCopies(input, *copies, scale);
    finding.predicted = input.WithSetting(*finding.setting);
    finding.predicted->rate.high = std::max(finding.predicted->rate.high, most.rate.high);
  }
  finding.id = "pageable-copies";
  finding.severity = finding.predicted->speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
  finding.seen = Say<words::kPageableCopies>(Give<"copy_share">(share));
  const auto count = static_cast<double>(copies->count);
  finding.evidence = {{"copy_share", share},
                      {"threshold", kNotableShare},
                      {"copies", count},
                      {"bytes_per_copy", static_cast<double>(copies->bytes) / count},
                      {"kind", English(Say<words::kPageableKnown>(
                                   Give<"recorded">(copies->memory == CopyMemory::kPageable)))},
                      {"ram_bytes", static_cast<double>(finding.predicted->ram)}};
  if (device.on_device) {
    finding.evidence.emplace_back("transfer_s_per_copy", copies->transfer / count);
    finding.evidence.emplace_back("exposed_s_per_copy", copies->exposed / count);
    finding.evidence.emplace_back("bytes_per_s", copies->rate());
  }
  if (copies->called > 0) {
    const auto called = static_cast<double>(copies->called);
    finding.evidence.emplace_back("host_blocked_s_per_copy", copies->blocked / called);
    finding.evidence.emplace_back("of_it_behind_kernels_s", copies->behind / called);
  }
  if (link > 0) finding.evidence.emplace_back("link_bytes_per_s", link);
  finding.action = Say<words::kPinMemory>(Give<"own">(input.run().config.kind == "penstock"),
                                          Give<"predicted">(true), Give<"bounded">(bounded));

  PlaceInLoop(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
