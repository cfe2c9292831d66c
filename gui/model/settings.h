// SPDX-License-Identifier: Apache-2.0
//
// What the window remembers: theme, language, size, the wheel, recent files. A text file of
// "key=value" lines in $XDG_CONFIG_HOME; whatever is unknown or wrong in it is passed over. Values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/words/texts.h"
#include "traces/base/result.h"

namespace penstock::gui {

// What the wheel does over the rows of the timeline; with Ctrl it is the other.
enum class Wheel : std::uint8_t { kScroll, kZoom };

struct Settings {
  Theme theme = Theme::kDark;
  Language language = Language::kEnglish;
  double scale = 1;  // of everything, on top of the screen's own
  int width = 1280;
  int height = 800;
  Wheel wheel = Wheel::kScroll;
  std::vector<std::filesystem::path> recent;  // latest first
  std::filesystem::path folder;               // that something was last opened from or saved to

  void Remember(const std::filesystem::path& path);  // absolute, once, at most ten
};

// From the text of the file. Requires: nothing.
[[nodiscard]] Settings ParseSettings(const std::string& text, const Settings& defaults);
[[nodiscard]] std::string SettingsText(const Settings& settings);

// Where they lie: $XDG_CONFIG_HOME/penstock/gui.conf, else $HOME/.config/...; empty: nowhere.
// `config` and `home` are the values of the variables, "" if unset.
[[nodiscard]] std::filesystem::path SettingsPath(const std::string& config,
                                                 const std::string& home);

// The language that the environment's LC_ALL, LC_MESSAGES or LANG asks for.
[[nodiscard]] Language LanguageOf(const std::string& locale);

[[nodiscard]] Settings LoadSettings(const std::filesystem::path& path, const Settings& defaults);
// Errors: kOutput.
[[nodiscard]] Result<void> SaveSettings(const std::filesystem::path& path,
                                        const Settings& settings);

}  // namespace penstock::gui
