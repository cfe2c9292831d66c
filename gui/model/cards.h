// SPDX-License-Identifier: Apache-2.0
//
// The figures at the top of the overview. A quantity that was not recorded has no figure, no colour
// and no confidence interval; its card says how to record it. Values; pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "gui/model/overview.h"

namespace penstock::gui {

enum class Tone : std::uint8_t { kPlain, kUnknown, kGood, kWarn, kBad };
[[nodiscard]] Tone ToneOf(InputBound bound);
// The tone of the verdict: with little confidence, no alarm.
[[nodiscard]] Tone ToneOfVerdict(const analyzer::Report& report);

// A figure with a title above it and a line below it.
struct Card {
  std::string title;
  std::string figure;
  std::string unit;
  std::string line;
  Tone tone = Tone::kPlain;
  double meter = -1;  // fraction, < 0: none
};
// The line of a card below its figure. `unit_below`: the line begins with the unit, because the
// unit has no room beside the figure.
[[nodiscard]] std::string LineOf(const Card& card, bool unit_below);
[[nodiscard]] std::vector<Card> CardsOf(const analyzer::Report& report, Language language);

// "16 % of all time: the program launches nothing": the largest cause of idle time, with its share
// of the window. If most of the idle time has no known cause, the largest known one follows. "" if
// there is no idle time.
[[nodiscard]] std::string IdleText(const analyzer::DeviceActivity& device, Language language);

// The line below the verdict: how sure the verdict is, and how well the replay explains the run if
// there was something to simulate. "" without a loader.
[[nodiscard]] std::string SureText(const analyzer::Report& report, Language language);

}  // namespace penstock::gui
