// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/experiments.h"

#include <fmt/format.h>

#include "gui/model/words/stage_words.h"

namespace penstock::gui {
namespace {

using traces::StageId;

std::optional<StageId> SparedBy(wire::ProbeFactor factor) {
  switch (factor) {
    case wire::kProbeRead:
      return StageId::kRead;
    case wire::kProbeDecode:
      return StageId::kDecode;
    case wire::kProbeAugment:
      return StageId::kAugment;
    case wire::kProbeCollate:
      return StageId::kCollate;
    case wire::kProbeStep:
      return StageId::kStep;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<Experiment> ExperimentsOf(const analyzer::RunModel& run) {
  std::vector<Experiment> experiments;
  if (!run.has_loader()) return experiments;
  for (const analyzer::ProbeWindow& window : run.loader().probes) {
    if (window.factor == wire::kProbePlain || window.slowed <= 1) continue;
    experiments.push_back({{window.from - run.begin.value, window.to - run.begin.value},
                           SparedBy(window.factor),
                           window.slowed});
  }
  return experiments;
}

std::string ExperimentText(const Experiment& experiment, Language language) {
  const std::string times = fmt::format("{:.3g}", experiment.slowed);
  if (!experiment.spared) return Filled(Text::kExperimentAll, language, times);
  return Filled(Text::kExperiment, language, WordOf(*experiment.spared, language), times);
}

}  // namespace penstock::gui
