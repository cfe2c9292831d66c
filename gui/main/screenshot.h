// SPDX-License-Identifier: Apache-2.0
//
// One picture of one view, for documents, tests and people on a remote machine.
#pragma once

#include "gui/main/options.h"
#include "traces/base/result.h"

namespace penstock::gui {

// Draws the view of options.files into options.screenshot. The user's settings are not read.
// Requires: both are set.
// Errors: those of LoadDocument, ReadSweep and Offscreen; kOutput.
[[nodiscard]] Result<void> TakeScreenshot(const Options& options);

}  // namespace penstock::gui
