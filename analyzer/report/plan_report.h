// SPDX-License-Identifier: Apache-2.0
//
// A plan for people and for programs. Pure.
#pragma once

#include <string>

#include "analyzer/plan/plan.h"
#include "analyzer/report/json_writer.h"
#include "analyzer/report/report.h"

namespace penstock::analyzer {

enum class PlanDetail { kSteps, kAll };  // kSteps: without notes of steps and without experiments

// At most 80 columns, except for longer commands and names. Ends with a line feed.
[[nodiscard]] std::string PlanText(const Plan& plan, Colour colour,
                                   PlanDetail detail = PlanDetail::kAll);

// One object: {"steps": [...], "ceiling_samples_per_s": 0, ...}.
[[nodiscard]] std::string PlanJson(const Plan& plan);
void WritePlan(const Plan& plan, JsonWriter& json);

// The limit of the run after a step, and the cost of the step.
[[nodiscard]] Statement LimitAfter(const PlanStep& step);
[[nodiscard]] Statement CostOf(const PlanStep& step);
// "the step alone"
[[nodiscard]] Statement CeilingName(const Plan& plan);

// The staircase, the steps and the experiments on a page.
[[nodiscard]] std::string PlanHtml(const Plan& plan, Language language);

}  // namespace penstock::analyzer
