// SPDX-License-Identifier: Apache-2.0
//
// Plans for traces, and a search of all combinations with which the plans are compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/advice/rules.h"
#include "analyzer/model/loader_memory.h"
#include "analyzer/plan/plan.h"
#include "analyzer/plan/search.h"
#include "traces/trace.h"

namespace penstock::analyzer::testing {

struct Planned {
  explicit Planned(std::unique_ptr<traces::Trace> of, const PlanRequest& request = {})
      : trace(std::move(of)),
        diagnosis(Diagnose(*trace)),
        findings(RunRules(*trace, diagnosis).findings),
        plan(BuildPlan(*trace, diagnosis, findings, request)) {}

  [[nodiscard]] std::string Ids() const {
    std::string ids;
    for (const PlanStep& step : plan.steps) ids += (ids.empty() ? "" : " ") + step.id;
    return ids;
  }
  [[nodiscard]] const PlanStep* Step(std::string_view id) const {
    for (const PlanStep& step : plan.steps) {
      if (step.id == id) return &step;
    }
    return nullptr;
  }

  std::unique_ptr<traces::Trace> trace;
  Diagnosis diagnosis;
  Findings findings;
  Plan plan;
};

// The time with the whole plan, divided by the time with the best combination of levers, workers
// and depth. Requires: plan.missing is empty.
inline double BehindBest(const Planned& planned, double budget_ram = 0) {
  const LoaderDiagnosis& loader = *planned.diagnosis.loader;
  const Levers levers = FindLevers(planned.diagnosis, planned.findings, false);
  Budget budget = BudgetOf(planned.diagnosis.run.host);
  if (budget_ram > 0) budget.ram = budget_ram;
  PlanSpace space(loader, levers, budget);
  Combination end = space.recorded();
  for (const PlanStep& step : planned.plan.steps) {
    end.workers = step.setting.workers;
    end.prefetch = step.setting.prefetch;
    for (std::size_t i = 0; i < levers.all.size(); ++i) {
      if (levers.all[i].id == step.id) end.levers |= LeverSet{1} << i;
    }
  }
  const double time = space.Time(end);
  double best = time;
  for (LeverSet set = 0; set < LeverSet{1} << levers.all.size(); ++set) {
    if (!levers.Allows(set)) continue;
    for (Combination one : space.Arguments()) {
      one.levers = set;
      if (!space.Fits(one)) continue;
      const double other = space.Time(one);
      if (other > 0) best = std::min(best, other);
    }
  }
  return time / best;
}

}  // namespace penstock::analyzer::testing
