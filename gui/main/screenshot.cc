// SPDX-License-Identifier: Apache-2.0
#include "gui/main/screenshot.h"

#include <algorithm>
#include <utility>

#include "gui/main/app.h"
#include "gui/main/offscreen.h"

namespace penstock::gui {

Result<void> TakeScreenshot(const Options& options) {
  Result<Document> document = LoadDocument(options.trace);
  if (!document) return tl::unexpected<Error>(document.error());
  auto screen = Offscreen::Make(options.width, options.height);
  if (!screen) return tl::unexpected<Error>(screen.error());
  Settings settings;
  settings.theme = options.theme.value_or(Theme::kDark);
  settings.language = options.language.value_or(Language::kEnglish);
  if (options.scale > 0) settings.scale = options.scale;
  App app(settings, 1, [] {});
  if (options.from || options.to) app.WantRange(options.from, options.to);
  app.Show(std::move(*document));
  app.workspace().view = options.view;
  app.workspace().at_once = true;
  // Some things take a few frames to find their place.
  constexpr int kFrames = 5;
  for (int i = 0; i < kFrames; ++i) {
    if (app.TakeStyleChange()) {
      app.RebuildStyle();
      (*screen)->RemakeFonts();
    }
    (*screen)->Frame([&] { app.Frame(); });
  }
  return WritePng(options.screenshot.string(), (*screen)->Read());
}

}  // namespace penstock::gui
