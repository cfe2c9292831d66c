// SPDX-License-Identifier: Apache-2.0
//
// The plan as a staircase: a bar for the run as it is, one for each change on top of those before
// it, one for the training step alone. Every number is the analyzer's. Values; pure.
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
  std::string title{};        // what is changed
  std::string limit{};        // what limits the run then; "" not known
  std::string cost{};         // "" none
  analyzer::Interval rate{};  // low and high 0: not known
  std::string figure{};       // "927 samples/s"
  std::string interval{};     // "862 to 993 (90 %)"; "" not known
  std::string times{};        // "3.88x"; "" of the run as it is
  std::string notes{};        // what it changes for the network, what is assumed: a line each
  std::string code{};         // the line to paste; "": the program itself is to be changed
  bool gains = false;         // by more than its own interval, over the step before it
};

struct Staircase {
  std::string missing;  // why there is no plan; "": there is one
  std::string verdict;  // where it ends
  std::vector<Stair> stairs;
  // Samples per second at the end of the longest bar: a limit far above all steps is cut, since it
  // would make them all alike.
  double shown = 0;

  [[nodiscard]] bool has_steps() const;
};

[[nodiscard]] Staircase StaircaseOf(const analyzer::Report& report, Language language);

// The line that makes the change of step `i` of the plan together with those before it: arguments
// of the loader, or variables in front of the command. "" where there is no such line.
[[nodiscard]] std::string LineToPaste(const analyzer::Report& report, std::size_t i);

}  // namespace penstock::gui
