// SPDX-License-Identifier: Apache-2.0
//
// A plan for people and for programs. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// The change of a step, with its risk and whether it gains only with the next step.
[[nodiscard]] Statement ChangeOf(const PlanStep& step);
// What limits the recorded run; empty: nothing.
[[nodiscard]] Statement LimitNow(const Plan& plan);
// What limits the run after a step.
[[nodiscard]] Statement LimitAfter(const PlanStep& step);
// What the run needs after a step (RAM, workers), and what the step itself costs (disk, lines of
// code).
[[nodiscard]] Statement CostOf(const PlanStep& step);
// The name of Plan::ceiling in reports, such as "the training step alone".
[[nodiscard]] Statement CeilingName(const Plan& plan);

// The line that makes the change of step `i` of `plan`: variables in front of the command, or the
// loader with the arguments of this step and of the steps before it. "": no line makes the change.
[[nodiscard]] std::string LineToPaste(const Report& report, const Plan& plan, std::size_t i);
// The lines for all changes of the plan that can be made by such a line: at most one line with
// variables, and one with all arguments of the loader.
[[nodiscard]] std::vector<std::string> LinesToPaste(const Report& report);

// Which step of the plan answers a finding, or what the finding's remedy would gain on top of the
// plan; empty if neither is known.
[[nodiscard]] Statement PlaceInPlan(const Plan& plan, std::string_view finding);

// A part of an HTML page: a bar chart of the rate after each step, the list of steps, and the
// experiments.
[[nodiscard]] std::string PlanHtml(const Plan& plan, Language language);

}  // namespace penstock::analyzer
