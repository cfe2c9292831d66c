// SPDX-License-Identifier: Apache-2.0
//
// The windows in which an experiment slowed the run down (record --probe). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/run_model.h"
#include "gui/model/timeline/query.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

struct Experiment {
  TimeRange range;
  std::optional<traces::StageId> spared;  // the stage that was not slowed down
  double slowed = 1;                      // everything else took this many times as long
};

// The windows of the main loader in which something was slowed down, in order.
[[nodiscard]] std::vector<Experiment> ExperimentsOf(const analyzer::RunModel& run);

// "experiment: all but decode takes 2 times as long".
[[nodiscard]] std::string ExperimentText(const Experiment& experiment, Language language);

}  // namespace penstock::gui
