// SPDX-License-Identifier: Apache-2.0
//
// Workers fault memory in for each sample that the allocator gave back to the kernel after the last
// one: glibc above its thresholds, or Pillow's blocks under jemalloc. In the training process
// larger tensors have raised glibc's thresholds for good, so that a profile of it does not show
// this. Threshold: 5 % to gain with the faults that a batch does not need gone, each at what the
// first touch of a page took on the machine (fact host.fault_ns). Source: mallopt(3), Pillow's
// block allocator; ours: OpenCV and 1920x1080, two workers, 2,031 faults a sample against 58 with
// the variables: 7, 8 and 14 % faster in three pairs; Pillow 9.4 under jemalloc 5.3, 4,530 against
// 255: 89 and 141 samples/s.
#include <fmt/core.h>

#include <string>

#include "analyzer/advice/pillow.h"
#include "analyzer/advice/place.h"
#include "analyzer/memory/page_faults.h"
#include "analyzer/words/format.h"

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

std::string Action(const RuleInput& input, const std::string& allocator) {
  if (allocator == "jemalloc" && PillowShareOfDecode(input) > 0.5) {
    return "Start the run with PILLOW_BLOCKS_MAX=16, or without jemalloc: Pillow then keeps the "
           "blocks of its pictures instead of giving each back.";
  }
  if (!allocator.empty()) {
    return fmt::format(
        "{} is loaded: if it serves malloc (LD_PRELOAD), try the run without it, or let it keep "
        "memory that was freed for longer.",
        allocator);
  }
  std::string action =
      "Start the run with MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456: glibc "
      "then keeps the memory of a picture for the next one.";
  if (input.loader().material.decoded_bytes > 32e6) {
    action +=
        " It still maps what is larger than 32 MB anew: keep such arrays and write into them.";
  }
  return action + " Each worker keeps what its largest sample took.";
}

}  // namespace

void AllocatorPageFaults(const RuleInput& input, Findings& out) {
  constexpr double kFew = 64;  // faults a sample, whatever they cost
  if (!input.diagnosis.loader) return;
  const auto cost = FaultCostOf(input.trace);
  if (!cost) return;
  const LoaderDiagnosis& loader = input.loader();
  const auto faults =
      MeasurePageFaults(input.diagnosis.run, input.run(), loader.material, loader.memory, *cost);
  if (!faults || faults->avoidable() < kFew) return;
  Setting setting = input.Recorded();
  for (const Factor part : {Factor::kDecode, Factor::kAugment, Factor::kCollate}) {
    setting.scale.emplace_back(part, 1 - faults->cpu_share);
  }
  Finding finding;
  finding.predicted = input.WithSetting(setting);
  if (finding.predicted->speedup < 1.05) return;
  const std::string allocator = AllocatorOf(input);
  finding.id = "allocator-page-faults";
  finding.severity = Severity::kWarning;
  finding.title = fmt::format(
      "workers take {:.0f} page faults more for each sample than it needs, {:.0f} % of the CPU "
      "time "
      "of making it: memory that was given back after the last one",
      faults->avoidable(), 100 * faults->cpu_share);
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
  out.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
