// SPDX-License-Identifier: Apache-2.0
//
// What the workers view says of memory besides its curves: what makes it grow, what that comes to,
// and when it runs out. Values; pure.
#pragma once

#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/words/texts.h"

namespace penstock::gui {

enum class MemoryTone { kPlain, kWarn, kBad };

struct MemoryLine {
  std::string text;
  MemoryTone tone = MemoryTone::kPlain;
};

// At most four lines, the gravest first; empty without worker processes whose memory is known.
[[nodiscard]] std::vector<MemoryLine> MemoryLines(const Analysis& analysis, Language language);

}  // namespace penstock::gui
