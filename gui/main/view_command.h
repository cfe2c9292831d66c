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

// A chosen span that its batch, sample and stage do not find again is left out. Cost: O(spans).
// Quoted for a shell: "penstock gui '/data/my run.penstock' --view io --at 2.1s..2.4s". "": nothing
// is open.
[[nodiscard]] std::string ViewCommand(const Workspace& workspace);

inline constexpr const char* kCopyCommandKeys = "Ctrl+Shift+C";

}  // namespace penstock::gui
