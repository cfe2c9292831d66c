// SPDX-License-Identifier: Apache-2.0
//
// The command line of penstock-gui.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/words/texts.h"
#include "gui/views/workspace.h"
#include "traces/base/command_line.h"
#include "traces/base/result.h"

namespace penstock::gui {

struct Options {
  std::vector<std::filesystem::path> files;  // traces (two are compared), a sweep; at most three
  std::filesystem::path screenshot;          // empty: a window
  std::optional<ViewId> view;                // none: by what is opened
  std::optional<double> from;                // seconds since the trace began
  std::optional<double> to;
  int width = 1280;
  int height = 800;
  bool size_given = false;
  std::filesystem::path state;  // where a window writes what it shows: for tests; empty: nowhere
  std::optional<Theme> theme;
  std::optional<Language> language;
  double scale = 0;             // 0: of the screen and the settings
  std::string search_path;      // $PATH, for the desktop's file dialogs
  bool wayland = false;         // whether the desktop is one of Wayland's
  std::filesystem::path marks;  // where what a person leaves in traces is kept; empty: nowhere
};

// The words as they stand on the command line.
struct OptionWords {
  std::vector<std::string> files;
  std::string screenshot, view, from, to, size, theme, language, scale, state;
};

void Declare(traces::CommandLine& line, OptionWords* words);
// Errors: kUsage.
[[nodiscard]] Result<Options> ReadOptions(const OptionWords& words);

// "1.2s", "350ms", "20us", "1.5": seconds. Errors: kUsage.
[[nodiscard]] Result<double> ReadTime(const std::string& option, const std::string& text);

}  // namespace penstock::gui
