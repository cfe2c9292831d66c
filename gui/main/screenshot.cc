// SPDX-License-Identifier: Apache-2.0
#include "gui/main/screenshot.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "gui/main/app.h"
#include "gui/main/offscreen.h"

namespace penstock::gui {
namespace {

// The contents of the files on the command line.
struct Opened {
  std::optional<Document> trace;
  std::optional<Document> other;
  std::optional<Sweep> sweep;
};

Result<Opened> OpenAll(const Options& options) {
  Opened opened;
  for (const std::filesystem::path& path : options.files) {
    if (KindOf(path) == FileKind::kJson) {
      auto sweep = ReadSweep(path);
      if (!sweep) {
        return Fail(ErrorKind::kInput,
                    ProblemText(sweep.error(), path.string(), Language::kEnglish));
      }
      opened.sweep = std::move(*sweep);
      continue;
    }
    Result<Document> document = LoadDocument(path);
    PENSTOCK_TRY(document);
    (opened.trace ? opened.other : opened.trace) = std::move(*document);
  }
  return opened;
}

ViewId FirstView(const Options& options, const Opened& opened) {
  if (options.view) return *options.view;
  if (opened.other) return ViewId::kCompare;
  return opened.sweep ? ViewId::kSweep : ViewId::kOverview;
}

}  // namespace

Result<void> TakeScreenshot(const Options& options) {
  Settings settings;
  settings.theme = options.theme.value_or(Theme::kDark);
  settings.language = options.language.value_or(Language::kEnglish);
  if (options.scale > 0) settings.scale = options.scale;
  EarlyFonts fonts(static_cast<float>(settings.scale), settings.language);
  Result<Opened> opened = OpenAll(options);
  PENSTOCK_TRY(opened);
  auto screen = Offscreen::Make(options.width, options.height, &fonts);
  PENSTOCK_TRY(screen);
  App app(settings, 1, [] {});
  app.UseFonts(&fonts);
  const ViewId view = FirstView(options, *opened);
  if (options.place.given()) app.WantPlace(options.place);
  app.workspace().at_once = true;
  app.workspace().functions = options.functions;
  if (opened->trace) {
    app.workspace().view = view;  // before Show(): the view decides what --at means
    app.Show(std::move(*opened->trace));
  }
  if (app.notice().failed()) return Fail(ErrorKind::kInput, app.notice().text());
  if (opened->other) app.ShowOther(std::move(*opened->other));
  if (opened->sweep) app.ShowSweep(std::move(*opened->sweep));
  app.workspace().view = view;
  // Some things need a few frames to find their place, and a comparison takes a while.
  constexpr int kFrames = 5;
  for (int i = 0; i < kFrames || app.waiting();) {
    // The picture must show the final state.
    while (app.workspace().ranges->busy() || app.workspace().of_loader->busy()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (app.TakeStyleChange()) {
      app.RebuildStyle();
      (*screen)->RemakeFonts();
    }
    (*screen)->Frame([&] { app.Frame(); });
    if (app.waiting()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } else {
      ++i;
    }
  }
  return WritePng(options.screenshot.string(), (*screen)->Read());
}

}  // namespace penstock::gui
