// SPDX-License-Identifier: Apache-2.0
//
// How a run was changed from outside (--override, --stage), and whether each change lasted. Pure.
#pragma once

#include <string>
#include <vector>

#include "analyzer/words/statement.h"
#include "traces/trace.h"

namespace penstock::analyzer {

enum class OverrideState {
  kHeld,    // applied, and no other value was seen later
  kLost,    // the program or a library set its own value, or it could not be applied
  kUnused,  // nothing in the run used it: no loader, no OpenCV, an older PyTorch
};

struct OverrideNote {
  std::string change;  // "threads=1"
  OverrideState state = OverrideState::kHeld;
  std::string found;  // kLost: the value found instead, or why the change could not be applied
};

// The changes in the order in which they were given; empty: there was none.
[[nodiscard]] std::vector<OverrideNote> Overrides(const traces::Trace& trace);

// "workers=2; not in effect, something else was found: cv2_threads=0 (4)"; empty without notes.
[[nodiscard]] Statement OverridesSaid(const std::vector<OverrideNote>& notes);

}  // namespace penstock::analyzer
