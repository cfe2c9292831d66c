// SPDX-License-Identifier: Apache-2.0
//
// One window's contents, whatever it is shown on: a real window, an off-screen picture, a test.
// Frame() is called between ImGui::NewFrame() and ImGui::Render(), on one thread. The App owns the
// workspace, the job that loads, and the settings; it writes no files.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/document.h"
#include "gui/model/settings.h"
#include "gui/views/file_chooser.h"
#include "gui/views/workspace.h"

namespace penstock::gui {

class App {
 public:
  // `wake`: called from any thread when a frame is wanted. `screen_scale`: pixels per logical pixel
  // of the screen.
  App(Settings settings, float screen_scale, std::function<void()> wake);

  // Begins to load; what is open stays until then.
  void Open(const std::filesystem::path& path);
  // Shows what is loaded already.
  void Show(Document document);
  // Zooms the timeline of what is shown next. Units: seconds since the trace began; what is not
  // given is the trace's own end.
  void WantRange(std::optional<double> from, std::optional<double> to);

  // Fonts and style must be made anew before the next frame; clears the wish.
  [[nodiscard]] bool TakeStyleChange();
  void RebuildStyle();  // Requires: no frame begun

  void Frame();

  [[nodiscard]] bool loading() const { return job_ != nullptr && !job_->following(); }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] bool quit() const { return quit_; }
  [[nodiscard]] Workspace& workspace() { return workspace_; }
  [[nodiscard]] const Ui& ui() const { return ui_; }
  [[nodiscard]] Settings& settings() { return settings_; }
  // Why the last file could not be opened.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void PollJob();
  void ShowTimeline();
  [[nodiscard]] bool LacksGlyphs() const;
  void Replace(Document document);
  void CancelLoading();
  void TogglePause();
  void JobKeys();
  float DrawJobBadge(Area bar, float right);
  void GlobalKeys();
  void DrawTopBar(Area area);
  float DrawWarnings(Area area);
  void DrawView(Area area);
  void DrawWelcome(Area area);
  void DrawLoading(Area area);
  void DrawError(Area area);
  void SetScale(double scale);

  Settings settings_;
  float screen_scale_;
  std::function<void()> wake_;
  Ui ui_;
  Workspace workspace_;
  FileChooser chooser_;
  std::unique_ptr<LoadJob> job_;
  std::vector<std::unique_ptr<LoadJob>> retired_;  // cancelled, not yet at their end
  std::optional<double> wanted_from_;
  std::optional<double> wanted_to_;
  std::optional<Error> error_;
  std::filesystem::path failed_;
  bool paused_ = false;  // what is live is not followed for now
  bool help_ = false;
  bool restyle_ = true;
  // What the fonts were made for.
  std::string glyphs_of_;
  bool common_glyphs_ = false;
  bool quit_ = false;
};

}  // namespace penstock::gui
