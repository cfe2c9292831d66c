// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/function_costs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/words/rule_needs.h"

namespace penstock::analyzer {

Setting WithoutShare(const RuleInput& input, traces::StageId stage, double share) {
  using traces::StageId;
  constexpr std::array kOthers = {std::pair{StageId::kRead, Factor::kRead},
                                  std::pair{StageId::kDecode, Factor::kDecode},
                                  std::pair{StageId::kTokenize, Factor::kTokenize}};
  const auto left = [](double taken, double whole) {
    return whole > 0 ? std::max(0.0, 1 - taken / whole) : 1;
  };
  Setting setting = input.Recorded();
  if (stage == StageId::kCollate) {
    setting.scale = {{Factor::kCollate, left(share, input.ShareOfFetch(StageId::kCollate))}};
    return setting;
  }
  const double augment = input.ShareOfFetch(StageId::kAugment);
  setting.scale = {{Factor::kAugment, left(share, augment)}};
  if (share <= augment) return setting;
  double others = 0;
  for (const auto& [other, factor] : kOthers) others += input.ShareOfFetch(other);
  for (const auto& [other, factor] : kOthers) {
    if (input.ShareOfFetch(other) <= 0) continue;
    setting.scale.emplace_back(factor, left(share - augment, others));
  }
  return setting;
}

bool Tells(const FunctionProfile& profile) {
  constexpr std::size_t kUnits = 3;
  return profile.stage != traces::StageId::kStep && profile.units >= kUnits && !profile.IsUnusual();
}

Statement NeedsOfFunctions(const FunctionProfiles& profiles) {
  if (profiles.empty()) return Say<words::kRuleNeedsFunctions>();
  if (std::any_of(profiles.begin(), profiles.end(), Tells)) return {};
  const bool unusual = std::any_of(profiles.begin(), profiles.end(), [](const auto& profile) {
    return profile.stage != traces::StageId::kStep && profile.IsUnusual();
  });
  return unusual ? Say<words::kRuleNeedsUsualUnits>() : Statement{};
}

Severity SeverityOf(const Prediction& prediction) {
  return prediction.speedup >= 1.05 ? Severity::kWarning : Severity::kInfo;
}

}  // namespace penstock::analyzer
