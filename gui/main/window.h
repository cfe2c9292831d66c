// SPDX-License-Identifier: Apache-2.0
//
// The program with a real window: GLFW's loop, which sleeps while nothing happens.
#pragma once

#include <filesystem>

#include "gui/main/options.h"
#include "gui/model/settings.h"
#include "traces/base/result.h"

namespace penstock::gui {

// Runs until the window is closed. Then puts the settings to save into `settings`. Errors:
// kEnvironment if there is no display or no OpenGL 3.
[[nodiscard]] Result<void> RunWindow(const Options& options, Settings* settings);

}  // namespace penstock::gui
