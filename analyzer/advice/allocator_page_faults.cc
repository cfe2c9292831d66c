// SPDX-License-Identifier: Apache-2.0
//
// After each sample the allocator gives memory back to the kernel, and workers fault it in again
// for the next sample. glibc gives back memory beyond its thresholds. jemalloc gives back the
// blocks of Pillow. In the training process larger tensors have raised glibc's thresholds for good,
// so a profile of that process shows no such faults.
//
// Threshold: 64 avoidable faults per sample, and a gain of 5 % without them. The rule assumes that
// each fault costs as much as the first touch of a page on that machine (fact host.fault_ns).
// Source: mallopt(3), Pillow's block allocator; ours: with the variables of words::kKeepMemory,
//         OpenCV on 1920x1080 with two workers went from 2,031 to 58 faults per sample and was 7, 8
//         and 14 % faster in three pairs; Pillow 9.4 under jemalloc 5.3 went from 4,530 to 255
//         faults, and from 89 to 141 samples/s.
#include <optional>
#include <string>

#include "analyzer/advice/pillow.h"
#include "analyzer/advice/place.h"
#include "analyzer/memory/page_faults.h"
#include "analyzer/words/findings_memory.h"
#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {
namespace {

std::string AllocatorOf(const RuleInput& input) {
  const auto& processes = input.trace.processes();
  for (const WorkerRun& worker : input.run().workers) {
    if (worker.process.value >= processes.size()) continue;
    std::string name = TextFact(processes[worker.process.value].facts, "allocator");
    if (!name.empty()) return name;
  }
  return "";
}

Statement Action(const RuleInput& input, const std::string& allocator) {
  const bool pillow = allocator == "jemalloc" && PillowShareOfDecode(input) > 0.5;
  return Say<words::kKeepMemory>(
      Give<"pillow">(pillow),
      Give<"allocator">(allocator.empty() ? std::nullopt : std::optional(allocator)),
      Give<"large">(input.loader().material.decoded_bytes > 32e6));
}

Statement Lacking(const RuleInput& input, bool cost, bool measured) {
  if (!input.HasWorkerProcesses()) return {};
  if (!input.HasCounter("minor_faults") || !cost) return Say<words::kRuleNeedsFaults>();
  if (input.diagnosis.run.mapped) return Say<words::kRuleNeedsUnmapped>();
  return measured ? Statement{} : Say<words::kRuleNeedsBatches>();
}

}  // namespace

void AllocatorPageFaults(const RuleInput& input, Advice& out) {
  constexpr double kFewest = 64;  // faults per sample; fewer are no finding, whatever they cost
  if (!input.diagnosis.loader) return;
  const auto cost = FaultCostOf(input.trace);
  const LoaderDiagnosis& loader = input.loader();
  std::optional<PageFaults> faults;
  if (cost) {
    faults =
        MeasurePageFaults(input.diagnosis.run, input.run(), loader.material, loader.memory, *cost);
  }
  out.Needs("allocator-page-faults", Lacking(input, cost.has_value(), faults.has_value()));
  if (!faults || faults->avoidable() < kFewest) return;
  Setting setting = input.Recorded();
  for (const Factor part :
       {Factor::kDecode, Factor::kAugment, Factor::kTokenize, Factor::kCollate}) {
    setting.scale.emplace_back(part, 1 - faults->cpu_share);
  }
  Finding finding;
  finding.predicted = input.WithSetting(setting);
  finding.setting = setting;
  if (finding.predicted->speedup < 1.05) return;
  const std::string allocator = AllocatorOf(input);
  finding.id = "allocator-page-faults";
  finding.severity = Severity::kWarning;
  finding.seen = Say<words::kAllocatorPageFaults>(Give<"avoidable_per_sample">(faults->avoidable()),
                                                  Give<"cpu_share">(faults->cpu_share));
  finding.evidence = {{"faults_per_sample", faults->per_sample},
                      {"needed_per_sample", faults->needed},
                      {"avoidable_per_sample", faults->avoidable()},
                      {"fault_s", cost->seconds},
                      {"cpu_share", faults->cpu_share},
                      {"batches", static_cast<double>(faults->batches)},
                      {"allocator", allocator.empty() ? std::string("libc") : allocator},
                      {"threshold_gain", 0.05}};
  finding.action = Action(input, allocator);
  PlaceInWorkers(input, finding);
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
