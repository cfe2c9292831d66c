// SPDX-License-Identifier: Apache-2.0
//
// The command line that opens the window where it is now: the same files, view, times and
// selection. Part of the App.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Whether there is such a command: a file is open.
[[nodiscard]] bool HasViewCommand(const Workspace& workspace);

// The command line, quoted for a shell: "penstock gui '/data/my run.penstock' --view io
// --at 2.1s..2.4s". "" if nothing is open. The chosen span is left out if its batch, sample and
// stage would lead to another span. Cost: O(spans).
[[nodiscard]] std::string ViewCommand(const Workspace& workspace);

inline constexpr const char* kCopyCommandKeys = "Ctrl+Shift+C";

}  // namespace penstock::gui
