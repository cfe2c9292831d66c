// SPDX-License-Identifier: Apache-2.0
//
// Where a person is, as one line of JSON: for tests that drive a real window from outside.
#pragma once

#include <string>

#include "gui/views/workspace.h"

namespace penstock::gui {

// Keys: view, open, timeline, analysis, from, to, length, selection, part, span, stage, folded,
// pins, notes, marks, bookmarks, hidden, search, hits, hit, panel_hidden, help. Times in ns.
[[nodiscard]] std::string StateText(const Workspace& workspace);

}  // namespace penstock::gui
