// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/pillow.h"

namespace penstock::analyzer {

double PillowShareOfDecode(const RuleInput& input) {
  const StageTotals& decode = input.diagnosis.run.stages[traces::StageId::kDecode];
  double pillow = 0;
  for (const auto& [name, part] : decode.children) {
    if (input.trace.String(name).substr(0, 3) == "PIL") pillow += Seconds(part.wall);
  }
  return decode.wall.value > 0 ? pillow / Seconds(decode.wall) : 0;
}

}  // namespace penstock::analyzer
