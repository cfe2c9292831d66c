// SPDX-License-Identifier: Apache-2.0
//
// Why the bottleneck of a ribbon may be shorter than another stage.
#include <algorithm>
#include <map>

#include "analyzer/words/report.h"
#include "gui/model/overview.h"

namespace penstock::gui {

using traces::StageId;

void ExplainBottleneck(const analyzer::CpuLoad& cpu, std::vector<RibbonPart>& making) {
  constexpr double kFull = 0.9;  // as in the rule cpu-saturated
  if (!cpu.known || (cpu.saturation() < kFull && !cpu.crowded)) return;
  struct OfStage {
    double seconds = 0;
    double computing = 0;
    bool known = true;
  };
  std::map<StageId, OfStage> stages;
  for (const RibbonPart& part : making) {
    OfStage& stage = stages[part.colour];
    stage.seconds += part.seconds;
    stage.computing += std::max(0.0, part.computing);
    stage.known = stage.known && part.computing >= 0;
  }
  for (RibbonPart& part : making) {
    const OfStage& mine = stages[part.colour];
    if (!part.bottleneck || !mine.known) continue;
    const auto longest = std::max_element(
        stages.begin(), stages.end(),
        [](const auto& a, const auto& b) { return a.second.seconds < b.second.seconds; });
    const OfStage& other = longest->second;
    if (longest->first == part.colour || !other.known || other.computing >= mine.computing)
      continue;
    part.why = analyzer::Say<analyzer::words::kMoreCoreTime>(
        analyzer::Give<"other">(traces::StageName(longest->first)),
        analyzer::Give<"mine">(mine.computing), analyzer::Give<"others">(other.computing));
  }
}

}  // namespace penstock::gui
