// SPDX-License-Identifier: Apache-2.0
//
// The settings that the window remembers: theme, language, size, mouse wheel, recent files. They
// are a text file of "key=value" lines in $XDG_CONFIG_HOME; unknown or wrong lines are skipped.
// Values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/words/texts.h"
#include "traces/base/result.h"

namespace penstock::gui {

// What the wheel does over the rows of the timeline. Ctrl swaps the two actions.
enum class Wheel : std::uint8_t { kScroll, kZoom };

struct Settings {
  Theme theme = Theme::kDark;
  Language language = Language::kEnglish;
  double scale = 1;  // multiplies the scale of the screen
  int width = 1280;
  int height = 800;
  Wheel wheel = Wheel::kScroll;
  std::vector<std::filesystem::path> recent;  // latest first
  std::filesystem::path folder;               // where the last file was opened or saved

  void Remember(const std::filesystem::path& path);  // puts the absolute path first; keeps ten
};

// Reads the text of the file, whatever it holds.
[[nodiscard]] Settings ParseSettings(const std::string& text, const Settings& defaults);
[[nodiscard]] std::string SettingsText(const Settings& settings);

// The file of the settings: $XDG_CONFIG_HOME/penstock/gui.conf, else $HOME/.config/...; empty:
// none. `config` and `home` are the values of the variables, "" if unset.
[[nodiscard]] std::filesystem::path SettingsPath(const std::string& config,
                                                 const std::string& home);

// The language that the environment's LC_ALL, LC_MESSAGES or LANG asks for.
[[nodiscard]] Language LanguageOf(const std::string& locale);

[[nodiscard]] Settings LoadSettings(const std::filesystem::path& path, const Settings& defaults);
// Errors: kOutput.
[[nodiscard]] Result<void> SaveSettings(const std::filesystem::path& path,
                                        const Settings& settings);

}  // namespace penstock::gui
