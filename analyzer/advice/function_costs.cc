// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/function_costs.h"

#include <algorithm>

namespace penstock::analyzer {

Setting WithoutShare(const RuleInput& input, traces::StageId stage, double share) {
  const bool collating = stage == traces::StageId::kCollate;
  const double whole =
      input.ShareOfFetch(collating ? traces::StageId::kCollate : traces::StageId::kAugment);
  const double left = whole > 0 ? std::max(0.0, 1 - share / whole) : 1;
  Setting setting = input.Recorded();
  setting.scale = {{collating ? Factor::kCollate : Factor::kAugment, left}};
  return setting;
}

bool Tells(const FunctionProfile& profile) {
  constexpr std::size_t kUnits = 3;
  return profile.stage != traces::StageId::kStep && profile.units >= kUnits;
}

Severity SeverityOf(const Prediction& prediction) {
  return prediction.speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
}

}  // namespace penstock::analyzer
