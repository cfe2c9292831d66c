// SPDX-License-Identifier: Apache-2.0
//
// The verdict in one sentence. Pure.
#pragma once

#include <string_view>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/words/statement.h"

namespace penstock::analyzer {

[[nodiscard]] Statement Summarise(const Diagnosis& diagnosis);
// Whether the verdict says how far the simulation is off.
[[nodiscard]] bool TellsReplayError(const Diagnosis& diagnosis);

// Whether known transforms take at least half of the augmentation time. Augmentation is the time of
// a sample that is left after the stages that hooks see. So the part outside known transforms may
// be decoding or parsing by a library without a hook.
[[nodiscard]] bool IsAugmentNamed(const StageTable& stages);
// The name of the part that `factor` stands for. The name of augmentation depends on the stages
// that were recorded, and on CpuLoad::helped.
[[nodiscard]] Statement PartOf(Factor factor, const StageTable& stages, bool helped);
[[nodiscard]] Statement RateUnit(const Diagnosis& diagnosis);
// The unit of the steady rate. If there were experiments: "samples/s before the experiments".
[[nodiscard]] Statement SteadyUnit(const Diagnosis& diagnosis, const LoaderDiagnosis& loader);
// The unit of a loader's rates.
[[nodiscard]] Statement RateUnit(bool samples_known);
// The name of the base in JSON.
[[nodiscard]] constexpr std::string_view BaseName(bool whole_run) {
  return whole_run ? "whole_run" : "steady";
}

}  // namespace penstock::analyzer
