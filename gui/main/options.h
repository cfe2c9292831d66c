// SPDX-License-Identifier: Apache-2.0
//
// The command line of penstock-gui.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/timeline/place.h"
#include "gui/model/words/texts.h"
#include "gui/views/workspace.h"
#include "traces/base/command_line.h"
#include "traces/base/result.h"

namespace penstock::gui {

struct Options {
  std::vector<std::filesystem::path> files;  // traces (two are compared), a sweep; at most three
  std::filesystem::path screenshot;          // empty: a window
  std::optional<ViewId> view;                // none: the opened files decide
  bool functions = false;                    // the stages view shows functions
  Place place;                               // the first one in the timeline
  int width = 1280;
  int height = 800;
  bool size_given = false;
  std::filesystem::path state;  // file for what the window shows, for tests; empty: none
  std::optional<Theme> theme;
  std::optional<Language> language;
  double scale = 0;             // 0: from the screen and the settings
  std::string search_path;      // $PATH, for the desktop's file dialogs
  bool wayland = false;         // the desktop runs on Wayland
  std::filesystem::path marks;  // folder of the marks in traces; empty: none
};

// The options as they were typed.
struct OptionWords {
  std::vector<std::string> files;
  std::string screenshot, view, from, to, at, loader, search, sql, size, theme, language, scale,
      state;
  std::vector<std::string> select;
};

void Declare(traces::CommandLine& line, OptionWords* words);
// Errors: kUsage.
[[nodiscard]] Result<Options> ReadOptions(const OptionWords& words);
// Refuses more than two traces and more than one sweep: one of them would not be shown. Errors:
// kUsage. Cost: reads the beginning of each file.
[[nodiscard]] Result<void> CheckFiles(const Options& options);

}  // namespace penstock::gui
