// SPDX-License-Identifier: Apache-2.0
//
// The figures at the top of the overview. What was not recorded has no figure, no colour and no
// interval, and says what to do to know it. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "gui/model/overview.h"

namespace penstock::gui {

enum class Tone : std::uint8_t { kPlain, kUnknown, kGood, kWarn, kBad };
[[nodiscard]] Tone ToneOf(InputBound bound);

// A figure with a word above and a line below it.
struct Card {
  std::string title;
  std::string figure;
  std::string unit;
  std::string line;
  Tone tone = Tone::kPlain;
  double meter = -1;  // fraction, < 0: none
};
[[nodiscard]] std::vector<Card> CardsOf(const analyzer::Report& report, Language language);

// Below the verdict: how sure it is, and how well the simulation explains the run, as far as it had
// something to explain. "" without a loader.
[[nodiscard]] std::string SureText(const analyzer::Report& report, Language language);

}  // namespace penstock::gui
