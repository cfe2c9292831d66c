// SPDX-License-Identifier: Apache-2.0
//
// The program penstock-gui. Its options are declared in gui/main/options.cc.
#include <fmt/core.h>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "gui/main/options.h"
#include "gui/main/screenshot.h"
#include "gui/main/window.h"
#include "gui/model/timeline/marks.h"
#include "gui/widgets/ui.h"
#include "traces/base/program.h"

namespace penstock::gui {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (std::string value = Environment(name); !value.empty()) return value;
  }
  return "";
}

int RunProgram(int argc, char** argv) {
  traces::CommandLine line(
      "Shows a recorded run: what holds it back, where, and what a change would gain.",
      "penstock-gui");
  OptionWords words;
  Declare(line, &words);
  int status = 0;
  if (!traces::ParseCommandLine(line, argc, argv, &status)) return status;
  Result<Options> options = ReadOptions(words);
  if (!options) return traces::Complain(line, options.error());
  if (const auto fits = CheckFiles(*options); !fits) return traces::Complain(line, fits.error());
  if (!options->screenshot.empty()) {
    const Result<void> drawn = TakeScreenshot(*options);
    return drawn ? 0 : traces::Complain(line, drawn.error());
  }
  // Makes typed text arrive in the user's encoding.
  std::setlocale(LC_CTYPE, "");
  options->search_path = Environment("PATH");
  options->wayland =
      !Environment("WAYLAND_DISPLAY").empty() || !Environment("WAYLAND_SOCKET").empty();
  options->marks = MarksFolder(Environment("XDG_STATE_HOME"), Environment("HOME"));
  const auto path = SettingsPath(Environment("XDG_CONFIG_HOME"), Environment("HOME"));
  Settings defaults;
  // A language that could not be displayed is not chosen for the user.
  defaults.language = HasChineseFont() ? LanguageOf(Locale()) : Language::kEnglish;
  Settings settings = LoadSettings(path, defaults);
  const Result<void> shown = RunWindow(*options, &settings);
  if (!shown) return traces::Complain(line, shown.error());
  if (!path.empty()) {
    const Result<void> saved = SaveSettings(path, settings);
    if (!saved) fmt::print(stderr, "penstock-gui: {}\n", saved.error().message);
  }
  return 0;
}

}  // namespace
}  // namespace penstock::gui

int main(int argc, char** argv) {
  return penstock::gui::RunProgram(argc, argv);
}
