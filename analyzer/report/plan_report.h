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

// What limits the run after a step; what the run needs after it (RAM, workers), and what the step
// alone takes (disk, lines of code).
[[nodiscard]] Statement LimitAfter(const PlanStep& step);
[[nodiscard]] Statement CostOf(const PlanStep& step);
// What to call Plan::ceiling: "the step alone", where "step" is the training step.
[[nodiscard]] Statement CeilingName(const Plan& plan);

// A part of an HTML page: a chart with one bar for each step on top of those before, the list of
// steps, and the experiments.
[[nodiscard]] std::string PlanHtml(const Plan& plan, Language language);

}  // namespace penstock::analyzer
