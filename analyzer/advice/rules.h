// SPDX-License-Identifier: Apache-2.0
//
// The rules: each looks at a diagnosis and reports at most one finding. One file per rule; a new
// rule is a function here, a file, and a line in rules.cc. Pure; a rule that does not apply or
// lacks its facts says nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/advice/finding.h"
#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/predict/scenario.h"
#include "traces/trace.h"

namespace penstock::analyzer {

struct RuleInput {
  const traces::Trace& trace;
  const Diagnosis& diagnosis;

  // Requires for both: diagnosis.loader.
  [[nodiscard]] const LoaderRun& run() const { return diagnosis.run.loader(); }
  [[nodiscard]] const LoaderDiagnosis& loader() const { return *diagnosis.loader; }
  // Predicted effect of another number of workers and depth.
  [[nodiscard]] Prediction With(int workers, int prefetch) const;
  // Predicted effect of making a factor free: the most that can be had from it.
  [[nodiscard]] Prediction Without(Factor factor) const;
  // Predicted effect of one part of every batch taking `scale` times as long.
  [[nodiscard]] Prediction WithScaled(Factor part, double scale) const;
  // Predicted effect of any other setting, with the memory it takes.
  [[nodiscard]] Prediction WithSetting(const Setting& setting) const;
  // The recorded number of workers and depth, to be varied.
  [[nodiscard]] Setting Recorded() const;
  // Time of a stage over the workers' time in data (StageTable::DataTime).
  [[nodiscard]] double ShareOfFetch(traces::StageId stage) const;
  // Bytes read in one pass over the dataset, by its fact, by what a sample takes, or by epochs that
  // were seen to end; 0: not known.
  [[nodiscard]] double DatasetBytes() const;
  // The trace shows that there is a GPU to work for.
  [[nodiscard]] bool HasGpu() const;
};

using Findings = std::vector<Finding>;
using Rule = void (*)(const RuleInput& input, Findings& out);

void AllocatorPageFaults(const RuleInput& input, Findings& out);
void ColdCache(const RuleInput& input, Findings& out);
void CollateSlow(const RuleInput& input, Findings& out);
void ComputeBound(const RuleInput& input, Findings& out);
void CopiesNotOverlapped(const RuleInput& input, Findings& out);
void CpuOversubscribed(const RuleInput& input, Findings& out);
void CpuQuotaOrAffinity(const RuleInput& input, Findings& out);
void CpuSaturated(const RuleInput& input, Findings& out);
void DecodeLargerThanNeeded(const RuleInput& input, Findings& out);
void FitsInRam(const RuleInput& input, Findings& out);
void IdleWorkers(const RuleInput& input, Findings& out);
void KernelLaunchBound(const RuleInput& input, Findings& out);
void MoveAugmentToGpu(const RuleInput& input, Findings& out);
void MoveDecodeToGpu(const RuleInput& input, Findings& out);
void NoWorkerProcesses(const RuleInput& input, Findings& out);
void NormalizeOnCpu(const RuleInput& input, Findings& out);
void PageableCopies(const RuleInput& input, Findings& out);
void PinThreadBehind(const RuleInput& input, Findings& out);
void PrefetchTooShallow(const RuleInput& input, Findings& out);
void PreprocessingOnBusyGpu(const RuleInput& input, Findings& out);
void RankImbalance(const RuleInput& input, Findings& out);
void RanksExceedHost(const RuleInput& input, Findings& out);
void RepeatedWork(const RuleInput& input, Findings& out);
void SerialisedReads(const RuleInput& input, Findings& out);
void SharedMemoryTooSmall(const RuleInput& input, Findings& out);
void SlowDecoder(const RuleInput& input, Findings& out);
void SlowFirstBatch(const RuleInput& input, Findings& out);
void SlowStorage(const RuleInput& input, Findings& out);
void SlowWorkerStart(const RuleInput& input, Findings& out);
void SmallFiles(const RuleInput& input, Findings& out);
void Stragglers(const RuleInput& input, Findings& out);
void TooFewWorkers(const RuleInput& input, Findings& out);
void TooManyDescriptors(const RuleInput& input, Findings& out);
void TooManyWorkers(const RuleInput& input, Findings& out);
void TrainerStarved(const RuleInput& input, Findings& out);
void TransferCeiling(const RuleInput& input, Findings& out);
void WideLabels(const RuleInput& input, Findings& out);
void WorkerMemoryGrowth(const RuleInput& input, Findings& out);
void WorkerMemoryLeak(const RuleInput& input, Findings& out);
void WorkersRestartEachEpoch(const RuleInput& input, Findings& out);

// All rules, most severe findings first, then by predicted gain.
[[nodiscard]] Findings RunRules(const traces::Trace& trace, const Diagnosis& diagnosis);

}  // namespace penstock::analyzer
