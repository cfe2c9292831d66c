// SPDX-License-Identifier: Apache-2.0
//
// The plan as a staircase: a bar for the run as it is, one for each change on top of those before
// it, and one for the training step alone. All numbers come from the analyzer. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/plan/plan.h"
#include "analyzer/report/report.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

enum class StairKind : std::uint8_t { kNow, kStep, kCeiling };

struct Stair {
  StairKind kind = StairKind::kStep;
  std::string title{};  // what is changed
  // What limits the run after the change, or what the ceiling includes beside the step; "": not
  // known, or nothing.
  std::string limit{};
  std::string cost{};         // "" none
  std::string risk{};         // what it changes for the network; "" nothing
  analyzer::Interval rate{};  // low and high 0: not known
  std::string figure{};       // "927 samples/s"
  std::string interval{};     // "862 to 993 (90 %)"; "" not known
  std::string times{};        // "3.88x"; "" for the run as it is
  std::string notes{};        // what it assumes, a line each
  std::string code{};         // the line to paste; "": the change is in the program itself
  bool gains = false;         // surely faster than the step before it
  bool off = false;           // a step that is left out: it has no rate and no line
};

struct Staircase {
  std::string missing;  // why there is no plan; "": there is one
  std::string verdict;  // where the plan ends
  std::vector<Stair> stairs;
  // The rate at the end of the longest bar, in the unit of the plan. A ceiling far above all steps
  // is cut, because beside it all other bars would look alike.
  double shown = 0;

  [[nodiscard]] bool has_steps() const;
};

// A choice of steps. `off` is true for the steps of report.plan that are left out. `plan` is
// report.plan without these steps (analyzer::WithSteps).
struct PlanChoice {
  std::vector<bool> off;
  const analyzer::Plan& plan;
};
[[nodiscard]] Staircase StaircaseOf(const analyzer::Report& report, const PlanChoice& choice,
                                    Language language);
// The staircase with all steps.
[[nodiscard]] Staircase StaircaseOf(const analyzer::Report& report, Language language);

// The names of one or two factors that limit the run; the second may be kNone.
[[nodiscard]] std::string LimitsText(analyzer::Factor limited_by, analyzer::Factor also,
                                     Language language);

}  // namespace penstock::gui
