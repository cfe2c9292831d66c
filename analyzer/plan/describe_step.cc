// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/describe_step.h"

#include <cmath>
#include <string>

#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr int kUsualPrefetch = 2;   // PyTorch's default
constexpr double kSameRam = 0.005;  // a smaller difference does not show in three digits

bool IsPyTorch(const Diagnosis& diagnosis) {
  return diagnosis.run.loader().config.kind == "pytorch";
}

}  // namespace

void DescribeLever(const Lever& lever, PlanStep& step) {
  step.id = lever.id;
  step.change = lever.change;
  step.risk = lever.risk;
  step.notes = lever.notes;
  step.cost.lines = lever.lines;
  step.cost.disk = lever.disk;
}

void DescribeWorkers(const Diagnosis& diagnosis, const Combination& now, const Combination& end,
                     PlanStep& step) {
  // Without workers there is no depth yet, so this step sets it too.
  const bool sets_depth = now.workers == 0 && end.prefetch != kUsualPrefetch;
  step.id = "num_workers";
  step.value = std::to_string(end.workers);
  step.cost.lines = 1;
  step.change = Say<words::kPlanWorkers>(Give<"torch">(IsPyTorch(diagnosis)),
                                         Give<"to">(end.workers), Give<"from">(now.workers),
                                         GiveIf<"prefetch">(sets_depth, end.prefetch));
  step.risk = NoteOnWorkers(diagnosis.loader->sharding, now.workers, end.workers);
}

void DescribePrefetch(const Diagnosis& diagnosis, const Combination& now, const Combination& end,
                      PlanStep& step) {
  // With sample threads, the depth of a loader model also counts the batch that the loop holds.
  const int extra = diagnosis.loader->pipeline.sample_tasks ? 1 : 0;
  step.id = "prefetch_factor";
  step.value = std::to_string(end.prefetch - extra);
  step.cost.lines = 1;
  step.change = Say<words::kPlanPrefetch>(Give<"torch">(IsPyTorch(diagnosis)),
                                          Give<"to">(end.prefetch - extra),
                                          Give<"from">(now.prefetch - extra));
}

void DescribeNeeds(const LoaderDiagnosis& loader, const PlanCost& before, PlanStep& step) {
  PlanCost& cost = step.cost;
  cost.ram = step.predicted.ram;
  cost.workers = step.setting.workers;
  cost.batches_alone = cost.workers > 0 && !(loader.facts.worker_bytes > 0);
  cost.rough = cost.workers > 0 && loader.facts.read.few();
  cost.cached = before.cached || step.id == "ram_cache";
  cost.other_workers = cost.workers != before.workers;
  cost.ram_before = before.ram;
  const auto ram = static_cast<double>(before.ram);
  cost.other_ram = std::abs(static_cast<double>(cost.ram) - ram) > kSameRam * ram;
}

}  // namespace penstock::analyzer
