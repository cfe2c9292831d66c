// SPDX-License-Identifier: Apache-2.0
#include "gui/model/settings.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "gui/model/lines.h"

namespace penstock::gui {
namespace {

constexpr std::size_t kMostRecent = 10;

double NumberIn(const std::string& text, double low, double high, double otherwise) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() || *end != '\0' || !(value >= low && value <= high) ? otherwise
                                                                                 : value;
}

void Take(std::string_view key, const std::string& value, Settings& settings) {
  if (key == "theme") {
    if (value == "dark") settings.theme = Theme::kDark;
    if (value == "light") settings.theme = Theme::kLight;
  } else if (key == "language") {
    if (value == "en") settings.language = Language::kEnglish;
    if (value == "zh") settings.language = Language::kChinese;
  } else if (key == "scale") {
    settings.scale = NumberIn(value, 0.75, 3, settings.scale);
  } else if (key == "width") {
    settings.width = static_cast<int>(NumberIn(value, 640, 16'384, settings.width));
  } else if (key == "height") {
    settings.height = static_cast<int>(NumberIn(value, 480, 16'384, settings.height));
  } else if (key == "wheel") {
    if (value == "scroll") settings.wheel = Wheel::kScroll;
    if (value == "zoom") settings.wheel = Wheel::kZoom;
  } else if (key == "folder") {
    if (!value.empty() && value.front() == '/') settings.folder = value;
  } else if (key == "recent" && !value.empty() && settings.recent.size() < kMostRecent) {
    settings.recent.emplace_back(value);
  }
}

}  // namespace

void Settings::Remember(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  if (error) whole = path;
  // The file has one line per path, so a name with a line break cannot be kept.
  if (whole.string().find('\n') != std::string::npos) return;
  std::erase(recent, whole);
  recent.insert(recent.begin(), std::move(whole));
  if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

Settings ParseSettings(const std::string& text, const Settings& defaults) {
  Settings settings = defaults;
  ForEachSetting(text, [&](std::string_view key, std::string_view value) {
    Take(key, std::string(value), settings);
  });
  return settings;
}

std::string SettingsText(const Settings& settings) {
  std::string text = fmt::format("theme={}\nlanguage={}\nscale={}\nwidth={}\nheight={}\nwheel={}\n",
                                 settings.theme == Theme::kDark ? "dark" : "light",
                                 settings.language == Language::kEnglish ? "en" : "zh",
                                 settings.scale, settings.width, settings.height,
                                 settings.wheel == Wheel::kZoom ? "zoom" : "scroll");
  if (!settings.folder.empty() && settings.folder.string().find('\n') == std::string::npos) {
    text += fmt::format("folder={}\n", settings.folder.string());
  }
  for (const auto& path : settings.recent) text += fmt::format("recent={}\n", path.string());
  return text;
}

std::filesystem::path SettingsPath(const std::string& config, const std::string& home) {
  // The XDG Base Directory Specification asks to ignore relative paths.
  if (!config.empty() && config.front() == '/') {
    return std::filesystem::path(config) / "penstock" / "gui.conf";
  }
  if (home.empty()) return {};
  return std::filesystem::path(home) / ".config" / "penstock" / "gui.conf";
}

Language LanguageOf(const std::string& locale) {
  return std::string_view(locale).substr(0, 2) == "zh" ? Language::kChinese : Language::kEnglish;
}

Settings LoadSettings(const std::filesystem::path& path, const Settings& defaults) {
  return ParseSettings(ReadSmallFile(path).value_or(""), defaults);
}

Result<void> SaveSettings(const std::filesystem::path& path, const Settings& settings) {
  return WriteSmallFile(path, SettingsText(settings));
}

}  // namespace penstock::gui
