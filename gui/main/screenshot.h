// SPDX-License-Identifier: Apache-2.0
//
// One picture of one view, for documents, tests and people on a remote machine.
#pragma once

#include "gui/main/options.h"
#include "traces/base/result.h"

namespace penstock::gui {

// Requires: options.trace and options.screenshot are set. Settings of the user play no part.
// Errors: those of LoadDocument and of Offscreen; kOutput.
[[nodiscard]] Result<void> TakeScreenshot(const Options& options);

}  // namespace penstock::gui
