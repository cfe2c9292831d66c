// SPDX-License-Identifier: Apache-2.0
//
// What a run was changed by from outside (--override, --stage), and whether each change held. Pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

enum class OverrideState {
  kHeld,    // applied, and nothing else was seen later
  kLost,    // the program or a library has set it itself
  kUnused,  // nothing in the run took it: no loader, no OpenCV, an older PyTorch
};

struct OverrideNote {
  std::string change;  // "threads=1"
  OverrideState state = OverrideState::kHeld;
  std::string found;  // kLost: what stood in its place
};

// In the order in which they were given; empty: none was.
[[nodiscard]] std::vector<OverrideNote> Overrides(const traces::Trace& trace);

// "workers=2; cv2_threads=0: the program set 4 itself"; empty of no notes.
[[nodiscard]] Statement OverridesSaid(const std::vector<OverrideNote>& notes);

}  // namespace penstock::analyzer
