// SPDX-License-Identifier: Apache-2.0
//
// What the window shows, as one line of JSON for tests that drive a real window from outside.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Keys: view, open, timeline, analysis, spans, from, to, length, selection, part, functions, span,
// stage, folded, pins, notes, marks, bookmarks, hidden, scroll, search, hits, hit, panel_hidden,
// help.
// Units: times in ns, scroll in logical pixels.
[[nodiscard]] std::string StateText(const Workspace& workspace);

}  // namespace penstock::gui
