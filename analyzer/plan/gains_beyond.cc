// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/gains_beyond.h"

#include <map>
#include <set>
#include <string>

#include "analyzer/plan/step_findings.h"
#include "analyzer/plan/step_gains.h"

namespace penstock::analyzer {
namespace {

constexpr int kDeeper = 4;  // this many times the depth is tried to tell what a deeper queue gains

}  // namespace

std::vector<PlanRest> GainsBeyond(const Combination& end, const std::vector<PlanStep>& steps,
                                  const std::vector<Finding>& findings, const Levers& levers,
                                  PlanSpace& space, CombinationPredictor& predictor) {
  std::map<std::string, PlanRest> gains;
  std::set<std::string> answered;
  for (const PlanStep& step : steps) answered.insert(step.findings.begin(), step.findings.end());
  // Several levers may be the remedy of a finding: the best one counts.
  const auto add = [&](const std::vector<std::string>& ids, const Combination& more) {
    if (more == end || !levers.Allows(more.levers) || !space.Fits(more)) return;
    const Prediction predicted = predictor.Predict(more);
    if (!predicted.refused.empty()) return;
    const double gain = predicted.speedup / predictor.Predict(end).speedup;
    const double unsure = Gains(gain, predicted) ? 0 : WidthBelow(predicted);
    for (const std::string& id : ids) {
      if (answered.count(id) > 0) continue;
      PlanRest& best = gains.try_emplace(id, PlanRest{id, 0}).first->second;
      if (gain > best.gain) best = {id, gain, unsure};
    }
  };
  for (std::size_t i = 0; i < levers.all.size(); ++i) {
    Combination more = end;
    more.levers |= LeverSet{1} << i;
    add(RemediedBy(levers.all[i], findings), more);
  }
  Combination deeper = end;
  deeper.prefetch *= kDeeper;
  if (end.workers > 0) add(FindingsOfStep("prefetch_factor", false, findings), deeper);
  std::vector<PlanRest> rest;
  for (const auto& [finding, one] : gains) rest.push_back(one);
  return rest;
}

}  // namespace penstock::analyzer
