// SPDX-License-Identifier: Apache-2.0
//
// The changes of other things than the loader's settings that the report predicts to gain, as the
// overview lists them. All numbers come from the analyzer. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "gui/model/forecast.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

struct OtherChange {
  std::string name;     // "Pixels as uint8"
  std::string option;   // of penstock whatif: "--transfer u8"
  std::string command;  // "penstock whatif run.penstock --transfer u8"
  std::string rate;     // "412 samples/s, 398 to 427 (90 %)"
  std::string gain;     // "1.23x"
  std::string notes;    // the assumptions, a line each
  Effect effect = Effect::kWithinDoubt;
};

struct OtherChanges {
  std::vector<OtherChange> shown;  // the three with the largest gain
  std::string more;                // names the others; "" none
};
[[nodiscard]] OtherChanges OtherChangesOf(const analyzer::Report& report, Language language);

// The heading of the panel with these changes and with the gains of parts that cost nothing.
// `planned`: the plan shows the suggested arguments of the loader, so the panel does not.
[[nodiscard]] Text HeadingOfGains(const analyzer::Report& report, bool planned);

}  // namespace penstock::gui
